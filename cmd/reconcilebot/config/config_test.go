package config

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const good = `state: state.db
slack: {appTokenFile: app, botTokenFile: bot}
clusters:
- name: production-eu
  argocd: {server: "https://argocd.example.com", tokenEnv: ARGOCD}
github: {tokenFile: github}
people:
- {name: alice, slack: U1ALICE, github: alice, kubernetes: [alice@example.com]}
- {name: bob, slack: U1BOB, github: bob}
groups: {platform: [bob]}
policy:
- {targets: ["production-eu/*"], see: [everyone], decide: [alice], approve: {by: [platform]}}
`

var env = map[string]string{"ARGOCD": "argocd-secret-token", "EMPTY": ""}

// write makes a folder with the config and the secrets that it names.
func write(t testing.TB, text string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"config.yaml": text,
		"app":         "xapp-1-secret\n",
		"bot":         "xoxb-secret",
		"github":      "github-secret",
		"blank":       "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "config.yaml")
}

func load(t testing.TB, text string) (*Config, error) {
	t.Helper()
	return Load(write(t, text), func(name string) string { return env[name] })
}

func TestGoodFile(t *testing.T) {
	path := write(t, good)
	c, err := Load(path, func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(filepath.Dir(path), "state.db"); c.State != want {
		t.Errorf("state = %s, want it beside the config: %s", c.State, want)
	}
	if want := filepath.Join(filepath.Dir(path), "git"); c.GitHub.Git.Cache != want {
		t.Errorf("git cache = %s, want it beside the state: %s", c.GitHub.Git.Cache, want)
	}
	if got := c.Clusters[0].ArgoCD; got.Namespace != "argocd" || got.UI != got.Server {
		t.Errorf("argocd = %+v, want the usual namespace, and the server as address for people", got)
	}
	if c.Policy[0].Approve.Count != 1 || c.Timing.PollGitHub != 5*time.Second || c.Slack.Sockets != 2 {
		t.Errorf("defaults are missing in %+v", c)
	}
	if token, err := c.Slack.AppToken.Value(); token != "xapp-1-secret" || err != nil {
		t.Errorf("app token = %q, %v, want it without the line's end", token, err)
	}
	if token, err := c.Clusters[0].ArgoCD.Token.Value(); token != "argocd-secret-token" || err != nil {
		t.Errorf("Argo CD token = %q, %v", token, err)
	}
}

func TestMistakes(t *testing.T) {
	tests := map[string]struct {
		old, now string
		want     []string // LINE: KEY: what the words must contain
	}{
		"a key that nobody knows": {"github: {tokenFile", "github: {tokenFlie: x, tokenFile",
			[]string{"6: github.tokenFlie: did you mean tokenFile?"}},
		"a key at the top that nobody knows":      {"groups:", "team: T1\ngroups:", []string{"10: team: unknown key"}},
		"a token in the text":                     {"appTokenFile: app", "appTokenFile: xapp-1-A-2-abcdef", []string{"2: slack.appTokenFile: secret in plain text"}},
		"an App beside a token":                   {"github: {tokenFile: github", "github: {tokenFile: github, app: {id: 1, keyFile: github}", []string{"6: github.app: keep one of them"}},
		"an App without a key":                    {"github: {tokenFile: github", "github: {app: {clientID: Iv1.5a3}", []string{"6: github.app.keyFile: is missing"}},
		"an App whose key is none":                {"github: {tokenFile: github", "github: {app: {clientID: Iv1.5a3, keyFile: github}", []string{"6: github.app.keyFile: no RSA private key"}},
		"an App that is not named":                {"github: {tokenFile: github", "github: {app: {keyFile: github}", []string{"6: github.app: either clientID or id", "6: github.app.keyFile: no RSA private key"}},
		"an App that is named twice":              {"github: {tokenFile: github", "github: {app: {clientID: Iv1.5a3, id: 1, keyFile: github}", []string{"6: github.app: either clientID or id", "6: github.app.keyFile: no RSA private key"}},
		"a token under its own key":               {"github: {tokenFile: github", "github: {token: hunter2", []string{"6: github.token: tokenFile or", "6: github.tokenFile: is missing"}},
		"a token in an unknown place":             {"state: state.db", "state: state.db\nnote: ghp_0123456789abcdef", []string{"2: note: unknown key"}},
		"a missing token file":                    {"botTokenFile: bot", "botTokenFile: nowhere", []string{"2: slack.botTokenFile: does not exist"}},
		"an empty token file":                     {"botTokenFile: bot", "botTokenFile: blank", []string{"2: slack.botTokenFile: is empty"}},
		"an empty variable":                       {"tokenEnv: ARGOCD", "tokenEnv: EMPTY", []string{"5: clusters[0].argocd.tokenEnv: EMPTY is empty"}},
		"both a file and a variable":              {"tokenEnv: ARGOCD", "tokenEnv: ARGOCD, tokenFile: app", []string{"5: clusters[0].argocd.tokenEnv: keep one"}},
		"Slack's tokens changed places":           {"appTokenFile: app, botTokenFile: bot", "appTokenFile: bot, botTokenFile: app", []string{"2: slack.appTokenFile: begin with xapp-", "2: slack.botTokenFile: begin with xoxb-"}},
		"no state":                                {"state: state.db\n", "", []string{"1: state: is missing"}},
		"a text where a list belongs":             {"[alice@example.com]", "alice@example.com", []string{"8: people[0].kubernetes: should be a list"}},
		"a list where a name belongs":             {"name: alice", "name: [alice]", []string{"8: people[0].name: should be a single value", "12: policy[0].decide[0]: neither"}},
		"a number where a text belongs":           {"name: bob", "name: 7", []string{"9: people[1].name: in quotes", "10: groups.platform[0]: not among", "12: policy[0].approve.count: only 0"}},
		"a key twice":                             {"state: state.db", "state: state.db\nstate: other.db", []string{"2: state: on line 1"}},
		"a time without a unit":                   {"groups:", "timing: {pollGitHub: 5}\ngroups:", []string{`10: timing.pollGitHub: like 90s`}},
		"a time that would hammer GitHub":         {"groups:", "timing: {pollGitHub: 1ms}\ngroups:", []string{"10: timing.pollGitHub: out of bounds"}},
		"stable for longer than is waited":        {"groups:", "timing: {stableFor: 20m}\ngroups:", []string{"10: timing.stableFor: longer than verifyTimeout"}},
		"a server that would get tokens in clear": {"https://argocd", "http://argocd", []string{"5: clusters[0].argocd.server: use https"}},
		"a server with a password in it":          {"https://argocd", "https://a:hunter2@argocd", []string{"5: clusters[0].argocd.server: password"}},
		"a method that GitHub does not know":      {"groups:", "merge: {method: sqash}\ngroups:", []string{"10: merge.method: did you mean squash?"}},
		"a misspelt person in a group":            {"[bob]}", "[bbo]}", []string{`10: groups.platform[0]: did you mean bob?`, "12: policy[0].approve.count: only 0 people"}},
		"a misspelt group in the policy":          {"by: [platform]", "by: [platfrom]", []string{"12: policy[0].approve.by[0]: did you mean platform?", "12: policy[0].approve.count: only 0"}},
		"everyone may approve":                    {"by: [platform]", "by: [everyone, platform]", []string{"12: policy[0].approve.by[0]: everyone cannot approve"}},
		"more approvals than people":              {"by: [platform]", "by: [platform, bob], count: 2", []string{"12: policy[0].approve.count: only 1 people"}},
		"a cluster that is not there":             {"production-eu/*", "produktion-eu/*", []string{"12: policy[0].targets[0]: did you mean production-eu?"}},
		"a pattern without a cluster":             {"production-eu/*", "payments-web", []string{"12: policy[0].targets[0]: CLUSTER/NAME"}},
		"one Slack id for two people":             {"U1BOB", "U1ALICE", []string{"9: people[1].slack: belongs to alice"}},
		"one GitHub login for two people":         {"github: bob", "github: Alice", []string{"9: people[1].github: belongs to alice"}},
		"one Kubernetes user for two people":      {"github: bob", "github: bob, kubernetes: [alice@example.com]", []string{"9: people[1].kubernetes[0]: belongs to alice"}},
		"a group with two lists":                  {"[bob]}", "{members: [bob], slack: S012ABC}}", []string{"10: groups.platform: keep one of"}},
		"a group without any":                     {"[bob]}", "{}}", []string{"10: groups.platform: names nobody", "12: policy[0].approve.count: only 0"}},
		"a Slack group by its name":               {"[bob]}", "{slack: oncall}}", []string{"10: groups.platform.slack: Copy group ID"}},
		"a team without an organisation":          {"[bob]}", "{github: payments}}", []string{"10: groups.platform.github: like acme/payments"}},
		"neither true nor false":                  {"[bob]}", "{codeowners: perhaps}}", []string{"10: groups.platform.codeowners: neither true nor false", "10: groups.platform: names nobody", "12: policy[0].approve.count: only 0"}},
		"everyone may override":                   {"see: [everyone]", "see: [everyone], override: [everyone]", []string{"12: policy[0].override[0]: nor override"}},
		"an approver whom no map knows":           {"by: [platform]", "by: [platform, U1EVE]", []string{"12: policy[0].approve.by[1]: whether a change is their own"}},
		"a group named like a person":             {"groups: {", "groups: {alice: [bob], ", []string{"10: groups.alice: rename one"}},
		"an audit listener for all, without TLS":  {"groups:", "audit: {listen: \"0.0.0.0:8444\", tokenFile: github}\ngroups:", []string{"10: audit.listen: tlsCertFile"}},
		"half a certificate":                      {"groups:", "audit: {listen: \"127.0.0.1:8444\", tokenFile: github, tlsKeyFile: k}\ngroups:", []string{"10: audit: belong together"}},
		"not an address":                          {"state: state.db", "state: state.db\nlisten: everywhere", []string{"2: listen: like 127.0.0.1:8080"}},
		"YAML that is none":                       {"slack: {", "slack: {{", []string{"1: : did not find"}},
		"a tab":                                   {"state: state.db", "\tstate: state.db", []string{"1: : indent with spaces"}},
		"two documents":                           {"groups:", "---\ngroups:", []string{"10: : a second document"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(good, tt.old, tt.now, 1)
			if text == good {
				t.Fatal("the test changes nothing")
			}
			_, err := load(t, text)
			var problems Problems
			if !errors.As(err, &problems) {
				t.Fatalf("error = %v, want problems", err)
			}
			if len(problems) != len(tt.want) {
				t.Errorf("problems:\n%v\nwant %d", problems, len(tt.want))
			}
			for _, want := range tt.want {
				if !has(problems, want) {
					t.Errorf("none of\n%v\nis %s", problems, want)
				}
			}
			for _, secret := range []string{"secret\n", "-secret", "xapp-1-A", "hunter2", "ghp_0"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("%q is in the error:\n%v", secret, err)
				}
			}
		})
	}
}

