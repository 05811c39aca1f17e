package slacksim

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"reconcilebot/bot/slacksim/peer"
)

// TestSlacksOwnLibraryIsContent lets an app on Slack's own Bolt library do the
// whole job.
func TestSlacksOwnLibraryIsContent(t *testing.T) {
	folder := peer.Folder(t)
	w := start(t, Options{})
	app := exec.CommandContext(t.Context(), peer.Node(t), "testdata/bolt.mjs")
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
