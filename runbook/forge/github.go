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
	// disk is used without a restart.
	Token func() (string, error)
	// HTTPClient may be nil. Its Timeout should be set.
	HTTPClient *http.Client
}

// GitHub is a client. It is safe for concurrent use.
type GitHub struct {
	api *github.Client
	now func() time.Time
}

// callTimeout bounds a request when the caller brings no client of his own.
const callTimeout = 30 * time.Second

// NewGitHub makes a client. It sends nothing.
func NewGitHub(c Config) (*GitHub, error) {
	if c.Token == nil {
		return nil, errors.New("GitHub client: no token source given")
	}
	client := &http.Client{Timeout: callTimeout}
	if c.HTTPClient != nil {
		*client = *c.HTTPClient
	}
	if client.Transport == nil {
		client.Transport = http.DefaultTransport
	}
	scheme, host := "https", "api.github.com"
	if c.BaseURL != "" {
		u, err := url.Parse(c.BaseURL)
		if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.User != nil {
			return nil, fmt.Errorf("GitHub base URL: want something like https://github.example.com/api/v3/ without user or password")
		}
		scheme, host = u.Scheme, u.Host
	}
	client.Transport = newMemory(authorise{token: c.Token, scheme: scheme, host: host, next: client.Transport})
	api := github.NewClient(client)
	if c.BaseURL != "" {
		var err error
		if api, err = api.WithEnterpriseURLs(c.BaseURL, c.BaseURL); err != nil {
			return nil, fmt.Errorf("GitHub base URL: %w", err)
		}
	}
	return &GitHub{api: api, now: time.Now}, nil
}

// Whoami tells whose token this is. Scopes are empty for fine-grained tokens,
// which do not have any.
func (g *GitHub) Whoami(ctx context.Context) (login string, scopes []string, err error) {
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
