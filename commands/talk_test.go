package commands

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"reconcilebot/commands/card"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/state"
)

// opened is a rig in which alice asked for the drift of payments-web.
func opened(t *testing.T) *rig {
	r := newRig(t)
	r.types("carol", "incident INC-1234")
	r.wants(r.types("alice", "drift payments-web"), "")
	return r
}

func TestTheMainJob(t *testing.T) {
	r := opened(t)
	r.wants(r.submits("alice", r.clicks("alice", card.ActionAdopt, r.shown()), "  queue\nbacking up\u202e "), "")
	run := r.run("payments-web")
	if run.Book != book.Adopt || run.Decision.Reason != "queue backing up" || run.Decision.By.Name != "alice" {
		t.Fatalf("decided: %+v", run.Decision)
	}
	if text := r.Card(t.Context(), run).Text; !strings.Contains(text, "waits for 1 approval") {
		t.Errorf("the card says %q", text)
	}
	vote := card.Carry(run.ID, "plan-adopt")
	r.wants(r.clicks("alice", card.ActionApprove, vote), "You can't approve this: you made the change (audit log, 14:02 UTC). @payments-owners and @platform can.")
	r.wants(r.clicks("dave", card.ActionApprove, vote), "You can't approve for production-eu/payments-web. @payments-owners and @platform can.")
	r.wants(r.clicks("bob", card.ActionApprove, vote), "")
	ended, err := r.DB.Reconciliation(run.ID)
	if err != nil || ended.Outcome != "adopted" {
		t.Fatalf("ended as %q, %v", ended.Outcome, err)
	}
	m, ok := r.Notice(t.Context(), ended, "closed")
	if !ok || !strings.Contains(m.Text, "approved by bob") {
		t.Errorf("the record says %q", m.Text)
	}
	r.wants(r.clicks("bob", card.ActionApprove, vote), "")
	r.wants(r.clicks("carol", card.ActionApprove, vote), "nothing to vote on here any more")
}

func TestDecidingInWords(t *testing.T) {
	r := newRig(t)
	r.types("carol", "incident INC-1234")
	r.wants(r.types("alice", "revert payments-web because the spike is over"), "")
	if run := r.run("payments-web"); run.Book != book.Revert || run.Decision.Reason != "the spike is over" {
		t.Fatalf("decided: %s %+v", run.Book, run.Decision)
	}
	r.wants(r.types("carol", "adopt payments-web because no"), "alice already chose to revert this")
}

// The same act may be handled twice: the bot was killed before it wrote down
// that it was done.
func TestTheSameActTwice(t *testing.T) {
	r := newRig(t)
	r.types("carol", "incident INC-1234")
	for name, text := range map[string]string{"adopt": "adopt payments-web because slow", "drift": "drift ledger-api"} {
		who := "alice"
		if name == "drift" {
			who = "dave"
		}
		req := r.request(Slash, who)
		req.Text = text
		r.wants(r.does(req), "")
		r.wants(r.does(req), "")
	}
	open, err := r.DB.Unclosed()
	if err != nil || len(open) != 2 {
		t.Errorf("%d reconciliations are open, %v", len(open), err)
	}
	r = opened(t)
	modal := r.clicks("alice", card.ActionAdopt, r.shown())
	req := r.request(Submit, "alice")
	req.View = View{Callback: modal.Modal.CallbackID, Metadata: modal.Modal.PrivateMetadata, Values: map[string]string{card.BlockReason: "slow"}}
	r.wants(r.does(req), "")
	r.wants(r.does(req), "")
}

func TestLookingAgainAndLeaving(t *testing.T) {
	r := opened(t)
	r.wants(r.types("alice", "drift payments-web"), "Looking at payments-web again")
	old := r.shown()
	r.live = 8
	r.wants(r.clicks("alice", card.ActionAgain, old), "")
	r.wants(r.clicks("alice", card.ActionAdopt, old), "What differs changed since this card was drawn")
	if due, err := r.DB.Redraws(); err != nil || len(due) != 1 {
		t.Errorf("the stale card is not drawn again: %v, %v", due, err)
	}
	run := r.run("payments-web")
	r.wants(r.clicks("dave", card.ActionLeave, r.shown()), "You can't decide about")
	r.wants(r.clicks("alice", card.ActionLeave, r.shown()), "")
	left, err := r.DB.Reconciliation(run.ID)
	if err != nil || left.Outcome != "left" {
		t.Fatalf("ended as %q, %v", left.Outcome, err)
	}
	if m, ok := r.Notice(t.Context(), left, "left"); !ok || !strings.Contains(m.Text, "by alice") {
		t.Errorf("the thread says %q", m.Text)
	}
	r.wants(r.clicks("alice", card.ActionAdopt, card.Carry(run.ID, r.drift().Digest)), "has ended")
}

