package propose

import (
	"io/fs"
	"path"
	"slices"

	"sigs.k8s.io/yaml"

	"reconcilebot/runbook/manifest"
)

// kustomizations finds all Kustomize directories of a tree and what each
// names outside of itself. They can't be rendered here, so that one which may
// read an edited file stands in the edit's way.
func kustomizations(tree fs.FS, target string) (list []manifest.Source, err error) {
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir() || !slices.Contains([]string{"kustomization.yaml", "kustomization.yml", "Kustomization"}, d.Name()):
			return nil
		}
		dir := path.Dir(name)
		if dir == path.Clean(target) {
			return nil
		}
		reads, ok := names(tree, name)
		if !ok {
			reads = []string{path.Clean(target)}
		}
		list = append(list, manifest.Source{Name: dir, Dir: dir, Unsupported: "a Kustomize directory", Reads: reads})
		return nil
	})
	return list, err
}

// maxKustomization bounds a kustomization that is read, in bytes.
const maxKustomization = 1 << 20

// names are the files and directories that a kustomization mentions; not ok
// if that can't be told, so that it may read anything.
func names(tree fs.FS, file string) (found []string, ok bool) {
	info, err := fs.Stat(tree, file)
	if err != nil || info.Size() > maxKustomization {
		return nil, false
	}
	raw, err := fs.ReadFile(tree, file)
	if err != nil {
		return nil, false
	}
	var content any
	if err := yaml.Unmarshal(raw, &content); err != nil {
		return nil, false
	}
	visit(content, func(text string) {
		name := path.Join(path.Dir(file), text)
		if !fs.ValidPath(name) {
			return
		}
		if _, err := fs.Stat(tree, name); err == nil {
			found = append(found, name)
		}
	})
	return found, true
}

// visit calls f for every text in a decoded value.
func visit(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, item := range v {
			visit(item, f)
		}
	case map[string]any:
		for _, item := range v {
			visit(item, f)
		}
	}
}
