package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Tree gives the files of a commit, read-only. Symbolic links are listed as
// such and are not followed (fs.ReadLinkFS reads where they lead); a
// submodule is an entry without content; a file kept in Git LFS is its
// pointer. Files keep readable for as long as the commit is in the copy.
func (r *Repo) Tree(ctx context.Context, sha string) (fs.FS, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, err := r.commit(sha)
	if err != nil {
		return nil, err
	}
	root, err := c.Tree()
	if err != nil {
		return nil, fmt.Errorf("read the tree of commit %s of %s: %w", sha, r.config.URL, err)
	}
	return &treeFS{repo: r, dirs: map[string]*object.Tree{".": root}, when: c.Committer.When.UTC()}, nil
}

// treeFS shows a tree object as a file system.
type treeFS struct {
	repo *Repo
	when time.Time
	// dirs are the directories read so far, guarded by repo.mu.
	dirs map[string]*object.Tree
}

var _ interface {
	fs.ReadFileFS
	fs.ReadDirFS
	fs.StatFS
	fs.ReadLinkFS
} = (*treeFS)(nil)

// dir reads a directory. The caller holds repo.mu.
func (t *treeFS) dir(name string) (*object.Tree, error) {
	if tree, ok := t.dirs[name]; ok {
		return tree, nil
	}
	parent, err := t.dir(path.Dir(name))
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(parent.Entries, func(e object.TreeEntry) bool { return e.Name == path.Base(name) })
	if i < 0 || parent.Entries[i].Mode != filemode.Dir {
		return nil, fs.ErrNotExist
	}
	tree, err := t.repo.repo.TreeObject(parent.Entries[i].Hash)
	if err != nil {
		return nil, err
	}
	t.dirs[name] = tree
	return tree, nil
}

// find describes what has a name. The caller holds repo.mu.
func (t *treeFS) find(name string) (*info, error) {
	if name == "." {
		return &info{name: ".", mode: fs.ModeDir | 0o755, when: t.when}, nil
	}
	parent, err := t.dir(path.Dir(name))
	if err != nil {
		return nil, err
	}
	for _, e := range parent.Entries {
		if e.Name == path.Base(name) {
			return t.describe(e)
		}
	}
	return nil, fs.ErrNotExist
}

func (t *treeFS) describe(e object.TreeEntry) (*info, error) {
	in := &info{name: e.Name, hash: e.Hash, when: t.when}
	switch e.Mode {
	case filemode.Dir:
		in.mode = fs.ModeDir | 0o755
		return in, nil
	case filemode.Submodule:
		in.mode = fs.ModeIrregular
		return in, nil
	case filemode.Symlink:
		in.mode = fs.ModeSymlink | 0o777
	case filemode.Executable:
		in.mode = 0o755
	default:
		in.mode = 0o644
	}
	size, err := t.repo.repo.Storer.EncodedObjectSize(e.Hash)
	in.size = size
	return in, err
}

// content reads a file's or a link's bytes. The caller holds repo.mu.
func (t *treeFS) content(hash plumbing.Hash) ([]byte, error) {
	blob, err := t.repo.repo.BlobObject(hash)
	if err != nil {
		return nil, err
	}
	from, err := blob.Reader()
	if err != nil {
		return nil, err
	}
	defer from.Close()
	return io.ReadAll(from)
}

// at runs f on what has a name, under the repository's lock.
func (t *treeFS) at(op, name string, f func(*info) error) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	t.repo.mu.Lock()
	defer t.repo.mu.Unlock()
	in, err := t.find(name)
	if err == nil {
		err = f(in)
	}
	if err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

// errLink is the answer to reading through a symbolic link.
var errLink = errors.New("is a symbolic link, which is not followed")

func (t *treeFS) ReadFile(name string) (data []byte, err error) {
	err = t.at("read", name, func(in *info) (err error) {
		switch {
		case in.mode&fs.ModeSymlink != 0:
			return errLink
		case !in.mode.IsRegular():
			return errors.New("is not a file")
		}
		data, err = t.content(in.hash)
		return err
	})
	return data, err
}

func (t *treeFS) ReadLink(name string) (target string, err error) {
	err = t.at("readlink", name, func(in *info) error {
		if in.mode&fs.ModeSymlink == 0 {
			return fs.ErrInvalid
		}
		data, err := t.content(in.hash)
		target = string(data)
		return err
	})
	return target, err
}

func (t *treeFS) Lstat(name string) (fs.FileInfo, error) { return t.stat("lstat", name) }

// Stat does not follow links either: Lstat by another name.
func (t *treeFS) Stat(name string) (fs.FileInfo, error) { return t.stat("stat", name) }

func (t *treeFS) stat(op, name string) (found fs.FileInfo, err error) {
	err = t.at(op, name, func(in *info) error {
		found = in
		return nil
	})
	return found, err
}

func (t *treeFS) ReadDir(name string) (list []fs.DirEntry, err error) {
	err = t.at("readdir", name, func(*info) error {
		tree, err := t.dir(name)
		if err != nil {
			return err
		}
		for _, e := range tree.Entries {
			in, err := t.describe(e)
			if err != nil {
				return err
			}
			list = append(list, fs.FileInfoToDirEntry(in))
		}
		slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
		return nil
	})
	return list, err
}

func (t *treeFS) Open(name string) (fs.File, error) {
	in, err := t.stat("open", name)
	if err != nil {
		return nil, err
	}
	if in.IsDir() {
		list, err := t.ReadDir(name)
		return &openDir{info: in, list: list}, err
	}
	data, err := t.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return &openFile{info: in, Reader: strings.NewReader(string(data))}, nil
}