func TestDecliningAndStartingOver(t *testing.T) {
	r := opened(t)
	r.submits("alice", r.clicks("alice", card.ActionAdopt, r.shown()), "slow")
	id := r.run("payments-web").ID
	r.wants(r.clicks("dave", card.ActionDecline, card.Carry(id, "plan-adopt")), "You can't decide about")
	r.wants(r.submits("bob", r.clicks("bob", card.ActionDecline, card.Carry(id, "plan-adopt")), "quota is 4"), "")
	run := r.run("payments-web")
	if run.Failure == nil {
		t.Fatal("a declined plan goes on")
	}
	if m, ok := r.Notice(t.Context(), run, "declined"); !ok || !strings.Contains(m.Text, "bob declined the plan: “quota is 4”") {
		t.Errorf("the thread says %q", m.Text)
	}
	r.wants(r.types("carol", "revert payments-web because of the quota"), "")
	if run := r.run("payments-web"); run.Book != book.Revert || len(run.Past) != 1 {
		t.Errorf("the second way: %s after %d", run.Book, len(run.Past))
	}
}

func TestNobodyKnowsWhoMadeIt(t *testing.T) {
	r := newRig(t)
	r.author = ""
	r.types("carol", "incident INC-1234")
	r.types("alice", "adopt payments-web because slow")
	id := r.run("payments-web").ID
	r.wants(r.clicks("bob", card.ActionApprove, card.Carry(id, "plan-adopt")), "Nobody knows who made this change")
	r.wants(r.clicks("alice", card.ActionApprove, card.Carry(id, "plan-adopt", card.FlagNotMine)), "You can't approve this: you asked for it.")
	r.wants(r.clicks("bob", card.ActionApprove, card.Carry(id, "plan-adopt", card.FlagNotMine)), "")
}

func TestRetry(t *testing.T) {
	r := opened(t)
	r.wants(r.clicks("alice", card.ActionRetry, r.shown()), "Nothing has failed here.")
	if _, err := r.DB.Change(r.run("payments-web").ID, func(run *state.Reconciliation, now time.Time) ([]state.Said, error) {
		run.Failure = &state.Failure{Step: "survey", Say: "x", At: now}
		return nil, nil
	}); err != nil {
		t.Fatal(err)
	}
	r.wants(r.clicks("alice", card.ActionRetry, r.shown()), "")
	if r.run("payments-web").Failure != nil {
		t.Error("it was not tried again")
	}
}

func TestIncidents(t *testing.T) {
	r := newRig(t)
	r.wants(r.types("alice", "drift payments-web"), "/reconcile incident INC-1234")
	r.wants(r.types("alice", "status"), "No incident is bound to this channel")
	r.wants(r.types("alice", "incident close"), "No incident is bound to this channel")
	r.wants(r.types("alice", "incident"), "No incident is bound to this channel")
	r.wants(r.types("carol", "incident INC-1234 https://t.example.com/1"), "bound to *INC-1234*")
	r.wants(r.types("carol", "incident INC-1234"), "bound to *INC-1234*")
	r.wants(r.types("alice", "incident"), "bound to *INC-1234*")
	r.wants(r.types("carol", "incident INC-5"), "This channel is bound to INC-1234. End it")
	elsewhere := r.request(Slash, "carol")
	elsewhere.Room, elsewhere.Text = "C2", "incident INC-1234"
	r.wants(r.does(elsewhere), "INC-1234 is open in another channel")
	r.types("alice", "drift payments-web")
	elsewhere = r.request(Slash, "carol")
	elsewhere.Room, elsewhere.Text = "C2", "incident INC-7"
	r.does(elsewhere)
	elsewhere = r.request(Slash, "carol")
	elsewhere.Room, elsewhere.Text = "C2", "drift payments-web"
	r.wants(r.does(elsewhere), "is being dealt with in another channel, for INC-1234")
	r.wants(r.types("alice", "status"), "payments-web in production-eu*  1 change made by hand, undecided")
	r.wants(r.types("alice", "summary"), "payments-web in production-eu")
	r.wants(r.types("alice", "status payments-web"), "undecided (INC-1234")
	r.wants(r.types("carol", "incident close"), "*Left open*")
	r.wants(r.types("alice", "status"), "No incident is bound")
}

