package propose

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"reconcilebot/runbook/manifest"
)

// maxFile bounds a file of live objects, in bytes.
const maxFile = 64 << 20

// readObjects reads a stream of YAML documents, or JSON; lists are expanded.
func readObjects(name string) ([]map[string]any, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open the objects' file: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(raw) > maxFile {
		return nil, fmt.Errorf("%s has more than %d MB; give only the objects that matter", name, maxFile>>20)
	}
	list, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("read the objects in %s: %w", name, err)
	}
	return list, nil
}

func decode(raw []byte) (list []map[string]any, err error) {
	docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(raw)))
	for n := 1; ; n++ {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		text, err := yaml.YAMLToJSON(doc)
		if err != nil {
			// The parser's own words may quote a Secret.
			return nil, fmt.Errorf("document %d is not YAML", n)
		}
		var object map[string]any
		if err := utiljson.Unmarshal(text, &object); err != nil {
			return nil, fmt.Errorf("document %d is no object", n)
		}
		list = append(list, expand(object)...)
	}
}

// expand gives the items of a List, and an object as itself.
func expand(object map[string]any) (list []map[string]any) {
	items, ok := object["items"].([]any)
	if !ok {
		if nameOf(object).Name == "" {
			return nil
		}
		return []map[string]any{object}
	}
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			list = append(list, expand(m)...)
		}
	}
	return list
}

// readTarget reads the one target in a file, and why no commit can change
// what it renders.
func readTarget(name string) (manifest.Source, *manifest.Refusal, error) {
	list, err := readObjects(name)
	if err != nil {
		return manifest.Source{}, nil, err
	}
	var found []map[string]any
	for _, object := range list {
		switch o := nameOf(object); o.Kind + "." + o.Group() {
		case "Application.argoproj.io", "Kustomization.kustomize.toolkit.fluxcd.io", "HelmRelease.helm.toolkit.fluxcd.io":
			found = append(found, object)
		}
	}
	if len(found) != 1 {
		return manifest.Source{}, nil, fmt.Errorf("%s holds %d targets; give a file with one Application, Kustomization or HelmRelease", name, len(found))
	}
	o := nameOf(found[0])
	if o.Kind == "HelmRelease" {
		return helmRelease(o.Name, found[0]), nil, nil
	}
	if o.Kind != "Application" {
		return manifest.Source{Name: o.Name, Unsupported: "a " + o.Kind + " of Flux"}, nil, nil
	}
	src, pinned := application(o.Name, found[0])
	return src, pinned, nil
}

// helmRelease reads a HelmRelease of Flux. Its options are read from its file,
// which has to be in the tree.
func helmRelease(name string, release map[string]any) manifest.Source {
	spec := mapAt(release, "spec")
	from := mapAt(mapAt(spec, "chart"), "spec")
	src := manifest.Source{Name: name, Dir: path.Clean(stringAt(from, "chart")), Namespace: stringAt(mapAt(release, "metadata"), "namespace"), Release: true}
	if ns := stringAt(spec, "targetNamespace"); ns != "" {
		src.Namespace = ns
	}
	if stringAt(mapAt(from, "sourceRef"), "kind") != "GitRepository" {
		src.Unsupported = "a Helm chart from a chart repository"
	}
	return src
}

// fixed matches a revision that no commit moves: a commit, a tag by its full
// name, or a version.
var fixed = regexp.MustCompile(`^([0-9a-f]{7,40}|refs/tags/.*|v?\d+\.\d+(\.\d+)?([-+].*)?)$`)

// application reads an Application of Argo CD.
func application(name string, app map[string]any) (manifest.Source, *manifest.Refusal) {
	spec := mapAt(app, "spec")
	from, refs, several := sourceIn(spec)
	dir := mapAt(from, "directory")
	src := manifest.Source{Name: name, Dir: path.Clean(stringAt(from, "path")), Namespace: stringAt(mapAt(spec, "destination"), "namespace"), Refs: refs}
	src.Recurse, _ = dir["recurse"].(bool)
	src.Include, src.Exclude = stringAt(dir, "include"), stringAt(dir, "exclude")
	switch {
	case several:
		src.Unsupported = "an Application with several sources"
	case stringAt(from, "chart") != "":
		src.Unsupported = "a Helm chart from a chart repository"
	case from["plugin"] != nil:
		src.Unsupported = "a source for a plugin"
	}
	if err := src.SetKustomize(from["kustomize"]); err != nil {
		src.Unsupported = "an Application whose options for Kustomize can't be read"
	}
	if err := src.SetHelm(from["helm"]); err != nil {
		src.Unsupported = "an Application whose options for Helm can't be read"
	}
	if revision := stringAt(from, "targetRevision"); fixed.MatchString(revision) {
		return src, &manifest.Refusal{
			Class: manifest.Immutable,
			Why:   fmt.Sprintf("targetRevision of the Application %s is %s, which no commit changes", name, revision),
			Hint:  "Move targetRevision to a branch, or to the commit that holds the change.",
		}
	}
	return src, nil
}

// sourceIn is the one source of an Application that makes objects, and the
// others by the name under which its values files refer to them. Several is
// true if more than one makes objects.
func sourceIn(spec map[string]any) (from map[string]any, refs map[string]string, several bool) {
	list, _ := spec["sources"].([]any)
	if len(list) == 0 {
		return mapAt(spec, "source"), nil, false
	}
	for _, item := range list {
		one, _ := item.(map[string]any)
		if stringAt(one, "path") == "" && stringAt(one, "chart") == "" {
			continue
		}
		several = several || from != nil
		from = one
	}
	refs = map[string]string{}
	for _, item := range list {
		one, _ := item.(map[string]any)
		name := stringAt(one, "ref")
		switch {
		case name == "":
		case stringAt(one, "repoURL") != stringAt(from, "repoURL"):
			refs[name] = "another repository, " + stringAt(one, "repoURL")
		case stringAt(one, "targetRevision") != stringAt(from, "targetRevision"):
			refs[name] = "another revision of the repository"
		default:
			refs[name] = ""
		}
	}
	return from, refs, several
}

func mapAt(m map[string]any, key string) map[string]any { v, _ := m[key].(map[string]any); return v }

func stringAt(m map[string]any, key string) string { v, _ := m[key].(string); return v }