func TestGroupsOfOthers(t *testing.T) {
	text := strings.Replace(good, "{platform: [bob]}", "{platform: [bob, U1ALICE], slack: {slack: S012ABC}, team: {github: acme/payments}, owners: {codeowners: true}}", 1)
	text = strings.Replace(text, "approve: {by: [platform]}", "pause: [everyone], override: [team, U1BOB], approve: {by: [slack, owners], count: 3}", 1)
	c, err := load(t, strings.Replace(text, "decide: [alice]", "decide: [alice, U1EVE]", 1))
	if err != nil {
		t.Fatal(err)
	}
	if g := c.Groups; len(g["platform"].Members) != 2 || g["slack"].Slack != "S012ABC" || g["team"].GitHub != "acme/payments" || !g["owners"].CodeOwners {
		t.Errorf("groups are %+v", g)
	}
	if r := c.Policy[0]; r.Approve.Count != 3 || !slices.Equal(r.Pause, []string{"everyone"}) || !slices.Equal(r.Override, []string{"team", "U1BOB"}) {
		t.Errorf("the rule is %+v", r)
	}
}

// Whoever checks a policy needs no token; everything else is checked.
func TestWithoutSecrets(t *testing.T) {
	none := func(string) string { return "" }
	path := write(t, strings.Replace(good, "botTokenFile: bot", "botTokenFile: nowhere", 1))
	if _, err := LoadWithoutSecrets(path, none); err != nil {
		t.Errorf("a token that is not there is a mistake: %v", err)
	}
	path = write(t, strings.Replace(good, "by: [platform]", "by: [platfrom]", 1))
	if _, err := LoadWithoutSecrets(path, none); err == nil || !strings.Contains(err.Error(), "did you mean platform?") {
		t.Errorf("error = %v", err)
	}
}

