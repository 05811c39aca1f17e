package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"reconcilebot/bot"
	"reconcilebot/cmd/reconcilebot/config"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/forge"
	"reconcilebot/runbook/git"
	"reconcilebot/runbook/stopwatch"
	"reconcilebot/state"
)

// repositories opens each repository once. It is safe for concurrent use.
type repositories struct {
	github config.GitHub
	host   *gitHost

	mu   sync.Mutex // guards open
	open map[string]*repository
}

// repository is opened by the first who asks; the others wait for it.
type repository struct {
	opening sync.Mutex
	repo    *git.Repo
}

func newRepositories(g config.GitHub, host *gitHost) *repositories {
	return &repositories{github: g, host: host, open: map[string]*repository{}}
}

// Repo gives the repository at an address. One that could not be opened is
// tried again by the next who asks.
func (r *repositories) Repo(ctx context.Context, address string) (book.Repository, error) {
	repo, err := r.get(ctx, address)
	if err != nil {
		return nil, err // not repo: a nil *git.Repo in the interface is not nil
	}
	return timed{repo}, nil
}

// timed is a repository whose talk with the remote counts as waiting.
type timed struct{ *git.Repo }

func (t timed) Fetch(ctx context.Context) error {
	back := stopwatch.Outside(ctx)
	defer back()
	return t.Repo.Fetch(ctx)
}

func (t timed) Push(ctx context.Context, sha, branch string) error {
	back := stopwatch.Outside(ctx)
	defer back()
	return t.Repo.Push(ctx, sha, branch)
}

func (r *repositories) get(ctx context.Context, address string) (*git.Repo, error) {
	c := r.config(address)
	r.mu.Lock()
	one := r.open[c.URL]
	if one == nil {
		one = &repository{}
		r.open[c.URL] = one
	}
	r.mu.Unlock()
	one.opening.Lock()
	defer one.opening.Unlock()
	if one.repo != nil {
		return one.repo, nil
	}
	repo, err := git.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	one.repo = repo
	return repo, nil
}

// config says how to open an address. Addresses come from Applications, which
// many people may write: only the configured host gets the token.
func (r *repositories) config(address string) git.Config {
	c := git.Config{Dir: r.github.Git.Cache, URL: address}
	host, ours := hostOf(address), hostOf(r.github.Web()+"/")
	if host == "" || host != ours {
		return c
	}
	repo, err := forge.ParseRepo(address)
	if err != nil {
		return c
	}
	// An ssh address of the same host is opened by its https one, which the
	// token is for.
	c.URL = r.github.Web() + "/" + repo.String() + ".git"
	c.Token, c.CABundle = r.host.tokenFor(repo.Owner), r.host.ca
	return c
}

// hostOf is the host, with its port, in an address: https, ssh, or the short
// form git@host:owner/name.git; "" if there is none. For ssh the port is its
// own and says nothing.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		if u.Scheme == "ssh" {
			return strings.ToLower(u.Hostname())
		}
		return strings.ToLower(u.Host)
	}
	if before, _, ok := strings.Cut(address, ":"); ok && !strings.Contains(address, "://") {
		return strings.ToLower(before[strings.LastIndex(before, "@")+1:])
	}
	return ""
}

// errNoRevision means that the remote has no such branch or tag.
var errNoRevision = errors.New("the remote has no such branch")

// Head asks the remote for the tip of a branch, HEAD included.
func (r *repositories) Head(ctx context.Context, address, revision string) (sha string, err error) {
	back := stopwatch.Outside(ctx)
	defer back()
	repo, err := r.get(ctx, address)
	if err != nil {
		return "", err
	}
	if revision == "" || revision == "HEAD" {
		if revision, err = repo.DefaultBranch(ctx); err != nil {
			return "", err
		}
	}
	sha, found, err := repo.RemoteBranch(ctx, revision)
	if err == nil && !found {
		err = errNoRevision
	}
	return sha, err
}

// links makes addresses of pages on the Git host.
func links(cfg *config.Config, db *state.DB) book.Links {
	web := cfg.GitHub.Web()
	return book.Links{
		File: func(repo forge.Repo, sha, path string, line int) string {
			link := web + "/" + repo.String() + "/blob/" + sha + "/" + (&url.URL{Path: path}).EscapedPath()
			if line > 0 {
				link += fmt.Sprintf("#L%d", line)
			}
			return link
		},
		Commit: func(repo forge.Repo, sha string) string { return web + "/" + repo.String() + "/commit/" + sha },
		Thread: func(id state.ReconciliationID) string { return bot.CardURL(db, id) },
		Ticket: func(id state.IncidentID) string {
			in, err := db.Incident(id)
			if err != nil {
				return ""
			}
			return in.Ticket
		},
		Audit: cfg.Audit.Page,
	}
}
