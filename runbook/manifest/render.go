package manifest

import (
	"context"
	"encoding/json"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

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
	// hashed is true if its name holds a hash of its content.
	hashed bool
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
		if list[i].Line > 0 || list[i].File == "" {
			continue
		}
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
	r, err := f.rendererOf(src)
	if err != nil {
		return nil, err
	}
	return r.render(ctx, f, src)
}

// checkOverrides refuses a directory whose options are changed by a file in
// it, which is not followed here.
func (f *files) checkOverrides(src Source, dir string) error {
	for _, name := range []string{".argocd-source.yaml", ".argocd-source-" + path.Base(src.Name) + ".yaml"} {
		if f.exists(path.Join(dir, name)) {
			return refuse(UnsupportedTool, "Edit the source by hand.", "%s/%s changes how the source is rendered, which can't be followed here", dir, name)
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
