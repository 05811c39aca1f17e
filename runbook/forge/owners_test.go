package forge

import (
	"slices"
	"testing"
)

func TestOwners(t *testing.T) {
	for name, c := range map[string]struct {
		rules, file string
		want        []string
	}{
		"everybody's file":                        {"* @acme/all", "a/b.yaml", []string{"@acme/all"}},
		"the last match counts":                   {"* @acme/all\n/prod/ @acme/prod", "prod/web.yaml", []string{"@acme/prod"}},
		"the last match may name nobody":          {"* @acme/all\n/prod/free.yaml", "prod/free.yaml", nil},
		"a folder at the root":                    {"/overlays/prod/web/ @acme/pay", "overlays/prod/web/deployment.yaml", []string{"@acme/pay"}},
		"a folder at the root is not deeper":      {"/prod/ @p", "overlays/prod/x.yaml", nil},
		"a folder anywhere":                       {"prod/ @p", "overlays/prod/x.yaml", []string{"@p"}},
		"a folder pattern is no file":             {"prod/ @p", "overlays/prod", nil},
		"an extension anywhere":                   {"*.yaml @y", "a/b/c.yaml", []string{"@y"}},
		"one level only":                          {"docs/* @d", "docs/a/b.md", nil},
		"one level":                               {"docs/* @d", "docs/b.md", []string{"@d"}},
		"any depth in the middle":                 {"apps/**/prod.yaml @p", "apps/a/b/prod.yaml", []string{"@p"}},
		"any depth matches none":                  {"apps/**/prod.yaml @p", "apps/prod.yaml", []string{"@p"}},
		"any depth at the end":                    {"/apps/** @p", "apps/a/b", []string{"@p"}},
		"any depth at the start":                  {"**/logs @l", "build/logs/x", []string{"@l"}},
		"a name covers what is in it":             {"/apps/web @w", "apps/web/x.yaml", []string{"@w"}},
		"comments and several owners":             {"# all\n*.yaml @a me@example.com # and why", "x.yaml", []string{"@a", "me@example.com"}},
		"an escaped blank":                        {`/my\ app/ @a`, "my app/x", []string{"@a"}},
		"negation is not known and skipped":       {"* @a\n!x.yaml @b", "x.yaml", []string{"@a"}},
		"character ranges are not known, skipped": {"* @a\n[x].yaml @b", "x.yaml", []string{"@a"}},
		"no rules":                                {"", "x", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Owners([]byte(c.rules), c.file); !slices.Equal(got, c.want) {
				t.Errorf("Owners(%q, %q) = %q, want %q", c.rules, c.file, got, c.want)
			}
		})
	}
}

func TestParseRepo(t *testing.T) {
	for url, want := range map[string]string{
		"https://github.com/acme/gitops.git":      "acme/gitops",
		"https://ghe.example.com/acme/gitops":     "acme/gitops",
		"git@github.com:acme/gitops.git":          "acme/gitops",
		"ssh://git@github.com/acme/gitops.git":    "acme/gitops",
		"http://127.0.0.1:3000/acme/gitops.git/":  "acme/gitops",
		"https://user:secret@example.com/a/b.git": "a/b",
		"https://example.com/only":                "",
		"nonsense":                                "",
		"file:///srv/git/gitops.git":              "",
	} {
		repo, err := ParseRepo(url)
		if want == "" {
			if err == nil {
				t.Errorf("ParseRepo(%q) = %s, want an error", url, repo)
			}
			continue
		}
		if err != nil || repo.String() != want {
			t.Errorf("ParseRepo(%q) = %s, %v, want %s", url, repo, err, want)
		}
	}
}
