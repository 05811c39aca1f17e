package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"reconcilebot/runbook/forge"
)

// The example that is deployed can be asked about as it is, without a token
// and without reaching anybody.
func TestPolicyOfTheExample(t *testing.T) {
	const example = "../../deploy/base/config.yaml"
	for name, tt := range map[string]struct {
		args []string
		code int
		says string
	}{
		"allowed":      {[]string{"--user", "bob", "--command", "approve", "--target", "production-eu/payments-web", "--asked-by", "alice", "--made-by", "alice"}, exitDone, "allowed: bob may approve"},
		"refused":      {[]string{"--user", "alice", "--command", "approve", "--target", "production-eu/payments-web"}, exitRefused, "@payments-owners and @platform can."},
		"as JSON":      {[]string{"--user", "alice", "--command", "adopt", "--target", "payments-web", "-o", "json"}, exitDone, `"allowed":true`},
		"a slip":       {[]string{"--user", "alcie", "--command", "adopt", "--target", "payments-web"}, exitFailed, "did you mean alice?"},
		"half of it":   {[]string{"--user", "alice"}, exitNotSaid, "--command WORD"},
		"other format": {[]string{"--user", "a", "--command", "b", "--target", "c", "-o", "xml"}, exitNotSaid, "text or json"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			args := append([]string{"policy", "test", "--config", example}, tt.args...)
			if code := run(t.Context(), args, func(string) string { return "" }, &out, &out); code != tt.code || !strings.Contains(out.String(), tt.says) {
				t.Errorf("code %d, want %d, and %q in:\n%s", code, tt.code, tt.says, out.String())
			}
		})
	}
	var out strings.Builder
	if code := run(t.Context(), []string{"policy", "tset"}, os.Getenv, &out, &out); code != exitNotSaid || !strings.Contains(out.String(), "policy test") {
		t.Errorf("code %d: %s", code, out.String())
	}
	bad := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(bad, []byte("policy: 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code := run(t.Context(), []string{"policy", "test", "--config", bad, "--user", "a", "--command", "b", "--target", "c"}, os.Getenv, &out, &out); code != exitFailed || !strings.Contains(out.String(), bad+":1: policy: should be a list") {
		t.Errorf("code %d: %s", code, out.String())
	}
}

func TestOwnersOfAll(t *testing.T) {
	rules := []byte("* @acme/platform\n/overlays/ @Bob @acme/payments\n/overlays/prod/secret.yaml @acme/security @bob\n/overlays/open.yaml\n")
	tree := fstest.MapFS{".github/CODEOWNERS": {Data: rules}, "overlays/prod/web.yaml": {}, "overlays/prod/secret.yaml": {}, "overlays/prod/README.md": {}, "base/web.json": {}}
	read, err := forge.Codeowners(tree)
	if err != nil || string(read) != string(rules) {
		t.Fatalf("read %q, %v", read, err)
	}
	for name, tt := range map[string]struct {
		dir  string
		want []string
	}{
		"what all files share": {"overlays/prod", []string{"@bob"}},
		"one file":             {"/base/", []string{"@acme/platform"}},
		"the whole tree":       {"", nil},
	} {
		files, err := manifests(tree, tt.dir)
		if got := ownersOfAll(rules, files); err != nil || !slices.Equal(got, tt.want) && len(got)+len(tt.want) > 0 {
			t.Errorf("%s: %q of %q, %v, want %q", name, got, files, err, tt.want)
		}
	}
	if got := ownersOfAll(rules, []string{"overlays/prod/web.yaml", "overlays/open.yaml"}); len(got) != 0 {
		t.Errorf("a file that nobody owns is owned by %q", got)
	}
	if _, err := manifests(tree, "nowhere"); err == nil {
		t.Error("a folder that is not there has no manifests, and no error")
	}
	if none, err := forge.Codeowners(fstest.MapFS{}); none != nil || err != nil {
		t.Errorf("no file is read as %q, %v", none, err)
	}
}
