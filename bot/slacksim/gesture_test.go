package slacksim

import (
	"strings"
	"testing"
)

func TestTypographicPunctuation(t *testing.T) {
	for typed, want := range map[string]string{
		`because "the queue" isn't --empty`: "because “the queue” isn’t —empty",
		`('a' "b")`:                         "(‘a’ “b”)",
	} {
		if got := Smart(typed); got != want {
			t.Errorf("%s became %s, want %s", typed, got, want)
		}
	}
}

func TestShortcutsOfTheManifest(t *testing.T) {
	w := startSeed(t, wideSeed(), Options{})
	w.run(t, acking)
	ts := w.post(t, "C0INC", "card")
	alice := w.As("alice").In("C0INC")
	if inv, err := alice.GlobalShortcut(t.Context(), "find_drift"); err != nil || inv.TriggerID == "" || inv.ResponseURL != "" {
		t.Errorf("a global shortcut gave %+v, %v", inv, err)
	}
	if _, err := alice.MessageShortcut(t.Context(), ts, "reconcile_status"); err != nil {
		t.Error(err)
	}
	for name, use := range map[string]func() error{
		"a message's, without a message": func() error { _, err := alice.GlobalShortcut(t.Context(), "reconcile_status"); return err },
		"a global one, on a message":     func() error { _, err := alice.MessageShortcut(t.Context(), ts, "find_drift"); return err },
		"one that is not there":          func() error { _, err := alice.MessageShortcut(t.Context(), ts, "other"); return err },
		"by someone of another workspace": func() error {
			_, err := w.As("eve").In("C0INC").MessageShortcut(t.Context(), ts, "reconcile_status")
			return err
		},
	} {
		if use() == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

func TestTwoClicksOfOnePerson(t *testing.T) {
	w := start(t, Options{})
	w.run(t, acking)
	ts := str(w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": "x",
		"blocks": `[{"type":"actions","elements":[{"type":"button","action_id":"go","text":{"type":"plain_text","text":"Go"}}]}]`})["ts"])
	first, second, err := w.As("bob").In("C0INC").DoubleClick(t.Context(), ts, "go")
	if err != nil || first.EnvelopeID == second.EnvelopeID || first.TriggerID == second.TriggerID {
		t.Errorf("%+v and %+v, %v", first, second, err)
	}
}

func TestReactionsAndTheHomeTabAreTold(t *testing.T) {
	w := startSeed(t, wideSeed(), Options{})
	w.run(t, acking)
	ts := w.post(t, "C0INC", "card")
	alice := w.As("alice").In("C0INC")
	if err := alice.React(ts, "eyes"); err != nil {
		t.Fatal(err)
	}
	if err := alice.React(ts, "eyes"); err == nil || !strings.Contains(err.Error(), "already_reacted") {
		t.Errorf("the same again: %v", err)
	}
	if err := alice.Unreact(ts, "eyes"); err != nil {
		t.Fatal(err)
	}
	if home, err := alice.OpenHome(); err != nil || home != nil {
		t.Errorf("an empty home is %v, %v", home, err)
	}
	w.call(t, "views.publish", map[string]string{"user_id": "U0ALICE", "view": `{"type":"home","blocks":[{"type":"divider"}]}`})
	if home, err := alice.OpenHome(); err != nil || home == nil || len(home.Blocks) != 1 {
		t.Errorf("home is %v, %v", home, err)
	}
	w.must(t, "the events", func() bool {
		seen := map[string]int{}
		for _, e := range w.Envelopes() {
			seen[e.What]++
		}
		return seen["reaction_added"] == 1 && seen["reaction_removed"] == 1 && seen["app_home_opened"] == 2
	})
	without := start(t, Options{})
	if o := without.call(t, "views.publish", map[string]string{"user_id": "U0ALICE", "view": `{"type":"home","blocks":[]}`}); o["error"] != "not_enabled" {
		t.Errorf("without a home tab: %v", o)
	}
}

func TestAnAppThatIsTakenOut(t *testing.T) {
	w := startSeed(t, wideSeed(), Options{})
	w.run(t, acking)
	w.Uninstall(true)
	if o := w.call(t, "auth.test", nil); o["error"] != "account_inactive" {
		t.Errorf("answered %v", o)
	}
	w.must(t, "both events", func() bool { return len(w.Envelopes()) == 2 })
	w.Uninstall(false)
	if o := w.call(t, "auth.test", nil); o["ok"] != true {
		t.Errorf("put back: %v", o)
	}
}
