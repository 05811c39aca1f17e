package commands

import (
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"reconcilebot/runbook/fault"
)

var update = flag.Bool("update", false, "write deploy/slack/manifest.yaml anew")

func TestManifestIsTheOneThatIsDeployed(t *testing.T) {
	const path = "../deploy/slack/manifest.yaml"
	if *update {
		if err := os.WriteFile(path, []byte(Manifest()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	deployed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(deployed) != Manifest() {
		t.Errorf("%s is not what the table makes; write it with go test ./commands -update", path)
	}
	var m struct {
		Features struct {
			Commands []struct {
				Hint   string `yaml:"usage_hint"`
				Escape bool   `yaml:"should_escape"`
			} `yaml:"slash_commands"`
		}
	}
	if err := yaml.Unmarshal([]byte(Manifest()), &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Features.Commands) != 1 || !m.Features.Commands[0].Escape {
		t.Fatalf("the slash command is not as it should be: %+v", m.Features.Commands)
	}
	hint := m.Features.Commands[0].Hint
	for _, r := range table() {
		if !strings.Contains(hint, r.usage) {
			t.Errorf("the hint leaves out %q", r.usage)
		}
	}
	// https://docs.slack.dev/reference/app-manifest
	if utf8.RuneCountInString(hint) > 1000 {
		t.Errorf("the hint has %d characters", utf8.RuneCountInString(hint))
	}
}

// Every row has to explain itself, and its examples have to work.
func TestRows(t *testing.T) {
	rows := table()
	for _, r := range rows {
		if !strings.HasPrefix(r.usage, r.name) || r.summary == "" || len(r.examples) == 0 || r.parse == nil {
			t.Errorf("%s: something is missing in its row", r.name)
		}
		for _, example := range r.examples {
			row, what, err := parse(rows, example, "")
			if err != nil || row.name != r.name {
				t.Errorf("example %q: %v", example, err)
				continue
			}
			// The rights on a target are checked only where one is named.
			if what.about() != "" && !row.who.OnTarget() {
				t.Errorf("%q names a target and asks for no right on it", example)
			}
		}
	}
}

func TestParse(t *testing.T) {
	tests := map[string]struct {
		text string
		want act
	}{
		"nothing is help":              {"", asked{}},
		"help":                         {"help", asked{}},
		"help on one":                  {"help Drift", asked{"drift"}},
		"drift of one":                 {"drift payments-web", look{"payments-web"}},
		"the verb's case is no matter": {"Drift payments-web", look{"payments-web"}},
		"drift of all":                 {"drift all", lookAround{}},
		"drift alone means all":        {"drift", lookAround{}},
		"adopt":                        {"adopt web because slow", takeTo{"adopt", "web", "slow", ""}},
		"revert":                       {"revert web because “over”", takeTo{"revert", "web", "over", ""}},
		"rollback of the last":         {"rollback web because wrong", undo{"web", "", "wrong"}},
		"rollback of one":              {"rollback web 9AB04F1 because wrong", undo{"web", "9ab04f1", "wrong"}},
		"adopt of some":                {"adopt web deploy/web spec.replicas because slow", takeTo{"adopt", "web", "slow", "deploy/web spec.replicas"}},
		"change":                       {"change web deploy/web spec.replicas=6 because slow", alter{"web", "deploy/web", "spec.replicas=6", "slow"}},
		"change of two, one a link":    {"change web deploy/web replicas=6 image=<http://r.example.com/web:1|r.example.com/web:1> because slow", alter{"web", "deploy/web", "replicas=6\nimage=r.example.com/web:1", "slow"}},
		"pause":                        {"pause web 45m because “slow”", halt{"web", 45 * time.Minute, false, "slow"}},
		"pause in minutes":             {"pause web 90 because slow", halt{"web", 90 * time.Minute, false, "slow"}},
		"pause with what is above":     {"pause web 1h30m With parents because slow", halt{"web", 90 * time.Minute, true, "slow"}},
		"extend":                       {"extend web 30m", prolong{"web", 30 * time.Minute, ""}},
		"resume":                       {"resume web because over", resume{"web", "over"}},
		"status":                       {"status", board{}},
		"status of one":                {"status web", stands{"web"}},
		"who":                          {"who web", trace{"web", ""}},
		"who of one object":            {"who web deployment/web", trace{"web", "deployment/web"}},
		"orphans":                      {"orphans web", strays{"web"}},
		"orphans of a cluster":         {"orphans all production-eu", straysAround{"production-eu"}},
		"summary":                      {"summary", summary{}},
		"incident":                     {"incident INC-1234", bind{id: "INC-1234"}},
		"incident with its ticket":     {"incident INC-1234 <https://t.example.com/OPS-991>", bind{"INC-1234", "https://t.example.com/OPS-991"}},
		"incident with two":            {"incident INC-1234 https://t.example.com/OPS-991 https://p.example.com/incidents/Q1", bind{"INC-1234", "https://t.example.com/OPS-991 https://p.example.com/incidents/Q1"}},
		"which incident":               {"incident", bound{}},
		"the incident's end":           {"incident close", unbind{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, got, err := parse(table(), tt.text, "")
			if err != nil || got != tt.want {
				t.Errorf("parse(%q) = %#v, %v, want %#v", tt.text, got, err, tt.want)
			}
		})
	}
}

// Whatever is typed is a typed request or a refusal with words; nothing that
// can't be seen gets into a request.
func FuzzParse(f *testing.F) {
	rows := table()
	for _, r := range rows {
		for _, example := range r.examples {
			f.Add(example, "")
			f.Add(example, "production-eu/argocd/payments-web")
		}
	}
	for _, odd := range []string{"adopt “web” because <@U1|x>", "pause web 45m with parents because x", "incident INC-1 <https://x.example|y>", "/drift\u00a0web", "DRIFT \u202eweb", "drift '", "because because"} {
		f.Add(odd, "")
	}
	f.Fuzz(func(t *testing.T, text, target string) {
		row, what, err := parse(rows, text, target)
		switch {
		case err != nil && (fault.Of(err) != fault.Invalid || fault.Say(err, "") == ""):
			t.Fatalf("parse(%q): %v has no answer for people", text, err)
		case err == nil && (what == nil || row.name == ""):
			t.Fatalf("parse(%q) is neither a request nor a refusal", text)
		}
		if err != nil {
			return
		}
		again, same, err := parse(rows, text, target)
		if err != nil || again.name != row.name || !reflect.DeepEqual(same, what) {
			t.Fatalf("parse(%q) is not the same twice: %#v, %#v, %v", text, what, same, err)
		}
	})
}

func TestParseRefuses(t *testing.T) {
	tests := map[string]struct{ text, says string }{
		"a slip of the fingers":        {"drfit web", "Did you mean drift?"},
		"a slip in help":               {"helo", "Did you mean help?"},
		"a word that means nothing":    {"deploy web", "help lists them all"},
		"adopt without a reason":       {"adopt web", "Say why"},
		"adopt with an empty reason":   {"adopt web because  ", "Say why"},
		"adopt of nothing":             {"adopt because slow", "for example"},
		"drift of two":                 {"drift a b", "for example"},
		"a pause without a reason":     {"pause web 45m", "Say why"},
		"a pause without a length":     {"pause web because slow", "for example"},
		"a pause of no length":         {"pause web soon because slow", "not a length of time"},
		"a pause for too long":         {"pause web 25h because slow", "can be extended"},
		"a pause for no time":          {"pause web 1s because slow", "lasts from"},
		"a pause that ends before":     {"pause web -45m because slow", "lasts from"},
		"a pause beyond counting":      {"pause web 9999999999h because slow", "not a length of time"},
		"an extension by nothing":      {"extend web", "for example"},
		"resuming two":                 {"resume a b", "for example"},
		"close, misspelt":              {"incident closse", "no incident's name"},
		"an incident with a slash":     {"incident a/1", "no incident's name"},
		"a ticket with a password":     {"incident INC-1 https://a:b@t.example.com", "without a password"},
		"a ticket that is no address":  {"incident INC-1 javascript:alert(1)", "web address"},
		"an incident with three words": {"incident INC-1 https://t.example.com x", "for example"},
		"summary of something":         {"summary web", "for example"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := parse(table(), tt.text, "")
			if fault.Of(err) != fault.Invalid || !strings.Contains(fault.Say(err, ""), tt.says) {
				t.Errorf("parse(%q) = %v, want it to say %q", tt.text, err, tt.says)
			}
		})
	}
}
