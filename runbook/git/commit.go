package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Person is an author or a committer.
type Person struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// CommitRequest says what a commit is to hold.
type CommitRequest struct {
	// Base is the full SHA of the parent.
	Base string
	// Edits are whole files after the edit, by path; a new path is a new
	// file. Delete are the paths of files to take away.
	Edits  map[string][]byte
	Delete []string
	// Message is the whole message, trailers included.
	Message           string
	Author, Committer Person
	// When is the time of both, to the second.
	When time.Time
	// Sign signs the commit; nil leaves it unsigned.
	Sign *Signer
}

// Commit adds a commit to the copy and gives its SHA; nobody else sees it
// before Push. The same request gives the same SHA. Files keep their modes.
func (r *Repo) Commit(ctx context.Context, req CommitRequest) (sha string, err error) {
	if err := req.check(); err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	base, err := r.commit(req.Base)
	if err != nil {
		return "", err
	}
	root, err := r.edit(base.TreeHash, req.changes())
	if err == nil && root == base.TreeHash {
		err = errors.New("the files are the same as before")
	}
	if err != nil {
		return "", fmt.Errorf("make a commit on %s of %s: %w", req.Base, r.config.URL, err)
	}
	when := req.When.UTC().Truncate(time.Second)
	made := &object.Commit{
		Author:       object.Signature{Name: req.Author.Name, Email: req.Author.Email, When: when},
		Committer:    object.Signature{Name: req.Committer.Name, Email: req.Committer.Email, When: when},
		Message:      strings.TrimRight(req.Message, "\n") + "\n",
		TreeHash:     root,
		ParentHashes: []plumbing.Hash{base.Hash},
	}
	if req.Sign != nil {
		if err := req.Sign.sign(made); err != nil {
			return "", err
		}
	}
	return r.store(made)
}

// File is a file of a commit, as the Git host takes it.
type File struct {
	Path string
	// Mode is Git's: 100644 or 100755.
	Mode    string
	Content []byte
}

// Written gives what a commit of one parent changed, whole, and the SHA of
// its tree. Files that it took away have no content and no mode.
func (r *Repo) Written(ctx context.Context, sha string) (files []File, tree string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, err := r.commit(sha)
	if err != nil {
		return nil, "", err
	}
	explain := func(err error) error {
		return fmt.Errorf("read what commit %s of %s changed: %w", sha, r.config.URL, err)
	}
	parent, err := c.Parent(0)
	if err != nil {
		return nil, "", explain(err)
	}
	before, err := parent.Tree()
	if err != nil {
		return nil, "", explain(err)
	}
	after, err := c.Tree()
	if err != nil {
		return nil, "", explain(err)
	}
	changes, err := object.DiffTreeWithOptions(ctx, before, after, nil)
	if err != nil {
		return nil, "", explain(err)
	}
	for _, change := range changes {
		if change.To.Name == "" {
			files = append(files, File{Path: change.From.Name})
			continue
		}
		blob, err := r.repo.BlobObject(change.To.TreeEntry.Hash)
		if err != nil {
			return nil, "", explain(err)
		}
		content, err := read(blob)
		if err != nil {
			return nil, "", explain(err)
		}
		files = append(files, File{Path: change.To.Name, Mode: strings.TrimPrefix(change.To.TreeEntry.Mode.String(), "0"), Content: content})
	}
	return files, c.TreeHash.String(), nil
}

func read(blob *object.Blob) ([]byte, error) {
	from, err := blob.Reader()
	if err != nil {
		return nil, err
	}
	defer from.Close()
	return io.ReadAll(from)
}

// encoder is an object that can be written.
type encoder interface {
	Encode(plumbing.EncodedObject) error
}

func (r *Repo) store(from encoder) (string, error) {
	to := r.repo.Storer.NewEncodedObject()
	if err := from.Encode(to); err != nil {
		return "", err
	}
	hash, err := r.repo.Storer.SetEncodedObject(to)
	if err != nil {
		return "", fmt.Errorf("write to the copy of %s: %w", r.config.URL, err)
	}
	return hash.String(), nil
}

func (req CommitRequest) check() error {
	if len(req.Edits)+len(req.Delete) == 0 {
		return errors.New("make a commit: no file is to change")
	}
	if strings.TrimSpace(req.Message) == "" || req.When.IsZero() {
		return errors.New("make a commit: it needs a message and a time")
	}
	for _, p := range []Person{req.Author, req.Committer} {
		if p.Name == "" || strings.ContainsAny(p.Name+p.Email, "<>\n\x00") {
			return fmt.Errorf("make a commit: %.60q <%.60q> can't stand as a name and an address in Git", p.Name, p.Email)
		}
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(req.Edits)), req.Delete) {
		if err := checkPath(name); err != nil {
			return err
		}
	}
	return nil
}