func TestDriftOfAll(t *testing.T) {
	r := newRig(t)
	r.types("carol", "incident INC-1234")
	for i := range 12 {
		r.cluster.list = append(r.cluster.list, drift.TargetInfo{Target: target(fmt.Sprintf("payments-x%02d", i)), Sync: "OutOfSync"})
	}
	r.cluster.list[0].Sync = "Synced"
	r.wants(r.types("alice", "drift all"), "Out of sync: 13.")
	open, err := r.DB.Unclosed()
	if err != nil || len(open) != maxAround {
		t.Errorf("%d cards, %v", len(open), err)
	}
	for _, run := range open {
		if strings.Contains(run.Target, "ledger") || strings.Contains(run.Target, "vault") {
			t.Errorf("%s was opened for somebody who may not see it", run.Target)
		}
	}
}

func TestNames(t *testing.T) {
	r := newRig(t)
	r.types("carol", "incident INC-1234")
	r.wants(r.types("alice", "drift payment-web"), "Did you mean payments-web")
	r.wants(r.types("alice", "drift payments-w"), "fits more than one target")
	r.wants(r.types("alice", "drift payments\u200b-web"), "can't be seen")
	r.wants(r.types("alice", "drift <http://payments-web|payments-web>"), "")
	r.cluster.down = errors.New("connection refused")
	r.wants(r.types("alice", "drift payments-worker"), "")
	r.targets = newTargets(map[string]Lister{"production-eu": r.cluster})
	r.wants(r.types("alice", "drift payments-worker"), "Argo CD of production-eu can't be reached, so it is not known whether there is a target payments-worker")
}

func TestHelpNeedsNothing(t *testing.T) {
	r := newRig(t)
	r.dir.down = errors.New("slack is down")
	help := r.types("nobody", "help")
	for _, row := range table() {
		r.wants(help, row.name)
	}
	r.wants(r.types("nobody", ""), "drift")
	r.wants(r.types("nobody", "help adopt"), "lets decide")
	r.wants(r.types("nobody", "help adpot"), "Did you mean adopt?")
}

func TestShortcut(t *testing.T) {
	r := opened(t)
	run := r.run("payments-web")
	if err := r.DB.SaveMessage(state.MessageKey("card/"+string(run.ID)), state.Message{Room: room, TS: "1.1"}); err != nil {
		t.Fatal(err)
	}
	r.types("dave", "drift ledger-api")
	req := r.request(Shortcut, "dave")
	req.Action, req.Message = CallbackThread, "1.1"
	reply := r.does(req)
	r.wants(reply, "payments-web")
	if strings.Contains(said(reply), "ledger") {
		t.Errorf("a shortcut in one thread tells of another: %q", said(reply))
	}
}

func TestCheck(t *testing.T) {
	r := newRig(t)
	for name, tt := range map[string]struct {
		text string
		ok   bool
	}{
		"a reason":                {"slow", true},
		"nothing":                 {"", false},
		"blanks only":             {" \n\t\u00a0", false},
		"nothing visible":         {"\u200b\u202e", false},
		"as long as may be":       {strings.Repeat("ä", card.MaxReason), true},
		"too long by one":         {strings.Repeat("ä", card.MaxReason+1), false},
		"blanks around don't add": {strings.Repeat(" ", 50) + strings.Repeat("a", card.MaxReason), true},
	} {
		got := r.Check(Request{View: View{Callback: card.CallbackReason, Values: map[string]string{card.BlockReason: tt.text}}})
		if (len(got) == 0) != tt.ok {
			t.Errorf("%s: %v", name, got)
		}
		for block := range got {
			if block != card.BlockReason {
				t.Errorf("%s: the fault is shown at %q, where no input is", name, block)
			}
		}
	}
}
