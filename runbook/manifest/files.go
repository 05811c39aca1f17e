package manifest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/gobwas/glob"
)

// Limits bound what a proposal may read; zero values mean the defaults.
type Limits struct {
	// FileBytes bounds one file; 10 MiB by default. SourceBytes bounds all
	// files of one source; 10 MiB by default, as Argo CD has it
	// (reposerver.max.combined.directory.manifests.size).
	FileBytes, SourceBytes int64
	// Files bounds the files of one source, 20,000 by default; Documents
	// bounds those in one file, 5,000 by default.
	Files, Documents int
}

func (l Limits) withDefaults() Limits {
	if l.FileBytes <= 0 {
		l.FileBytes = 10 << 20
	}
	if l.SourceBytes <= 0 {
		l.SourceBytes = 10 << 20
	}
	if l.Files <= 0 {
		l.Files = 20_000
	}
	if l.Documents <= 0 {
		l.Documents = 5_000
	}
	return l
}

// files reads a tree within limits, with edits laid over it, and remembers
// what it read.
type files struct {
	tree   Tree
	limits Limits
	// edited holds the files that are changed so far, by path.
	edited map[string][]byte
	// digests are those of all files read, as they are in the tree.
	digests map[string]string
	// decoded keeps the objects of each content that was decoded.
	decoded map[[sha256.Size]byte]decodedFile
}

func newFiles(tree Tree, limits Limits) *files {
	return &files{
		tree: tree, limits: limits.withDefaults(), edited: map[string][]byte{},
		digests: map[string]string{}, decoded: map[[sha256.Size]byte]decodedFile{},
	}
}

// read gives a file's content with the edits made so far.
func (f *files) read(name string) ([]byte, error) {
	if content, ok := f.edited[name]; ok {
		return content, nil
	}
	return f.original(name)
}

// original gives a file's content as it is in the tree.
func (f *files) original(name string) ([]byte, error) {
	st, err := fs.Stat(f.tree, name)
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", name, err)
	}
	if st.Size() > f.limits.FileBytes {
		return nil, refuse(TooLarge, "Edit it by hand.", "%s is larger than %d bytes", name, f.limits.FileBytes)
	}
	content, err := fs.ReadFile(f.tree, name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if int64(len(content)) > f.limits.FileBytes {
		return nil, refuse(TooLarge, "Edit it by hand.", "%s is larger than %d bytes", name, f.limits.FileBytes)
	}
	f.digests[name] = hexDigest(content)
	return content, nil
}

func hexDigest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// member is a file of a source: its name in the directory, and the file that
// holds its content, which is another one for a symbolic link.
type member struct{ name, real string }

// manifestFile is which files Argo CD reads.
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
func (f *files) list(ctx context.Context, src Source) ([]member, error) {
	dir, err := cleanDir(src.Dir)
	if err != nil {
		return nil, err
	}
	st, err := lstat(f.tree, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refuse(NotFound, "Look at the source's path.", "the directory %s is not in the repository", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", dir, err)
	}
	if !st.IsDir() {
		return nil, refuse(NotFound, "Look at the source's path.", "%s is not a directory", dir)
	}
	w := walk{files: f, src: src, root: dir, left: f.limits.SourceBytes, wanted: globs(src)}
	if err := w.dir(ctx, dir); err != nil {
		return nil, err
	}
	return w.found, nil
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
}

func (w *walk) dir(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := fs.ReadDir(w.files.tree, dir)
	if err != nil {
		return fmt.Errorf("list %s: %w", dir, err)
	}
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
	st, err := lstat(w.files.tree, real)
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

// maxLinks bounds a chain of symbolic links, as Linux does.
const maxLinks = 40

// follow gives the file that a symbolic link leads to, "" if it is missing.
// One that leads out of the tree is refused, as Argo CD refuses it.
func follow(tree Tree, name string) (string, error) {
	outside := refuse(Unreadable, "Take the link out of the directory.", "%s is a symbolic link that leads out of the repository", name)
	todo := strings.Split(name, "/")
	done := "."
	for links := 0; len(todo) > 0; {
		next := path.Join(done, todo[0])
		todo = todo[1:]
		if !fs.ValidPath(next) {
			return "", outside
		}
		st, err := lstat(tree, next)
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("look at %s: %w", next, err)
		}
		if st.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		target, err := fs.ReadLink(tree, next)
		if err != nil {
			return "", fmt.Errorf("read the link %s: %w", next, err)
		}
		if links++; links > maxLinks || path.IsAbs(target) {
			return "", outside
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return done, nil
}

func lstat(tree Tree, name string) (fs.FileInfo, error) { return fs.Lstat(tree, name) }

// skipMarker is the comment that newer versions of Argo CD take as an order
// to leave a file out.
//
// Source: https://argo-cd.readthedocs.io/en/stable/user-guide/directory/#skipping-file-rendering
var skipMarker = regexp.MustCompile(`(?m)^#\s*\+argocd:skip-file-rendering\b`)
