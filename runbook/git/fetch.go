package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
)

// mirrored are the references that the copy follows.
var mirrored = [...]config.RefSpec{"+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"}

// user is the name that goes with a token.
const user = "x-access-token"

// basic is how GitHub, GitLab and Gitea take a token in place of a password.
//
// Source: https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/authenticating-as-a-github-app-installation
func basic(token string) transport.AuthMethod {
	return &githttp.BasicAuth{Username: user, Password: token}
}

// Fetch brings all branches and tags up to date, and drops those that are
// gone. Readers go on with what they have until it is done.
func (r *Repo) Fetch(ctx context.Context) error {
	err := r.fetch(ctx)
	if err == nil || !isBroken(err) {
		return err
	}
	return r.rebuild(ctx)
}

func (r *Repo) fetch(ctx context.Context) error {
	r.fetching.Lock()
	defer r.fetching.Unlock()
	return r.fetchLocked(ctx)
}

// fetchLocked asks for the remote's references first: most often nothing has
// changed, and one small request is all there is.
func (r *Repo) fetchLocked(ctx context.Context) error {
	refs, head, err := r.list(ctx)
	if err != nil {
		return err
	}
	same, err := r.matches(refs)
	if err != nil || same {
		r.setHead(head)
		return err
	}
	// A repository of its own: readers hold the other one.
	repo, err := gogit.PlainOpen(r.dir)
	if err != nil {
		return &broken{fmt.Errorf("open the copy of %s: %w", r.config.URL, err)}
	}
	if len(refs) > 0 {
		if err := r.pull(ctx, repo); err != nil {
			return err
		}
	}
	if err := prune(repo, refs); err != nil {
		return fmt.Errorf("drop branches of %s that are gone: %w", r.config.URL, err)
	}
	if err := r.load(); err != nil {
		return &broken{err}
	}
	r.setHead(head)
	return nil
}

func (r *Repo) pull(ctx context.Context, repo *gogit.Repository) error {
	ctx, cancel := r.bounded(ctx, "fetch")
	defer cancel()
	auth, token, err := r.auth(ctx)
	if err != nil {
		return err
	}
	remote := gogit.NewRemote(repo.Storer, &config.RemoteConfig{Name: "origin", URLs: []string{r.config.URL}})
	err = remote.FetchContext(ctx, &gogit.FetchOptions{
		RemoteName: "origin", RefSpecs: mirrored[:], Auth: auth, Force: true,
		Tags: gogit.NoTags, CABundle: r.config.CABundle,
	})
	if errors.Is(err, gogit.NoErrAlreadyUpToDate) {
		return nil
	}
	return r.explain(ctx, "fetch", token, err)
}

// list asks the remote for its branches and tags, by full name, and for the
// branch that its HEAD names.
func (r *Repo) list(ctx context.Context) (refs map[string]string, head string, err error) {
	ctx, cancel := r.bounded(ctx, "list the branches of")
	defer cancel()
	auth, token, err := r.auth(ctx)
	if err != nil {
		return nil, "", err
	}
	remote := gogit.NewRemote(nil, &config.RemoteConfig{Name: "origin", URLs: []string{r.config.URL}})
	all, err := remote.ListContext(ctx, &gogit.ListOptions{Auth: auth, CABundle: r.config.CABundle})
	if errors.Is(err, transport.ErrEmptyRemoteRepository) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", r.explain(ctx, "list the branches of", token, err)
	}
	refs = map[string]string{}
	for _, ref := range all {
		switch {
		case ref.Type() == plumbing.SymbolicReference && ref.Name() == plumbing.HEAD:
			head = ref.Target().Short()
		case ref.Name().IsBranch() || ref.Name().IsTag():
			refs[ref.Name().String()] = ref.Hash().String()
		}
	}
	return refs, head, nil
}

// local lists the copy's branches and tags by full name.
func local(repo *gogit.Repository) (map[string]string, error) {
	refs := map[string]string{}
	iter, err := repo.References()
	if err != nil {
		return nil, err
	}
	err = iter.ForEach(func(ref *plumbing.Reference) error {
		if ref.Type() == plumbing.HashReference && (ref.Name().IsBranch() || ref.Name().IsTag()) {
			refs[ref.Name().String()] = ref.Hash().String()
		}
		return nil
	})
	return refs, err
}

func (r *Repo) matches(refs map[string]string) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	have, err := local(r.repo)
	if err != nil {
		return false, &broken{fmt.Errorf("read the copy of %s: %w", r.config.URL, err)}
	}
	return maps.Equal(have, refs), nil
}

func (r *Repo) setHead(branch string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.head = branch
}

func prune(repo *gogit.Repository, refs map[string]string) error {
	have, err := local(repo)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if _, ok := refs[name]; ok {
			continue
		}
		if err := repo.Storer.RemoveReference(plumbing.ReferenceName(name)); err != nil {
			return err
		}
	}
	return nil
}
