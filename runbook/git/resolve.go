package git

import (
	"context"
	"errors"
	"fmt"
	"strings"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Branch gives the commit at a branch's tip, as last fetched.
func (r *Repo) Branch(ctx context.Context, name string) (sha string, found bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reference(plumbing.NewBranchReferenceName(name))
}

func (r *Repo) reference(name plumbing.ReferenceName) (sha string, found bool, err error) {
	ref, err := r.repo.Reference(name, true)
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("read %s of %s: %w", name.Short(), r.config.URL, err)
	}
	return ref.Hash().String(), true, nil
}

// RemoteBranch asks the remote for the commit at a branch's tip. The copy
// need not have that commit.
func (r *Repo) RemoteBranch(ctx context.Context, name string) (sha string, found bool, err error) {
	refs, _, err := r.list(ctx)
	if err != nil {
		return "", false, err
	}
	sha, found = refs[plumbing.NewBranchReferenceName(name).String()]
	return sha, found, nil
}

// DefaultBranch is the branch that the remote's HEAD names. It asks the
// remote only if nothing has been fetched since Open.
func (r *Repo) DefaultBranch(ctx context.Context) (name string, err error) {
	if name = r.knownHead(); name != "" {
		return name, nil
	}
	_, name, err = r.list(ctx)
	if err == nil && name == "" {
		err = &Missing{"a default branch"}
	}
	if err != nil {
		return "", err
	}
	r.setHead(name)
	return name, nil
}

func (r *Repo) knownHead() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.head
}

// Resolve gives the commit that a revision means: HEAD or nothing for the
// default branch, a branch, a tag, or a commit's full or shortened SHA. What
// is not there is *Missing.
func (r *Repo) Resolve(ctx context.Context, revision string) (sha string, err error) {
	if revision == "" || revision == "HEAD" {
		if revision, err = r.DefaultBranch(ctx); err != nil {
			return "", err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	short := strings.TrimPrefix(strings.TrimPrefix(revision, "refs/heads/"), "refs/tags/")
	for _, name := range []plumbing.ReferenceName{plumbing.NewBranchReferenceName(short), plumbing.NewTagReferenceName(short)} {
		sha, found, err := r.reference(name)
		if err != nil {
			return "", err
		}
		if found && (!strings.HasPrefix(revision, "refs/") || string(name) == revision) {
			return r.peel(sha)
		}
	}
	if !isHex(revision) {
		return "", &Missing{"revision " + revision}
	}
	hash, err := r.repo.ResolveRevision(plumbing.Revision(revision))
	if err != nil {
		return "", &Missing{"commit " + revision}
	}
	return r.peel(hash.String())
}

// peel follows annotated tags to their commit.
func (r *Repo) peel(sha string) (string, error) {
	hash := plumbing.NewHash(sha)
	for range 10 { // a tag of a tag is odd, ten of them are an attack
		tag, err := r.repo.TagObject(hash)
		if errors.Is(err, plumbing.ErrObjectNotFound) {
			break
		}
		if err != nil {
			return "", fmt.Errorf("read tag %s of %s: %w", sha, r.config.URL, err)
		}
		hash = tag.Target
	}
	if _, err := r.commit(hash.String()); err != nil {
		return "", err
	}
	return hash.String(), nil
}

func isHex(s string) bool {
	return len(s) >= 4 && len(s) <= 40 && strings.Trim(s, "0123456789abcdef") == ""
}

// commit reads a commit by its full SHA. The caller holds mu.
func (r *Repo) commit(sha string) (*object.Commit, error) {
	if !plumbing.IsHash(sha) {
		return nil, fmt.Errorf("read a commit of %s: %.60q is not a full commit SHA", r.config.URL, sha)
	}
	c, err := r.repo.CommitObject(plumbing.NewHash(sha))
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, &Missing{"commit " + sha}
	}
	if err != nil {
		return nil, fmt.Errorf("read commit %s of %s: %w", sha, r.config.URL, err)
	}
	return c, nil
}

// Contains tells whether a commit has another one in its past, or is it.
func (r *Repo) Contains(ctx context.Context, descendant, ancestor string) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	below, err := r.commit(descendant)
	if err != nil {
		return false, err
	}
	if _, err := r.commit(ancestor); err != nil {
		if _, missing := errors.AsType[*Missing](err); missing {
			return false, nil // the copy is full: what it has not is no ancestor
		}
		return false, err
	}
	found := false
	seen := map[plumbing.Hash]bool{}
	todo := []*object.Commit{below}
	for len(todo) > 0 && !found {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		found = c.Hash.String() == ancestor
		if todo, err = unseenParents(r.repo, c, todo, seen); err != nil {
			return false, fmt.Errorf("walk the history of %s in %s: %w", descendant, r.config.URL, err)
		}
	}
	return found, nil
}

func unseenParents(repo *gogit.Repository, c *object.Commit, todo []*object.Commit, seen map[plumbing.Hash]bool) ([]*object.Commit, error) {
	for _, hash := range c.ParentHashes {
		if seen[hash] {
			continue
		}
		seen[hash] = true
		parent, err := repo.CommitObject(hash)
		if err != nil {
			return nil, err
		}
		todo = append(todo, parent)
	}
	return todo, nil
}
