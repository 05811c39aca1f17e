package manifest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

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

// skipMarker is the comment that newer versions of Argo CD take as an order
// to leave a file out.
//
// Source: https://argo-cd.readthedocs.io/en/stable/user-guide/directory/#skipping-file-rendering
var skipMarker = regexp.MustCompile(`(?m)^#\s*\+argocd:skip-file-rendering\b`)
