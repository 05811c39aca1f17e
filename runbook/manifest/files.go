package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"reconcilebot/runbook/manifest/chart"
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
	// Build bounds the time of one render with Kustomize or Helm, a minute by
	// default.
	Build time.Duration
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
	if l.Build <= 0 {
		l.Build = time.Minute
	}
	return l
}

// files reads a tree within limits, with edits laid over it, and remembers
// what it read.
type files struct {
	tree   Tree
	limits Limits
	// edited holds the files that are changed so far, by path; nil for one
	// that is deleted.
	edited map[string][]byte
	// digests are those of all files read, as they are in the tree.
	digests map[string]string
	// decoded keeps the objects of each content that was decoded.
	decoded map[[sha256.Size]byte]decodedFile
	// vetted are digests of names and contents that Kustomize may be given.
	vetted map[string]bool
	// texts keeps what was parsed, by content.
	texts map[[sha256.Size]byte]*text
	// links keeps where names lead to in the tree; plugins, whether a file may
	// configure one.
	links   map[string]link
	plugins map[string]bool
	// charts keeps those that were loaded, by digest of all their files.
	charts map[string]*chart.Chart
	// rendered keeps the objects of each text that a template made.
	rendered map[[sha256.Size]byte]decodedFile
}

// link is where a name leads to.
type link struct {
	to  string
	err error
}

// follow is follow, remembered: the tree does not change.
func (f *files) follow(name string) (string, error) {
	l, ok := f.links[name]
	if !ok {
		l.to, l.err = follow(f.tree, name)
		f.links[name] = l
	}
	return l.to, l.err
}

func newFiles(tree Tree, limits Limits) *files {
	return &files{
		tree: tree, limits: limits.withDefaults(), edited: map[string][]byte{},
		digests: map[string]string{}, decoded: map[[sha256.Size]byte]decodedFile{}, vetted: map[string]bool{}, texts: map[[sha256.Size]byte]*text{},
		links: map[string]link{}, plugins: map[string]bool{}, charts: map[string]*chart.Chart{}, rendered: map[[sha256.Size]byte]decodedFile{},
	}
}

// read gives a file's content with the edits made so far.
func (f *files) read(name string) ([]byte, error) {
	if content, ok := f.edited[name]; ok {
		if content == nil {
			return nil, fmt.Errorf("read %s: %w", name, fs.ErrNotExist)
		}
		return content, nil
	}
	return f.original(name)
}

// exists tells whether there is a file, with the edits made so far.
func (f *files) exists(name string) bool {
	if content, ok := f.edited[name]; ok {
		return content != nil
	}
	_, err := lstat(f.tree, name)
	return err == nil
}

// entries lists a directory, with the edits made so far, sorted by name.
func (f *files) entries(dir string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(f.tree, dir)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	for name, content := range f.edited {
		if path.Dir(name) != dir {
			continue
		}
		i, found := slices.BinarySearchFunc(list, path.Base(name), func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) })
		switch {
		case found && content == nil:
			list = slices.Delete(list, i, i+1)
		case !found && content != nil:
			list = slices.Insert(list, i, fs.FileInfoToDirEntry(newFile{path.Base(name), int64(len(content))}))
		}
	}
	return list, nil
}

// stat looks at a file or directory, with the edits made so far. It does not
// follow links.
func (f *files) stat(name string) (fs.FileInfo, error) {
	if content, ok := f.edited[name]; ok {
		if content == nil {
			return nil, fmt.Errorf("look at %s: %w", name, fs.ErrNotExist)
		}
		return newFile{path.Base(name), int64(len(content))}, nil
	}
	return lstat(f.tree, name)
}

// newFile describes a file that an edit makes.
type newFile struct {
	name string
	size int64
}

func (n newFile) Name() string       { return n.name }
func (n newFile) Size() int64        { return n.size }
func (n newFile) Mode() fs.FileMode  { return 0o644 }
func (n newFile) ModTime() time.Time { return time.Time{} }
func (n newFile) IsDir() bool        { return false }
func (n newFile) Sys() any           { return nil }

// unrecorded is the same tree with the same edits; what is read by it is not
// remembered.
func (f *files) unrecorded() *files {
	other := *f
	other.digests = map[string]string{}
	return &other
}

// parsed gives a file's text with its nodes.
func (f *files) parsed(name string) (*text, error) {
	content, err := f.read(name)
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(content)
	t, ok := f.texts[key]
	if !ok {
		t = parseText(content)
		f.texts[key] = t
	}
	return t, nil
}

// lay puts writes over the tree; undo takes them away again.
func (f *files) lay(writes []write) (undo func()) {
	before := maps.Clone(f.edited)
	for _, w := range writes {
		f.edited[w.file] = w.content
	}
	return func() { f.edited = before }
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
