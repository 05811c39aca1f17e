package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const inGit = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  replicas: 2 # two are enough
  template:
    spec:
      containers:
        - name: web
          image: example.test/web:1
`

// proposeIn runs propose on a tree with these files.
func proposeIn(t *testing.T, files map[string]string, live string, more ...string) (code int, out, say, repo string) {
	t.Helper()
	dir := t.TempDir()
	repo = filepath.Join(dir, "repo")
	for name, content := range files {
		file := filepath.Join(repo, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	liveFile := filepath.Join(dir, "live.yaml")
	if err := os.WriteFile(liveFile, []byte(live), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	args := append([]string{"propose", "--repo", repo, "--path", "apps/web", "--live", liveFile}, more...)
	code = run(t.Context(), args, func(string) string { return "" }, &stdout, &stderr)
	return code, stdout.String(), stderr.String(), repo
}

func TestPropose(t *testing.T) {
	scaled := strings.Replace(inGit, "replicas: 2", "replicas: 5", 1)
	defaulted := strings.Replace(inGit, "  template:", "  revisionHistoryLimit: 10\n  template:", 1) + "          imagePullPolicy: Always\nstatus: {}\n"
	for name, tc := range map[string]struct {
		extra   map[string]string
		live    string
		more    []string
		code    int
		verdict string
		edits   int
		content string
	}{
		"scaled by hand":           {live: scaled, verdict: "proven", edits: 1},
		"as in Git, with defaults": {live: defaulted, verdict: "nothing"},
		"only what is selected":    {live: scaled, more: []string{"--select", "Deployment/shop/web:spec.template"}, verdict: "nothing"},
		"a whole list item":        {live: scaled + "        - name: side\n          image: x\n", verdict: "proven", edits: 1, content: scaled + "        - name: side\n          image: x\n"},
		"a Kustomize directory":    {live: scaled, extra: map[string]string{"apps/web/kustomization.yaml": "resources: [web.yaml]\n"}, verdict: "proven", edits: 1},
		"a base of another":        {live: scaled, extra: map[string]string{"prod/kustomization.yaml": "resources: [../apps/web/web.yaml]\n"}, code: exitRefused, verdict: "refused"},
		"an unreadable neighbour":  {live: scaled, extra: map[string]string{"prod/kustomization.yaml": "resources: ["}, code: exitRefused, verdict: "refused"},
		"another one's base":       {live: scaled, extra: map[string]string{"prod/kustomization.yaml": "resources: [../apps/api]\n"}, verdict: "proven", edits: 1},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"apps/web/web.yaml": inGit, "apps/api/kustomization.yaml": "{}\n"}
			for file, content := range tc.extra {
				files[file] = content
			}
			code, out, say, repo := proposeIn(t, files, tc.live, append(tc.more, "-o", "json")...)
			var got struct {
				Verdict string
				Edits   []struct{ File, Content string }
			}
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatalf("%v in %q; it said %q", err, out, say)
			}
			if code != tc.code || got.Verdict != tc.verdict || len(got.Edits) != tc.edits {
				t.Errorf("got exit %d, %s, %d edits; want %d, %s, %d: %s", code, got.Verdict, len(got.Edits), tc.code, tc.verdict, tc.edits, out)
			}
			if tc.content == "" {
				tc.content = scaled
			}
			if tc.edits > 0 && got.Edits[0].Content != tc.content {
				t.Errorf("the file would be %q", got.Edits[0].Content)
			}
			if raw, _ := os.ReadFile(filepath.Join(repo, "apps/web/web.yaml")); string(raw) != inGit {
				t.Error("the tree was written to without --write")
			}
		})
	}
}

func TestProposeWrites(t *testing.T) {
	scaled := strings.Replace(inGit, "replicas: 2", "replicas: 5", 1)
	code, out, say, repo := proposeIn(t, map[string]string{"apps/web/web.yaml": inGit}, scaled, "--write", "-o", "patch")
	if code != exitDone || !strings.Contains(out, "+  replicas: 5 # two are enough") {
		t.Errorf("exit %d, %q, %q", code, out, say)
	}
	if raw, _ := os.ReadFile(filepath.Join(repo, "apps/web/web.yaml")); string(raw) != scaled {
		t.Errorf("the file is %q", raw)
	}
}

func TestProposeKeepsSecrets(t *testing.T) {
	const secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\n  namespace: shop\ndata:\n  password: "
	live := secret + "bmV3LXdvcmQ=\n"
	for _, format := range []string{"text", "json", "patch"} {
		code, out, say, _ := proposeIn(t, map[string]string{"apps/web/db.yaml": secret + "b2xkLXdvcmQ=\n"}, live, "-o", format)
		if code != exitRefused || strings.Contains(out+say, "d29yZ") || strings.Contains(out+say, "LXdvcmQ") {
			t.Errorf("exit %d, %q, %q", code, out, say)
		}
	}
}

func TestProposeSaysWhatIsWrong(t *testing.T) {
	for name, tc := range map[string]struct {
		more []string
		code int
		say  string
	}{
		"two places to render":   {[]string{"--target", "app.yaml"}, exitNotSaid, "either --target FILE or --path"},
		"an unknown format":      {[]string{"-o", "xml"}, exitNotSaid, "text, json or patch"},
		"an object nobody knows": {[]string{"--select", "Deployment/shop/wbe"}, exitFailed, "names no object"},
		"a path that is none":    {[]string{"--select", "Deployment/shop/web:spec..x"}, exitFailed, "--select"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, say, _ := proposeIn(t, map[string]string{"apps/web/web.yaml": inGit}, strings.Replace(inGit, "2", "3", 1), tc.more...)
			if code != tc.code || !strings.Contains(say, tc.say) {
				t.Errorf("exit %d, %q", code, say)
			}
		})
	}
}
