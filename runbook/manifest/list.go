package manifest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/gobwas/glob"
)

// member is a file of a source: its name in the directory, and the file that
// holds its content, which is another one for a symbolic link.
type member struct{ name, real string }

// isManifest tells which files Argo CD reads.
//
// Source: argo-cd v2.14.21, reposerver/repository/repository.go, manifestFile.
func isManifest(name string) bool {
	switch path.Ext(name) {
	case ".yaml", ".yml", ".json", ".jsonnet":
		return true
	}
	return false
}

// list names the files of a source in the order in which Argo CD reads them.
//
// Source: argo-cd v2.14.21, reposerver/repository/repository.go,
// getPotentiallyValidManifests.
func (f *files) list(ctx context.Context, src Source) (walk, error) {
	dir, err := cleanDir(src.Dir)
	if err != nil {
		return walk{}, err
	}
	st, err := lstat(f.tree, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return walk{}, refuse(NotFound, "Look at the source's path.", "the directory %s is not in the repository", dir)
	}
	if err != nil {
		return walk{}, fmt.Errorf("look at %s: %w", dir, err)
	}
	if !st.IsDir() {
		return walk{}, refuse(NotFound, "Look at the source's path.", "%s is not a directory", dir)
	}
	w := walk{files: f, src: src, root: dir, left: f.limits.SourceBytes, wanted: globs(src)}
	if err := w.dir(ctx, dir); err != nil {
		return walk{}, err
	}
	return w, nil
}

func cleanDir(dir string) (string, error) {
	clean := path.Clean(strings.TrimPrefix(dir, "./"))
	if dir == "" {
		clean = "."
	}
	if !fs.ValidPath(clean) {
		return "", refuse(NotFound, "Look at the source's path.", "the path %.100q leads out of the repository", dir)
	}
	return clean, nil
}

// globs gives the test for Include and Exclude. As in Argo CD, "*" matches
// slashes too, and a pattern that can't be read matches nothing.
func globs(src Source) func(rel string) bool {
	matches := func(pattern string) func(string) bool {
		g, err := glob.Compile(pattern)
		if err != nil {
			return func(string) bool { return false }
		}
		return g.Match
	}
	include, exclude := matches(src.Include), matches(src.Exclude)
	return func(rel string) bool {
		return (src.Exclude == "" || !exclude(rel)) && (src.Include == "" || include(rel))
	}
}

// walk collects a source's files.
type walk struct {
	files  *files
	src    Source
	root   string
	wanted func(rel string) bool
	// left is how many bytes may still be read.
	left  int64
	found []member
	// dirs are the directories listed.
	dirs []string
}

func (w *walk) dir(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := w.files.entries(dir)
	if err != nil {
		return err
	}
	w.dirs = append(w.dirs, dir)
	for _, e := range entries { // sorted by name, as filepath.Walk has them
		name := path.Join(dir, e.Name())
		if e.IsDir() {
			if w.src.Recurse {
				if err := w.dir(ctx, name); err != nil {
					return err
				}
			}
			continue
		}
		if err := w.file(name, e); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) file(name string, e fs.DirEntry) error {
	rel := strings.TrimPrefix(name, w.root+"/")
	if !isManifest(name) {
		return nil
	}
	real := name
	if e.Type()&fs.ModeSymlink != 0 {
		var err error
		if real, err = follow(w.files.tree, name); err != nil || real == "" {
			return err
		}
	}
	st, err := w.files.stat(real)
	if err != nil {
		return fmt.Errorf("look at %s: %w", real, err)
	}
	if !st.Mode().IsRegular() || !w.wanted(rel) {
		return nil
	}
	w.left -= st.Size()
	if w.left < 0 || len(w.found) >= w.files.limits.Files {
		return refuse(TooLarge, "Edit it by hand, or split the directory.", "the manifests in %s are more than %d bytes or %d files", w.root, w.files.limits.SourceBytes, w.files.limits.Files)
	}
	w.found = append(w.found, member{name, real})
	return nil
}
