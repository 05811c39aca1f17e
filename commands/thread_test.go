package commands

import (
	"fmt"
	"strings"
	"testing"

	"reconcilebot/commands/card"
	"reconcilebot/runbook/book"
	"reconcilebot/state"
)

// says mentions the bot in a thread.
func (r *rig) says(who, thread, text string) Reply {
	r.t.Helper()
	req := r.request(Mention, who)
	req.Thread, req.Message, req.Text = thread, thread+".reply", text
	return r.does(req)
}

// stands notes that the card of a reconciliation stands in the channel.
func (r *rig) stands(id state.ReconciliationID, ts string) {
	r.t.Helper()
	if err := r.DB.SaveMessage(state.MessageKey("card/"+string(id)), state.Message{Room: room, TS: ts}); err != nil {
		r.t.Fatal(err)
	}
}

// In the thread of a card the target goes without saying.
func TestWordsInAThread(t *testing.T) {
	for name, tt := range map[string]struct {
		who, text, says string
		done            func(*rig) bool
	}{
		"adopt":                    {"alice", "adopt because the queue was backing up", "", func(r *rig) bool { return r.run("payments-web").Book == book.Adopt }},
		"revert":                   {"alice", "revert because it is over", "", func(r *rig) bool { return r.run("payments-web").Decision.Reason == "it is over" }},
		"drift":                    {"alice", "drift", "Looking at payments-web again", nil},
		"status":                   {"alice", "status", "payments-web in production-eu", nil},
		"the target, all the same": {"dave", "drift ledger-api", "", func(r *rig) bool { return r.run("ledger-api").OpenedBy.Name == "dave" }},
		"all the others":           {"alice", "drift all", "Out of sync", nil},
		"no reason":                {"alice", "adopt", "Say why", nil},
		"help":                     {"alice", "help adopt", "Take the changes made by hand", nil},
		"nonsense":                 {"alice", "adpot because", "Did you mean adopt?", nil},
		"without the right":        {"dave", "adopt because I want it", "You can't decide about production-eu/payments-web", nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := opened(t)
			r.stands(r.run("payments-web").ID, "100.1")
			r.wants(r.says(tt.who, "100.1", tt.text), tt.says)
			if tt.done != nil && !tt.done(r) {
				t.Error("it was not done")
			}
		})
	}
	r := opened(t)
	r.stands(r.run("payments-web").ID, "100.1")
	r.wants(r.says("alice", "200.2", "adopt because slow"), "The words don't fit")
	// Another channel's message of the same time is another message.
	other := r.request(Mention, "alice")
	other.Room, other.Thread, other.Text = "C2", "100.1", "adopt because slow"
	r.wants(r.does(other), "The words don't fit")
}

func TestShortcutInAThread(t *testing.T) {
	r := opened(t)
	id := r.run("payments-web").ID
	r.stands(id, "100.1")
	use := func(who, thread, message string) Reply {
		req := r.request(Shortcut, who)
		req.Action, req.Thread, req.Message = CallbackThread, thread, message
		return r.does(req)
	}
	for name, reply := range map[string]Reply{"on the card": use("alice", "", "100.1"), "on a reply": use("alice", "100.1", "100.7")} {
		if reply.Ephemeral == nil || !strings.Contains(reply.Ephemeral.Text, "1 change made by hand") || !strings.Contains(fmt.Sprint(pressable(reply.Ephemeral.Blocks)), card.ActionAdopt) {
			t.Errorf("%s: %q", name, said(reply))
		}
	}
	r.wants(use("alice", "", "999.9"), "INC-1234")
	// The beginning of another's id is not that one.
	if err := r.DB.SaveMessage(state.MessageKey("notice/"+string(id)+"x/1"), state.Message{Room: room, TS: "300.3"}); err != nil {
		t.Fatal(err)
	}
	if got := said(use("alice", "", "300.3")); strings.Contains(got, "1 change made by hand, undecided") && !strings.Contains(got, "INC-1234") {
		t.Errorf("the thread of another: %q", got)
	}
	r.Access.Rules = nil
	r.wants(use("alice", "", "100.1"), "No rule of the policy covers")
}

// A misspelt name tells nobody of targets that they may not see.
func TestSuggestionsAreDiscreet(t *testing.T) {
	r := newRig(t)
	r.types("carol", "incident INC-1234")
	r.wants(r.types("dave", "drift ledger-apo"), "Did you mean ledger-api?")
	if got := said(r.types("alice", "drift ledger-apo")); strings.Contains(got, "ledger-api") {
		t.Errorf("alice hears of a target that only dave may see: %q", got)
	}
	if got := said(r.types("carol", "drift valt")); strings.Contains(got, "vault") {
		t.Errorf("carol hears of a target that nobody may see: %q", got)
	}
}