// checkPath refuses what Git itself refuses, and what could leave a work tree
// when somebody checks the commit out.
func checkPath(name string) error {
	bad := !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\\\x00")
	for part := range strings.SplitSeq(strings.ToLower(name), "/") {
		bad = bad || part == ".git" || strings.HasPrefix(part, "git~")
	}
	if bad {
		return fmt.Errorf("make a commit: %.100q is not a path that a repository may hold", name)
	}
	return nil
}

// change is what happens to one file; nil content takes it away.
type change struct {
	path    string
	content []byte
	remove  bool
}

func (req CommitRequest) changes() []change {
	var list []change
	for name, content := range req.Edits {
		list = append(list, change{path: name, content: content})
	}
	for _, name := range req.Delete {
		list = append(list, change{path: name, remove: true})
	}
	slices.SortFunc(list, func(a, b change) int { return strings.Compare(a.path, b.path) })
	return list
}

// edit writes the tree that is like another one with changes made, and gives
// its hash; the zero hash if nothing is left in it.
func (r *Repo) edit(from plumbing.Hash, changes []change) (plumbing.Hash, error) {
	tree := &object.Tree{}
	if !from.IsZero() {
		old, err := r.repo.TreeObject(from)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		tree.Entries = slices.Clone(old.Entries)
	}
	below := map[string][]change{}
	for _, c := range changes {
		if dir, rest, ok := strings.Cut(c.path, "/"); ok {
			c.path = rest
			below[dir] = append(below[dir], c)
		} else if err := r.editFile(tree, c); err != nil {
			return plumbing.ZeroHash, err
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(below)) {
		if err := r.editDir(tree, dir, below[dir]); err != nil {
			return plumbing.ZeroHash, fmt.Errorf("%s/%w", dir, err)
		}
	}
	if len(tree.Entries) == 0 {
		return plumbing.ZeroHash, nil
	}
	sort.Sort(object.TreeEntrySorter(tree.Entries))
	sha, err := r.store(tree)
	return plumbing.NewHash(sha), err
}

func entry(tree *object.Tree, name string) int {
	return slices.IndexFunc(tree.Entries, func(e object.TreeEntry) bool { return e.Name == name })
}

func (r *Repo) editFile(tree *object.Tree, c change) error {
	i := entry(tree, c.path)
	if c.remove {
		if i < 0 {
			return fmt.Errorf("%s: there is no such file to delete", c.path)
		}
		tree.Entries = slices.Delete(tree.Entries, i, i+1)
		return nil
	}
	mode := filemode.Regular
	if i >= 0 {
		mode = tree.Entries[i].Mode
		if !mode.IsFile() || mode == filemode.Symlink {
			return fmt.Errorf("%s: is not a plain file and can't be edited", c.path)
		}
	}
	sha, err := r.blob(c.content)
	if err != nil {
		return err
	}
	put(tree, i, object.TreeEntry{Name: c.path, Mode: mode, Hash: plumbing.NewHash(sha)})
	return nil
}

func (r *Repo) editDir(tree *object.Tree, name string, changes []change) error {
	i := entry(tree, name)
	old := plumbing.ZeroHash
	if i >= 0 {
		if tree.Entries[i].Mode != filemode.Dir {
			return fmt.Errorf("%s: the path leads through something that is no directory", path.Base(name))
		}
		old = tree.Entries[i].Hash
	}
	hash, err := r.edit(old, changes)
	switch {
	case err != nil:
		return err
	case hash.IsZero():
		tree.Entries = slices.Delete(tree.Entries, i, i+1)
	default:
		put(tree, i, object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: hash})
	}
	return nil
}

func put(tree *object.Tree, i int, e object.TreeEntry) {
	if i < 0 {
		tree.Entries = append(tree.Entries, e)
		return
	}
	tree.Entries[i] = e
}

func (r *Repo) blob(content []byte) (string, error) {
	to := r.repo.Storer.NewEncodedObject()
	to.SetType(plumbing.BlobObject)
	to.SetSize(int64(len(content)))
	w, err := to.Writer()
	if err != nil {
		return "", err
	}
	if _, err := w.Write(content); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	hash, err := r.repo.Storer.SetEncodedObject(to)
	if err != nil {
		return "", fmt.Errorf("write to the copy of %s: %w", r.config.URL, err)
	}
	return hash.String(), nil
}