func has(problems Problems, want string) bool {
	at, words := want[:strings.LastIndex(want, ": ")+2], want[strings.LastIndex(want, ": ")+2:]
	return slices.ContainsFunc(problems, func(p Problem) bool {
		return fmt.Sprintf("%d: %s: ", p.Line, p.Key) == at && strings.Contains(p.Say, words)
	})
}

func TestAllMistakesAtOnce(t *testing.T) {
	_, err := load(t, "state: a.db\nlisten: nowhere\nslack: {sockets: 9}\n")
	for _, key := range []string{"listen", "slack.sockets", "slack.appTokenFile", "slack.botTokenFile", "clusters", "github.tokenFile", "people", "policy"} {
		if !strings.Contains(err.Error(), ": "+key+": ") {
			t.Errorf("%s is not named in:\n%v", key, err)
		}
	}
}

func TestNoFileAndEmptyFile(t *testing.T) {
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml"), os.Getenv); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("error = %v", err)
	}
	if _, err := load(t, "# nothing\n"); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("error = %v", err)
	}
}

func TestSecretIsReadAgainAfterRotation(t *testing.T) {
	path := write(t, good)
	c, err := Load(path, func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "bot"), []byte("xoxb-new\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Slack.BotToken.Value(); got != "xoxb-new" || err != nil {
		t.Errorf("token = %q, %v, want the new one", got, err)
	}
}

