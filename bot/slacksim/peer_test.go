package slacksim

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Slack's own library in the release that the local Slack was held against,
// and the HTTP client that it needs on Node 20.
var peers = []string{"@slack/bolt@5.1.0", "undici@7"}

// bolt installs Slack's own library once and names the folder it is in.
func bolt(t *testing.T) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("needs Node 20 or newer with npm on the path")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(cache, "reconcilebot", "peer", strings.NewReplacer("/", "-", "@", "").Replace(strings.Join(peers, "-")))
	if _, err := os.Stat(filepath.Join(folder, "installed")); err == nil {
		return folder
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	install := exec.CommandContext(t.Context(), npm, append([]string{"install", "--prefix", folder, "--no-audit", "--no-fund", "--loglevel=error"}, peers...)...)
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("install %s: %v: %s", peers, err, out)
	}
	if err := os.WriteFile(filepath.Join(folder, "installed"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return folder
}

// TestSlacksOwnLibraryIsContent lets an app on Slack's own Bolt library do the
// whole job.
func TestSlacksOwnLibraryIsContent(t *testing.T) {
	if testing.Short() {
		t.Skip("short: no Node")
	}
	folder := bolt(t)
	w := start(t, Options{})
	app := exec.CommandContext(t.Context(), "node", "testdata/bolt.mjs")
	app.Env = append(os.Environ(), "BOLT_FOLDER="+folder, "API="+w.url+"/api/", "BOT_TOKEN="+w.BotToken(), "APP_TOKEN="+w.AppToken())
	app.Stderr = os.Stderr
	app.Stdout = os.Stderr
	if err := app.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = app.Process.Kill()
		_ = app.Wait()
	})
	w.must(t, "Bolt's socket", func() bool { return len(w.Connections()) == 1 })

	alice := w.As("alice").In("inc-1234")
	if _, err := alice.Slash(t.Context(), "/reconcile drift"); err != nil {
		t.Fatal(err)
	}
	w.must(t, "the card", func() bool { return len(w.Messages("inc-1234")) == 1 })
	w.must(t, "both answers", func() bool { return len(w.Ephemerals("alice", "inc-1234")) == 2 })
	ts := w.Messages("inc-1234")[0].TS
	if _, err := alice.ClickButton(t.Context(), ts, "Adopt"); err != nil {
		t.Fatal(err)
	}
	w.must(t, "the modal", func() bool { return alice.OpenView() != nil })
	if inv, err := alice.Submit(t.Context(), "", map[string]string{"Why?": "no"}); err != nil || inv.Errors["why"] != "Say why." {
		t.Errorf("submitting answered %+v, %v", inv, err)
	}
	if _, err := alice.Submit(t.Context(), "", map[string]string{"Why?": "queue"}); err != nil {
		t.Fatal(err)
	}
	w.must(t, "the edit", func() bool { return w.Messages("inc-1234")[0].Text == "adopted by alice: queue" })
	w.must(t, "the file and the key", func() bool {
		thread := w.Thread("inc-1234", ts)
		return len(thread) == 3 && strings.Contains(thread[1].Text+thread[2].Text, "key r-1")
	})

	w.Disconnect(DisconnectRefresh)
	w.must(t, "the next socket", func() bool { return w.Metrics().Connects == 2 && len(w.Connections()) == 1 })
	called, err := alice.Say(t.Context(), "@reconcile are you there?")
	if err != nil {
		t.Fatal(err)
	}
	w.must(t, "the answer to the mention", func() bool { return len(w.Thread("inc-1234", called)) == 2 })
	w.ExpectNoFindings(t)
}
