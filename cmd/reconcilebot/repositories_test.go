package main

import (
	"testing"

	"reconcilebot/cmd/reconcilebot/config"
	"reconcilebot/runbook/forge"
)

// TestTokenGoesToItsHostOnly: addresses of repositories come from
// Applications. One that names somebody else's server must not get the token.
func TestTokenGoesToItsHostOnly(t *testing.T) {
	const web = "https://ghe.example.com"
	tests := map[string]struct {
		address, opened string
		token           bool
	}{
		"the host's own":                   {web + "/acme/gitops.git", web + "/acme/gitops.git", true},
		"without .git":                     {web + "/acme/gitops", web + "/acme/gitops.git", true},
		"in other letters":                 {"https://GHE.example.com/acme/gitops.git", web + "/acme/gitops.git", true},
		"by ssh":                           {"ssh://git@ghe.example.com:22/acme/gitops.git", web + "/acme/gitops.git", true},
		"by ssh, in short":                 {"git@ghe.example.com:acme/gitops.git", web + "/acme/gitops.git", true},
		"somebody else's":                  {"https://evil.example.com/acme/gitops.git", "https://evil.example.com/acme/gitops.git", false},
		"somebody else's, by a like name":  {"https://ghe.example.com.evil.com/a/b.git", "https://ghe.example.com.evil.com/a/b.git", false},
		"somebody else's, with our name":   {"https://ghe.example.com@evil.com/a/b.git", "https://ghe.example.com@evil.com/a/b.git", false},
		"another port of the host":         {"https://ghe.example.com:8443/a/b.git", "https://ghe.example.com:8443/a/b.git", false},
		"in the clear to the same host":    {"http://ghe.example.com/acme/gitops.git", web + "/acme/gitops.git", true},
		"the host's, but not a repository": {web + "/acme", web + "/acme", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := newRepositories(config.GitHub{API: web + "/api/v3/"}, &gitHost{}).config(tt.address)
			if c.URL != tt.opened || (c.Token != nil) != tt.token {
				t.Errorf("%s is opened as %s, with the token: %v; want %s, %v", tt.address, c.URL, c.Token != nil, tt.opened, tt.token)
			}
		})
	}
}

func TestLinks(t *testing.T) {
	l := links(&config.Config{}, nil)
	repo := forge.Repo{Owner: "acme", Name: "gitops"}
	if got, want := l.File(repo, "abc", "overlays/prod #1/a.yaml", 9), "https://github.com/acme/gitops/blob/abc/overlays/prod%20%231/a.yaml#L9"; got != want {
		t.Errorf("file: %s, want %s", got, want)
	}
	if got, want := l.Commit(repo, "abc"), "https://github.com/acme/gitops/commit/abc"; got != want {
		t.Errorf("commit: %s, want %s", got, want)
	}
}