func TestSecretsHide(t *testing.T) {
	c, err := load(t, good)
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("config", "config", c, "token", c.GitHub.Token)
	for how, text := range map[string]string{"%+v": fmt.Sprintf("%+v", c), "%#v": fmt.Sprintf("%#v", *c), "JSON": string(asJSON), "log": log.String()} {
		if strings.Contains(text, "secret-token") || strings.Contains(text, "-secret") {
			t.Errorf("%s shows a secret: %s", how, text)
		}
	}
}

func TestWebAddressOfTheGitHost(t *testing.T) {
	for api, want := range map[string]string{
		"":                                   "https://github.com",
		"https://api.github.com/":            "https://github.com",
		"https://ghe.example.com/api/v3/":    "https://ghe.example.com",
		"https://ghe.example.com/api/v3":     "https://ghe.example.com",
		"http://127.0.0.1:7412/api/v3/":      "http://127.0.0.1:7412",
		"https://example.com/github/api/v3/": "https://example.com/github",
	} {
		if got := (GitHub{API: api}).Web(); got != want {
			t.Errorf("pages of %q = %q, want %q", api, got, want)
		}
	}
}

// TestExampleLoads reads the example as it is shipped, with the secrets'
// folder put where the test can write.
func TestExampleLoads(t *testing.T) {
	raw, err := os.ReadFile("../../../deploy/base/config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, token := range map[string]string{"slack-app-token": "xapp-1", "slack-bot-token": "xoxb-1", "argocd-token": "x", "github-app.pem": appKey(t)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := strings.ReplaceAll(string(raw), "/etc/reconcilebot/secrets", dir)
	if _, err := load(t, text); err != nil {
		t.Error(err)
	}
}

func appKey(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
}

func FuzzLoad(f *testing.F) {
	f.Add(good)
	f.Add("a: &a [*a]")
	f.Add("people: &x [{name: b, kubernetes: [c]}]\ngroups: {g: *x}")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := load(t, text); err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
	})
}
