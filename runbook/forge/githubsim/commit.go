package githubsim

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Change is a commit to make on a branch.
type Change struct {
	// Author is a login, or any other name.
	Author  string
	Message string
	// Files are whole contents by path; nil removes nothing.
	Files map[string]string
	// Remove are paths that go away.
	Remove []string
	// At is the commit's time; now if zero.
	At time.Time
}

// Commit puts a commit on a branch, protected or not: it stands for what
// happened by other ways. The branch begins at main's tip if it is new.
func (s *Sim) Commit(fullName, branch string, c Change) (sha string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.repo(fullName)
	if err != nil {
		return "", err
	}
	return r.commit(branch, c)
}

// index is git with an index of its own, which goes away when it is done with.
func (r *repo) index() (in call, gone func()) {
	index := filepath.Join(r.dir, "sim-index")
	return call{dir: r.dir, env: []string{"GIT_INDEX_FILE=" + index}}, func() { _ = os.Remove(index) }
}

// remove takes a path out of the index, without a work tree.
func (c call) remove(path string) error {
	c.stdin = "0 " + strings.Repeat("0", 40) + "\t" + path + "\n"
	_, err := c.git("update-index", "--index-info")
	return err
}

func (r *repo) commit(branch string, c Change) (string, error) {
	in, gone := r.index()
	defer gone()
	parent := r.head(branch)
	if parent == "" {
		parent = r.head("main")
	}
	if parent != "" {
		if _, err := in.git("read-tree", parent); err != nil {
			return "", err
		}
	}
	for path, content := range c.Files {
		blob, err := call{dir: r.dir, stdin: content}.git("hash-object", "-w", "--stdin")
		if err != nil {
			return "", err
		}
		if _, err := in.git("update-index", "--add", "--cacheinfo", "100644,"+blob+","+path); err != nil {
			return "", err
		}
	}
	for _, path := range c.Remove {
		if err := in.remove(path); err != nil {
			return "", err
		}
	}
	tree, err := in.git("write-tree")
	if err != nil {
		return "", err
	}
	sha, err := r.commitTree(tree, c, parent)
	if err != nil {
		return "", err
	}
	r.pusher = c.Author
	return sha, r.move(branch, sha)
}

func (r *repo) commitTree(tree string, c Change, parents ...string) (string, error) {
	at := c.At
	if at.IsZero() {
		at = r.sim.now()
	}
	name, email := r.sim.identity(c.Author)
	args := []string{"commit-tree", tree}
	for _, p := range parents {
		if p != "" {
			args = append(args, "-p", p)
		}
	}
	env := append(signature("AUTHOR", name, email, at), signature("COMMITTER", name, email, at)...)
	return call{dir: r.dir, env: env, stdin: c.Message}.git(append(args, "-F", "-")...)
}

// identity is how a login signs commits.
func (s *Sim) identity(login string) (name, email string) {
	if u, ok := s.users[login]; ok {
		if name, email = u.Name, u.Email; name == "" {
			name = login
		}
		if email == "" {
			email = fmt.Sprintf("%d+%s@users.noreply.github.com", u.id, login)
		}
		return name, email
	}
	return login, login + "@users.noreply.github.com"
}
