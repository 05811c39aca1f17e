package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const goodTickets = good + `tickets:
- {kind: github, match: ["https://github.com/acme/*/issues/*"], tokenFile: github}
- {kind: jira, url: "https://acme.atlassian.net", user: bot@example.com, match: ["https://acme.atlassian.net/browse/OPS-*"], tokenFile: github}
- {kind: jira, name: old-jira, url: "https://jira.example.com/jira/", match: ["https://jira.example.com/jira/browse/*"], tokenFile: github}
- {kind: pagerduty, url: "https://acme.pagerduty.com", from: bot@example.com, match: ["https://acme.pagerduty.com/incidents/*"], tokenFile: github}
- {kind: webhook, url: "https://hooks.example.com/records", match: ["https://tickets.example.com/**"], tokenFile: hook}
`

// loadTickets loads a config beside whose secrets a webhook's is.
func loadTickets(t *testing.T, text string) (*Config, error) {
	t.Helper()
	path := write(t, text)
	for name, secret := range map[string]string{"hook": "whsec_cmVjb25jaWxlYm90LXRlc3Qtc2VjcmV0LTAxMjM0NTY3", "weak": "whsec_c2hvcnQ="} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), name), []byte(secret+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Load(path, func(name string) string { return env[name] })
}

func TestTickets(t *testing.T) {
	c, err := loadTickets(t, goodTickets)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ name, url, deployment string }{
		{"github", "https://github.com", ""},
		{"jira", "https://acme.atlassian.net", "cloud"},
		{"old-jira", "https://jira.example.com/jira", "datacenter"},
		{"pagerduty", "https://acme.pagerduty.com", ""},
		{"webhook", "https://hooks.example.com/records", ""},
	} {
		got := c.Tickets[i]
		if got.Name != want.name || got.URL != want.url || got.Deployment != want.deployment || len(got.Patterns) != 1 {
			t.Errorf("system %d is %+v, want %+v", i, got, want)
		}
	}
}

func TestMistakesInTickets(t *testing.T) {
	for name, c := range map[string]struct{ old, now, key, say string }{
		"no kind":                       {"- {kind: github, match", "- {match", "tickets[0].kind", "github, jira, pagerduty or webhook"},
		"a kind that nobody knows":      {"kind: pagerduty", "kind: pager", "tickets[3].kind", "choose one of"},
		"two of one name":               {"name: old-jira, ", "", "tickets[2].name", "taken by number 2"},
		"no tickets named":              {`match: ["https://acme.pagerduty.com/incidents/*"], `, "", "tickets[3].match", "https://acme.pagerduty.com/incidents/*"},
		"tickets of any host":           {"https://tickets.example.com/**", "https://*/**", "tickets[4].match[0]", "write it like"},
		"tickets of another host":       {`["https://github.com/acme/*/issues/*"]`, `["https://github.example.com/acme/*/issues/*"]`, "tickets[0].match[0]", "has to begin with that"},
		"a token in clear over http":    {"https://jira.example.com/jira/\"", "http://jira.example.com/jira/\"", "tickets[2].url", "use https"},
		"no user for a Jira Cloud":      {"user: bot@example.com, ", "", "tickets[1].user", "e-mail address"},
		"a user for a Jira Data Center": {"name: old-jira", "name: old-jira, user: bot@example.com", "tickets[2].user", "take it out"},
		"nobody writes the notes":       {"from: bot@example.com, ", "", "tickets[3].from", "in whose name"},
		"no token":                      {"OPS-*\"], tokenFile: github", "OPS-*\"]", "tickets[1].tokenFile", "is missing"},
		"a weak webhook secret":         {"tokenFile: hook", "tokenFile: weak", "tickets[4].token", "openssl"},
		"no webhook secret at all":      {"tokenFile: hook", "tokenFile: github", "tickets[4].tokenFile", "begin with whsec_"},
		"a secret in the text":          {"tokenFile: hook", "tokenFile: whsec_c2hvcnQ=", "tickets[4].tokenFile", "secret in plain text"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(goodTickets, c.old, c.now, 1)
			if text == goodTickets {
				t.Fatalf("%q is not in the config", c.old)
			}
			_, err := loadTickets(t, text)
			var all Problems
			if !errors.As(err, &all) {
				t.Fatalf("Load = %v", err)
			}
			for _, p := range all {
				if p.Key == c.key && strings.Contains(p.Say, c.say) && p.Line > 0 {
					return
				}
			}
			t.Errorf("no problem with %s that says %q in:\n%v", c.key, c.say, all)
		})
	}
}
