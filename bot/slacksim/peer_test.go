package slacksim

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reconcilebot/bot/slacksim/peer"
)

// TestSlacksOwnLibraryIsContent lets an app on Slack's own Bolt library do the
// whole job.
func TestSlacksOwnLibraryIsContent(t *testing.T) {
	folder := peer.Folder(t)
	w := start(t, Options{})
	app := exec.CommandContext(t.Context(), peer.Node(t), "testdata/suite/story.mjs")
	app.Env = append(os.Environ(), "PEER_FOLDER="+folder, "API="+w.url+"/api/", "BOT_TOKEN="+w.BotToken(), "APP_TOKEN="+w.AppToken())
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

// TestSlacksOwnLibrariesPassEveryScenario runs the scenarios in testdata/suite,
// which know nothing of this package: Slack's libraries on one side, people
// through the control API on the other. Both settings of what Slack does not
// document are run.
func TestSlacksOwnLibrariesPassEveryScenario(t *testing.T) {
	folder := peer.Folder(t)
	scenarios, err := filepath.Glob("testdata/suite/*.test.mjs")
	if err != nil || len(scenarios) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	retry := []time.Duration{0, 200 * time.Millisecond, 400 * time.Millisecond}
	for name, opts := range map[string]Options{
		"as assumed":          {},
		"the other way round": {RefuseCrossSocketAck: true, SameEnvelopeOnRetry: true, RefuseBlockMismatch: true, GuideTriggerErrors: true, ShortPages: true},
	} {
		opts.RetryAfter, opts.PingEvery = retry, 300*time.Millisecond
		for _, file := range scenarios {
			t.Run(name+"/"+strings.TrimSuffix(filepath.Base(file), ".test.mjs"), func(t *testing.T) {
				t.Parallel()
				w := startSeed(t, wideSeed(), opts)
				run := exec.CommandContext(t.Context(), peer.Node(t), "--test", file)
				run.Env = append(os.Environ(), "PEER_FOLDER="+folder, "API="+w.url+"/api/", "BOT_TOKEN="+w.BotToken(), "APP_TOKEN="+w.AppToken())
				if out, err := run.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
}
