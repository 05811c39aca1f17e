package forge

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"
)

// Config is how to reach the host.
type Config struct {
	// BaseURL is the REST address of a GitHub Enterprise Server, such as
	// https://ghe.example.com/api/v3/; empty for github.com.
	BaseURL string
	// Token gives the token; it is asked for each request, so that a rotated
	// one is used at once.
	Token func() (string, error)
	// HTTPClient carries proxies and certificate authorities; its Transport is
	// used. Nil for the standard one.
	HTTPClient *http.Client
}

// GitHub is a client. It is safe for concurrent use.
type GitHub struct {
	api *github.Client
	mem *memory
}

// NewGitHub makes a client; it asks nothing yet.
func NewGitHub(c Config) (*GitHub, error) {
	base := http.DefaultTransport
	timeout := 30 * time.Second
	if c.HTTPClient != nil {
		if c.HTTPClient.Transport != nil {
			base = c.HTTPClient.Transport
		}
		if c.HTTPClient.Timeout > 0 {
			timeout = c.HTTPClient.Timeout
		}
	}
	mem := &memory{base: &signer{base: base, token: c.Token}, kept: map[string]answer{}}
	api := github.NewClient(&http.Client{Transport: mem, Timeout: timeout})
	if c.BaseURL != "" {
		var err error
		if api, err = api.WithEnterpriseURLs(c.BaseURL, c.BaseURL); err != nil {
			return nil, fmt.Errorf("use the GitHub address %q: %w", c.BaseURL, err)
		}
	}
	return &GitHub{api: api, mem: mem}, nil
}

// signer puts the token on each request, and on none to another host: a
// redirect elsewhere must not carry it.
type signer struct {
	base  http.RoundTripper
	token func() (string, error)
}

func (s *signer) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.token == nil || r.Response != nil && r.Response.Request.URL.Host != r.URL.Host {
		return s.base.RoundTrip(r)
	}
	token, err := s.token()
	if err != nil {
		return nil, fmt.Errorf("read the GitHub token: %w", err)
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(token))
	return s.base.RoundTrip(r)
}

// Whoami says whose token it is, and its scopes. A fine-grained token or an
// App has none.
func (g *GitHub) Whoami(ctx context.Context) (login string, scopes []string, err error) {
	user, resp, err := g.api.Users.Get(ctx, "")
	if err != nil {
		return "", nil, classify("ask GitHub whose token this is", err)
	}
	for scope := range strings.SplitSeq(resp.Header.Get("X-OAuth-Scopes"), ",") {
		if scope = strings.TrimSpace(scope); scope != "" {
			scopes = append(scopes, scope)
		}
	}
	return user.GetLogin(), scopes, nil
}

// CanWrite tells whether the token may push branches to a repository.
func (g *GitHub) CanWrite(ctx context.Context, repo Repo) (bool, error) {
	r, _, err := g.api.Repositories.Get(ctx, repo.Owner, repo.Name)
	if err != nil {
		return false, classify(fmt.Sprintf("read the rights on %s", repo), err)
	}
	return r.GetPermissions()["push"], nil
}

// TeamMembers lists the logins of a team.
func (g *GitHub) TeamMembers(ctx context.Context, org, team string) (logins []string, err error) {
	opts := &github.TeamListTeamMembersOptions{ListOptions: github.ListOptions{PerPage: 100}}
	for {
		page, resp, err := g.api.Teams.ListTeamMembersBySlug(ctx, org, team, opts)
		if err != nil {
			return nil, classify(fmt.Sprintf("list the members of %s/%s", org, team), err)
		}
		for _, user := range page {
			logins = append(logins, user.GetLogin())
		}
		if resp.NextPage == 0 {
			return logins, nil
		}
		opts.Page = resp.NextPage
	}
}
