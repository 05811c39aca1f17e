package manifest

import (
	"context"
	"encoding/json"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// renderer names what renders here, for the record.
const renderer = "plain YAML and JSON, read as Argo CD 2.14 reads a directory"

// Resource is one rendered object and where it comes from.
type Resource struct {
	// Content is the object as decoded JSON.
	Content map[string]any
	// File is the file that holds it, Line where it begins, counted from 1;
	// 0 if that could not be told.
	File string
	Line int

	// doc is its place among the documents of the file that hold anything,
	// item its place in a List there, -1 if it is in none.
	doc, item int
}

// Object names the object.
func (r Resource) Object() Object {
	u := unstructured.Unstructured{Object: r.Content}
	return Object{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
}

// RenderDir gives a source's objects as Argo CD's directory source makes
// them: from *.yaml, *.yml and *.json, documents taken apart, lists expanded,
// YAML files that hold no manifests left out. What can't be rendered is
// answered with a *Refusal.
//
// Source: argo-cd v2.14.21, reposerver/repository/repository.go,
// findManifests, getObjsFromYAMLOrJson and splitYAMLOrJSON.
func RenderDir(ctx context.Context, tree Tree, src Source, limits Limits) ([]Resource, error) {
	f := newFiles(tree, limits)
	list, err := f.render(ctx, src)
	if err != nil {
		return nil, err
	}
	for i := range list {
		content, err := f.read(list[i].File)
		if err != nil {
			return nil, err
		}
		if node, err := nodeOf(parseText(content), list[i]); err == nil {
			list[i].Line = node.Line
		}
	}
	return list, nil
}

// render gives a source's objects with the edits made so far.
func (f *files) render(ctx context.Context, src Source) ([]Resource, error) {
	if src.Unsupported != "" {
		return nil, refuse(UnsupportedTool, "Edit the source by hand and let the controller render it.", "%s is %s, which can't be rendered here", src.Name, src.Unsupported)
	}
	members, err := f.list(ctx, src)
	if err != nil {
		return nil, err
	}
	if err := f.checkKind(src); err != nil {
		return nil, err
	}
	var all []Resource
	for _, m := range members {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		content, err := f.read(m.real)
		if err != nil {
			return nil, err
		}
		list, err := f.decode(m, content)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// checkKind refuses a directory that Argo CD takes for something else than
// plain manifests, unless the Application says outright that it is that.
func (f *files) checkKind(src Source) error {
	dir, err := cleanDir(src.Dir)
	if err != nil {
		return err
	}
	overrides := []string{".argocd-source.yaml", ".argocd-source-" + path.Base(src.Name) + ".yaml"}
	for _, name := range overrides {
		if _, err := lstat(f.tree, path.Join(dir, name)); err == nil {
			return refuse(UnsupportedTool, "Edit the source by hand.", "%s/%s changes how the source is rendered, which can't be followed here", dir, name)
		}
	}
	if src.Recurse || src.Include != "" || src.Exclude != "" {
		return nil
	}
	for name, what := range map[string]string{
		"kustomization.yaml": "a Kustomize directory", "kustomization.yml": "a Kustomize directory",
		"Kustomization": "a Kustomize directory", "Chart.yaml": "a Helm chart",
	} {
		if _, err := lstat(f.tree, path.Join(dir, name)); err == nil {
			return refuse(UnsupportedTool, "Edit the source by hand and let the controller render it.", "%s is %s, which can't be rendered here", dir, what)
		}
	}
	return nil
}

// digest is the digest of all objects, in their order.
func digest(list []Resource) string {
	var all strings.Builder
	encoder := json.NewEncoder(&all)
	for _, r := range list {
		// What came from JSON goes back to JSON.
		_ = encoder.Encode(r.Content)
	}
	return hexDigest([]byte(all.String()))
}
