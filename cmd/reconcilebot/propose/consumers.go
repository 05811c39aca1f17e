package propose

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"reconcilebot/runbook/manifest"
)

// maxApplication bounds a file that is searched for Applications, in bytes.
const maxApplication = 1 << 20

// deployed finds the directories that Applications and Flux's Kustomizations
// in the tree name: one that an overlay takes in may be deployed by itself,
// too. Which repository they mean is not looked at, so that one that means
// another's directory of the same name is looked after for nothing.
func deployed(tree fs.FS) (list []manifest.Source, err error) {
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case !d.Type().IsRegular() || !slices.Contains([]string{".yaml", ".yml"}, path.Ext(name)):
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() > maxApplication {
			return nil // what can't be looked at deploys nothing
		}
		raw, err := fs.ReadFile(tree, name)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		if bytes.Contains(raw, []byte("argoproj.io/")) || bytes.Contains(raw, []byte(".toolkit.fluxcd.io/")) {
			list = append(list, sourcesIn(tree, name, raw)...)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for Applications: %w", err)
	}
	return list, nil
}

// sourcesIn are the directories of the tree that the objects in a file name.
func sourcesIn(tree fs.FS, file string, raw []byte) (list []manifest.Source) {
	objects, err := decode(raw)
	if err != nil {
		return nil // a template, or no manifest at all
	}
	for _, object := range objects {
		o := nameOf(object)
		src := manifest.Source{Name: o.Name}
		switch o.Kind + "." + o.Group() {
		case "Application.argoproj.io":
			src, _ = application(o.Name, object)
			src.App = o.Name
		case "HelmRelease.helm.toolkit.fluxcd.io":
			src = helmRelease(o.Name, object)
			src.App, src.Manifest = o.Name, file
		case "Kustomization.kustomize.toolkit.fluxcd.io":
			src.Dir = path.Clean(stringAt(mapAt(object, "spec"), "path"))
		default:
			continue
		}
		src.Name = o.Kind + " " + src.Name
		if info, err := fs.Stat(tree, src.Dir); src.Dir != "." && err == nil && info.IsDir() {
			list = append(list, src)
		}
	}
	return list
}
