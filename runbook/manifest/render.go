package manifest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
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

// decodedFile is what became of one content.
type decodedFile struct {
	list []Resource
	err  error
}

func (f *files) decode(m member, content []byte) ([]Resource, error) {
	key := sha256.Sum256(append([]byte(path.Ext(m.name)+"\x00"), content...))
	d, ok := f.decoded[key]
	if !ok {
		d.list, d.err = decode(m.name, content, f.limits.Documents)
		f.decoded[key] = d
	}
	if d.err != nil {
		if r, ok := errors.AsType[*Refusal](d.err); ok {
			return nil, r
		}
		return nil, refuse(Unreadable, "Mend the file first: Argo CD can't read it either.", "%s is no readable manifest: %v", m.name, d.err)
	}
	list := make([]Resource, len(d.list))
	for i, r := range d.list {
		r.File = m.real
		list[i] = r
	}
	return list, nil
}

// decode reads a file's objects.
func decode(name string, content []byte, most int) ([]Resource, error) {
	if path.Ext(name) == ".jsonnet" {
		return nil, refuse(UnsupportedTool, "Edit the source by hand.", "%s is a Jsonnet file, which can't be rendered here", name)
	}
	if bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff")) {
		return nil, errors.New("it is in UTF-16; save it as UTF-8")
	}
	content = bytes.TrimPrefix(content, bom)
	if skipMarker.Match(content) {
		return nil, nil
	}
	if path.Ext(name) == ".json" {
		return decodeJSON(content)
	}
	list, err := decodeYAML(content, most)
	if err == nil || isRefusal(err) {
		return list, err
	}
	// Argo CD's own rule for YAML that was never meant to be a manifest.
	if len(list) > 0 || looksLikeManifest(content) {
		return nil, err
	}
	return nil, nil
}

func isRefusal(err error) bool {
	_, ok := errors.AsType[*Refusal](err)
	return ok
}

func looksLikeManifest(content []byte) bool {
	return bytes.Contains(content, []byte("apiVersion:")) && bytes.Contains(content, []byte("kind:")) &&
		bytes.Contains(content, []byte("metadata:"))
}

var bom = []byte("\xef\xbb\xbf")

func decodeJSON(content []byte) ([]Resource, error) {
	decoder := json.NewDecoder(bytes.NewReader(content))
	var u unstructured.Unstructured
	if err := decoder.Decode(&u); err != nil {
		return nil, tell(err)
	}
	if decoder.More() {
		return nil, errors.New("it holds more than one object, and a JSON file may hold only one")
	}
	return expand(&u, 0)
}

// tell keeps a file's content out of an error: the library's own, for an
// object without a kind, quotes all of it, and it may be a secret.
func tell(err error) error {
	if runtime.IsMissingKind(err) {
		return errors.New("it holds an object without a kind")
	}
	if text := err.Error(); len(text) > 200 || strings.ContainsAny(text, "{`'\"") {
		return errors.New("it is not valid YAML or JSON of a Kubernetes object")
	}
	return err
}

func decodeYAML(content []byte, most int) (list []Resource, err error) {
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for doc := 0; ; {
		u := &unstructured.Unstructured{}
		if err := decoder.Decode(&u); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return list, tell(err)
		}
		if u == nil {
			continue
		}
		if doc >= most {
			return nil, refuse(TooLarge, "Split the file.", "a file holds more than %d documents", most)
		}
		part, err := expand(u, doc)
		if err != nil {
			return list, err
		}
		list = append(list, part...)
		doc++
	}
}

// expand gives the items of a List, or else the object itself.
func expand(u *unstructured.Unstructured, doc int) ([]Resource, error) {
	items, isList := u.Object["items"].([]any)
	if !isList {
		if isNullList(u.Object) {
			return nil, nil
		}
		return []Resource{{Content: u.Object, doc: doc, item: -1}}, nil
	}
	list := make([]Resource, 0, len(items))
	for i, item := range items {
		content, ok := item.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("item %d of the list is no object", i)
		}
		list = append(list, Resource{Content: content, doc: doc, item: i})
	}
	return list, nil
}

// isNullList tells whether an object is a list whose items are null.
//
// Source: argo-cd v2.14.21, reposerver/repository/repository.go, isNullList.
func isNullList(o map[string]any) bool {
	_, spec := o["spec"]
	_, status := o["status"]
	items, ok := o["items"]
	return !spec && !status && ok && items == nil
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
