package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"
)

// Config is what a client needs.
type Config struct {
	// BaseURL is the REST root, such as https://github.example.com/api/v3/.
	// Empty means github.com.
	BaseURL string
	// Token gives the token at each request, so that one that is renewed on
	// disk is used without a restart. With App it is not used.
	Token func() (string, error)
	// App signs in as a GitHub App, with a token for each owner.
	App *App
	// HTTPClient may be nil. Its Timeout should be set.
	HTTPClient *http.Client
}

// GitHub is a client. It is safe for concurrent use.
type GitHub struct {
	api *github.Client
	app *App // nil with a token
	now func() time.Time
}

// callTimeout bounds a request when the caller brings no client of his own.
const callTimeout = 30 * time.Second

// NewGitHub makes a client. It sends nothing.
func NewGitHub(c Config) (*GitHub, error) {
	tokens := tokens(c.App)
	if c.App == nil {
		if c.Token == nil {
			return nil, errors.New("GitHub client: no token source given")
		}
		tokens = single(c.Token)
	}
	at, err := locate(c.BaseURL)
	if err != nil {
		return nil, err
	}
	client := patient(c.HTTPClient)
	client.Transport = newMemory(authorise{tokens: tokens, at: at, next: client.Transport})
	api, err := at.client(client)
	if err != nil {
		return nil, err
	}
	return &GitHub{api: api, app: c.App, now: time.Now}, nil
}

// place is where a server's REST interface is.
type place struct {
	base         string // "" is github.com
	scheme, host string
	// prefix is the path above it, with slashes at both ends.
	prefix string
}

func locate(base string) (place, error) {
	if base == "" {
		return place{scheme: "https", host: "api.github.com", prefix: "/"}, nil
	}
	u, err := url.Parse(base)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.User != nil {
		return place{}, errors.New("GitHub base URL: want something like https://github.example.com/api/v3/ without user or password")
	}
	api, err := github.NewClient(nil).WithEnterpriseURLs(base, base)
	if err != nil {
		return place{}, fmt.Errorf("GitHub base URL: %w", err)
	}
	return place{base: base, scheme: u.Scheme, host: u.Host, prefix: api.BaseURL.Path}, nil
}

func (p place) client(c *http.Client) (*github.Client, error) {
	if p.base == "" {
		return github.NewClient(c), nil
	}
	return github.NewClient(c).WithEnterpriseURLs(p.base, p.base)
}

// patient is a client of our own, so that the caller's is not changed.
func patient(given *http.Client) *http.Client {
	client := &http.Client{Timeout: callTimeout}
	if given != nil {
		*client = *given
	}
	if client.Transport == nil {
		client.Transport = http.DefaultTransport
	}
	return client
}

// Whoami tells whose token this is. Scopes are empty for fine-grained tokens,
// which do not have any, and for an App, which is known as "name[bot]".
func (g *GitHub) Whoami(ctx context.Context) (login string, scopes []string, err error) {
	if g.app != nil {
		slug, err := g.app.Slug(ctx)
		return slug + "[bot]", nil, err
	}
	user, resp, err := g.api.Users.Get(ctx, "")
	if err != nil {
		return "", nil, fmt.Errorf("ask GitHub whose token this is: %w", g.sort(err))
	}
	for _, s := range strings.Split(resp.Header.Get("X-OAuth-Scopes"), ",") {
		if s = strings.TrimSpace(s); s != "" {
			scopes = append(scopes, s)
		}
	}
	return user.GetLogin(), scopes, nil
}

// CanWrite tells whether the token may push to the repository. It says
// nothing about protected branches.
func (g *GitHub) CanWrite(ctx context.Context, repo Repo) (bool, error) {
	r, err := g.repository(ctx, repo)
	if err != nil {
		return false, err
	}
	if g.app != nil {
		// What GitHub says of an App's role in a repository is always no.
		rights, err := g.app.Rights(ctx, repo.Owner)
		return rights.Has("contents", "write"), err
	}
	return r.GetPermissions()["push"], nil
}

func (g *GitHub) repository(ctx context.Context, repo Repo) (*github.Repository, error) {
	r, _, err := g.api.Repositories.Get(ctx, repo.Owner, repo.Name)
	if status(err) == http.StatusNotFound {
		return nil, fmt.Errorf("read repository %s: it does not exist or the token may not see it: %w", repo, err)
	}
	if err != nil {
		return nil, fmt.Errorf("read repository %s: %w", repo, g.sort(err))
	}
	return r, nil
}

// TeamMembers lists the logins of a team, child teams included.
func (g *GitHub) TeamMembers(ctx context.Context, org, team string) ([]string, error) {
	logins := []string{}
	opts := &github.TeamListTeamMembersOptions{ListOptions: github.ListOptions{PerPage: 100}}
	for {
		page, resp, err := g.api.Teams.ListTeamMembersBySlug(ctx, org, team, opts)
		if err != nil {
			return nil, fmt.Errorf("list members of team @%s/%s: %w", org, team, g.sort(err))
		}
		for _, u := range page {
			logins = append(logins, u.GetLogin())
		}
		if resp.NextPage == 0 {
			return logins, nil
		}
		opts.Page = resp.NextPage
	}
}
