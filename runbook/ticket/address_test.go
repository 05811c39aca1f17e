package ticket

import (
	"strings"
	"testing"
)

func TestPatternsThatCannotBeMeant(t *testing.T) {
	for _, text := range []string{"", "*", "https://*", "https://*/x", "https://*.com/x", "github.com/acme/*", "https://github.com", "ftp://x.example.com/*", "https://git*.com/x", "https://a.example.com/{a,b}", "https://user@x.example.com/*", "https://x.example.com/?a=*"} {
		if p, err := ParsePattern(text); err == nil {
			t.Errorf("%q was taken as %v", text, p)
		}
	}
}

func TestAddressesThatAPatternCovers(t *testing.T) {
	for name, c := range map[string]struct {
		pattern, address string
		want             bool
	}{
		"issue":                     {"https://github.com/acme/*/issues/*", "https://github.com/acme/ops/issues/7", true},
		"with a fragment":           {"https://github.com/acme/*/issues/*", "https://github.com/acme/ops/issues/7#issuecomment-1", true},
		"with a query":              {"https://acme.atlassian.net/browse/OPS-*", "https://acme.atlassian.net/browse/OPS-7?focusedId=1", true},
		"host in capitals":          {"https://github.com/acme/*/issues/*", "https://GitHub.com/acme/ops/issues/7", true},
		"slash at the end":          {"https://github.com/acme/*/issues/*", "https://github.com/acme/ops/issues/7/", true},
		"subdomain":                 {"https://*.pagerduty.com/incidents/*", "https://acme.pagerduty.com/incidents/Q1", true},
		"two stars":                 {"https://tickets.example.com/**", "https://tickets.example.com/a/b/c", true},
		"another organisation":      {"https://github.com/acme/*/issues/*", "https://github.com/mallory/ops/issues/7", false},
		"host that begins the same": {"https://github.com/acme/*/issues/*", "https://github.com.evil.example/acme/ops/issues/7", false},
		"plain http":                {"https://github.com/acme/*/issues/*", "http://github.com/acme/ops/issues/7", false},
		"with a user":               {"https://github.com/acme/*/issues/*", "https://github.com@evil.example/acme/ops/issues/7", false},
		"escaped slash":             {"https://github.com/acme/*/issues/*", "https://github.com/acme/ops%2f..%2f/issues/7", false},
		"dots":                      {"https://github.com/acme/*/issues/*", "https://github.com/acme/../issues/7", false},
		"backslash":                 {"https://github.com/acme/*/issues/*", `https://github.com/acme\ops/issues/7`, false},
		"a star in the address":     {"https://github.com/acme/*/issues/*", "https://github.com/acme/*/issues/7", false},
		"one star, two folders":     {"https://tickets.example.com/*", "https://tickets.example.com/a/b", false},
	} {
		t.Run(name, func(t *testing.T) {
			list, err := ParsePatterns([]string{c.pattern})
			if err != nil {
				t.Fatal(err)
			}
			if got := list.allowed(c.address); got != c.want {
				t.Errorf("%s covers %s: %v, want %v", c.pattern, c.address, got, c.want)
			}
		})
	}
}

// FuzzAddress looks for an address that leaves the host of the pattern.
func FuzzAddress(f *testing.F) {
	for _, seed := range []string{"https://github.com/acme/ops/issues/7", "https://github.com@evil/acme/x/issues/1", "https://github.com/acme/%2e%2e/issues/1"} {
		f.Add(seed)
	}
	list, err := ParsePatterns([]string{"https://github.com/acme/*/issues/*"})
	if err != nil {
		f.Fatal(err)
	}
	g := &GitHub{c: GitHubConfig{Patterns: list}}
	f.Fuzz(func(t *testing.T, address string) {
		if !g.Takes(address) {
			return
		}
		ref, _ := g.ref(address)
		if ref.owner != "acme" || ref.number < 1 || strings.ContainsAny(ref.repo, "/%\\?#") || ref.repo == ".." {
			t.Errorf("%q became %+v", address, ref)
		}
	})
}
