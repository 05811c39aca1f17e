package manifest

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
)

// Roots finds the kustomizations of a tree that no other takes in: where it
// is not known what a controller renders, these are what it may.
func Roots(ctx context.Context, tree Tree, limits Limits) ([]Source, error) {
	f := newFiles(tree, limits)
	var dirs []string
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case !d.IsDir() && slices.Contains(kustomizationNames(), d.Name()):
			dirs = append(dirs, path.Dir(name))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for kustomizations: %w", err)
	}
	taken, err := f.taken(ctx, dirs)
	var list []Source
	for _, dir := range slices.Compact(dirs) {
		if !taken[dir] {
			list = append(list, Source{Name: dir, Dir: dir})
		}
	}
	return list, err
}

// taken finds the directories that other kustomizations take in, and those
// that hold components, which are nothing alone.
func (f *files) taken(ctx context.Context, dirs []string) (map[string]bool, error) {
	taken := map[string]bool{}
	for _, dir := range dirs {
		// One that can't be read may still be a controller's source, and it
		// takes in nothing then.
		t, err := f.parsed(f.kustomizationIn(dir))
		if err != nil || t.err != nil {
			continue
		}
		for _, doc := range t.docs {
			if scalarIs(child(doc, "kind"), "Component") {
				taken[dir] = true
			}
			for _, text := range textsIn(doc, nil) {
				name := path.Join(dir, text)
				if name == dir || !fs.ValidPath(name) || len(text) > maxText {
					continue
				}
				if at, err := f.follow(name); err == nil && at != "" && f.kustomizationIn(at) != "" {
					taken[at] = true
				}
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return taken, nil
}
