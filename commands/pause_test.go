package commands

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"reconcilebot/commands/card"
	"reconcilebot/runbook"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/state"
)

// pausable is a rig with a book of pauses that reaches nothing: it waits until
// its time is over, or until it is to be resumed, and asks whether to undo.
func pausable(t *testing.T) *rig {
	t.Helper()
	r := opened(t)
	for i := range r.Access.Rules {
		r.Access.Rules[i].Pause = r.Access.Rules[i].Decide
	}
	watch := step{"remind", func(run state.Reconciliation) runbook.Outcome {
		if run.Pause.Resume == nil && r.now.Before(run.Pause.Until) {
			return runbook.Wait(time.Minute, runbook.ForPeople, "25 min left; resuming now would undo 1 change")
		}
		return runbook.Result[book.Held]{Step: "remind"}.Done(book.Held{})
	}}
	sim := runbook.Result[book.Simulation]{Step: "simulate"}
	simulate := step{"simulate", func(state.Reconciliation) runbook.Outcome {
		return sim.Done(book.Simulation{Digest: "sim", Undo: r.drift().Changes, Needs: book.Needs{Approvals: 1, From: []string{"@payments-owners"}}})
	}}
	agree := step{"approve", func(run state.Reconciliation) runbook.Outcome {
		if votes := run.Standing("sim"); len(votes) > 0 && votes[0].Yes {
			return runbook.Result[book.Approval]{Step: "approve"}.Done(book.Approval{Votes: votes})
		}
		return runbook.Wait(time.Minute, runbook.ForPeople, "waiting for 1 approval by @payments-owners")
	}}
	back := step{"restore", func(state.Reconciliation) runbook.Outcome {
		return runbook.Result[book.Restored]{Step: "restore"}.Done(book.Restored{Exact: true})
	}}
	ballot := func(run state.Reconciliation) (runbook.Ballot, bool) {
		s, ok := sim.If(run)
		return runbook.Ballot{Digest: s.Digest, Needed: 1, Expires: r.now.Add(time.Hour), Made: []string{r.author}}, ok && !run.Done("approve")
	}
	r.engine = runbook.New(runbook.Config{DB: r.DB, Now: func() time.Time { return r.now }, Log: slog.New(slog.DiscardHandler),
		Books: append(r.books(), runbook.Book{Name: book.Pause, Version: 1, Ends: book.Resumed, Ballot: ballot,
			Keep:  &runbook.Keep{From: "remind", Back: "restore", Taken: "remind"},
			Steps: []runbook.Step{watch, simulate, agree, back},
		})})
	r.Engine = r.engine
	return r
}

func (r *rig) pause() state.Reconciliation {
	r.t.Helper()
	run, err := r.DB.Holding(state.PauseLease(target("payments-web").String()))
	if err != nil {
		r.t.Fatal(err)
	}
	if run, err = r.engine.Advance(r.t.Context(), run.ID); err != nil {
		r.t.Fatal(err)
	}
	return run
}

func TestPausing(t *testing.T) {
	r := pausable(t)
	r.wants(r.types("alice", "pause payments-web 45m because the queue has to drain"), "")
	p := r.pause()
	if p.Pause.Reason != "the queue has to drain" || p.Pause.Until.Sub(r.now) != 45*time.Minute || p.Target != target("payments-web").String() {
		t.Fatalf("paused: %+v", p.Pause)
	}
	r.wants(r.types("carol", "pause payments-web 1h because me too"), "is paused already, by alice")
	r.wants(r.types("alice", "status payments-web"), "being paused")
	r.wants(r.types("alice", "status"), "*Paused*  1 (payments-web, 45 min left)")
	r.wants(r.types("alice", "extend payments-web 30m"), "")
	if p = r.pause(); p.Pause.Until.Sub(r.now) != 75*time.Minute {
		t.Errorf("extended to %s", p.Pause.Until.Sub(r.now))
	}
	r.wants(r.types("alice", "extend payments-web 23h"), "more than 24 hours from now")
	r.wants(r.clicks("alice", card.ActionExtend, card.Carry(p.ID, "")), "")
	if p = r.pause(); p.Pause.Until.Sub(r.now) != 105*time.Minute {
		t.Errorf("extended to %s", p.Pause.Until.Sub(r.now))
	}
	// A pause keeps nobody from the target itself.
	r.wants(r.types("alice", "adopt payments-web because slow"), "")
	r.wants(r.clicks("alice", card.ActionResume, card.Carry(p.ID, "")), "")
	p = r.pause()
	r.wants(r.clicks("alice", card.ActionApprove, card.Carry(p.ID, "sim")), "You can't approve this")
	r.wants(r.clicks("bob", card.ActionApprove, card.Carry(p.ID, "sim")), "")
	if p, err := r.engine.Advance(t.Context(), p.ID); err != nil || p.Outcome != book.Resumed {
		t.Errorf("ended %q, %v", p.Outcome, err)
	}
	r.wants(r.types("alice", "resume payments-web"), "is not paused by reconcilebot")
	r.wants(r.types("alice", "extend payments-web 30m"), "is not paused by reconcilebot")
}

func TestWhoMayPause(t *testing.T) {
	r := pausable(t)
	for i := range r.Access.Rules {
		r.Access.Rules[i].Pause = nil
	}
	for _, text := range []string{"pause payments-web 45m because x", "extend payments-web 30m", "resume payments-web"} {
		r.wants(r.types("alice", text), "You can't pause production-eu/payments-web")
	}
	for _, action := range []string{card.ActionPause, card.ActionExtend, card.ActionResume} {
		r.wants(r.clicks("alice", action, r.shown()), "You can't pause production-eu/payments-web")
	}
}

// With parents, whoever asks has to have the right on them, too.
func TestPausingWithParents(t *testing.T) {
	r := pausable(t)
	r.cluster.list[0].Owner = "Application ledger-api"
	r.wants(r.types("alice", "pause payments-web 45m with parents because x"), "You can't pause production-eu/ledger-api")
	if _, err := r.DB.Holding(state.PauseLease(target("payments-web").String())); err == nil {
		t.Error("paused all the same")
	}
	r.cluster.list[0].Owner = "Application payments-worker"
	r.wants(r.types("alice", "pause payments-web 45m with parents because x"), "")
	if p := r.pause(); !slices.Equal(p.Pause.Parents, []string{target("payments-worker").String()}) {
		t.Errorf("parents: %q", p.Pause.Parents)
	}
}

func TestPausingFromTheCard(t *testing.T) {
	r := pausable(t)
	modal := r.clicks("alice", card.ActionPause, r.shown())
	if modal.Modal == nil {
		t.Fatalf("no modal: %q", said(modal))
	}
	view := View{Callback: card.CallbackReason, Metadata: modal.Modal.PrivateMetadata, Values: map[string]string{card.BlockReason: "drain", card.BlockLength: "soon"}}
	if wrong := r.Check(Request{View: view}); !strings.Contains(wrong[card.BlockLength], "not a length of time") {
		t.Errorf("the form took %v", wrong)
	}
	view.Values[card.BlockLength] = " 20m "
	req := r.request(Submit, "alice")
	req.View = view
	r.wants(r.does(req), "")
	if p := r.pause(); p.Pause.Until.Sub(r.now) != 20*time.Minute || p.Pause.Reason != "drain" {
		t.Errorf("paused: %+v", p.Pause)
	}
	r.wants(r.clicks("alice", card.ActionPause, r.shown()), "is paused already")
	// A look from the pause's card is a look at the target.
	r.wants(r.clicks("alice", card.ActionLook, card.Carry(r.pause().ID, "")), "drawn anew")
	// A button of the one card does nothing on the other.
	r.wants(r.clicks("alice", card.ActionExtend, r.shown()), "belongs to no pause")
	r.wants(r.clicks("alice", card.ActionAdopt, card.Carry(r.pause().ID, "")), "already chose")
	r.wants(r.clicks("alice", card.ActionLeave, card.Carry(r.pause().ID, "")), "something has to be put back")
	r.wants(r.clicks("alice", card.ActionAgain, card.Carry(r.pause().ID, "")), "not begun again")
}

// What a merge undoes elsewhere is accepted by who may decide about that.
func TestAcceptingWhatIsUndoneElsewhere(t *testing.T) {
	r := opened(t)
	r.types("alice", "adopt payments-web because slow")
	run := r.run("payments-web")
	other := target("ledger-api").String()
	asks := func() {
		if _, err := r.DB.Change(run.ID, func(run *state.Reconciliation, now time.Time) ([]state.Said, error) {
			run.Wait = &state.Wait{Step: "merge", Asks: []state.Ask{{Target: other, Digest: "d1"}}}
			return nil, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	asks()
	r.wants(r.clicks("alice", card.ActionAccept+"/0", card.Carry(run.ID, "d1", other)), "You can't decide about production-eu/ledger-api")
	r.wants(r.clicks("dave", card.ActionAccept+"/0", card.Carry(run.ID, "d1", other)), "You can't decide about production-eu/payments-web")
	r.wants(r.clicks("alice", card.ActionAccept, card.Carry(run.ID, "d1", "nothing")), "belongs to nothing")
	for i := range r.Access.Rules {
		r.Access.Rules[i].Decide = []string{"alice"}
	}
	r.wants(r.clicks("alice", card.ActionAccept+"/0", card.Carry(run.ID, "other", other)), "not asked any more")
	asks()
	r.wants(r.clicks("alice", card.ActionAccept+"/0", card.Carry(run.ID, "d1", other)), "")
	if got := r.run("payments-web"); !got.Accepts(other, "d1") {
		t.Errorf("accepted: %+v", got.Accepted)
	}
}

func TestPausesOfOthersAreShown(t *testing.T) {
	r := pausable(t)
	r.Foreign = func(_ context.Context, _ drift.Target, ours bool) ([]string, error) {
		if ours {
			return nil, nil
		}
		return []string{"Somebody switched its automated sync off."}, nil
	}
	r.wants(r.types("alice", "status payments-web"), "*Not by reconcilebot*  Somebody switched its automated sync off.")
	r.types("alice", "pause payments-web 45m because x")
	if got := said(r.types("alice", "status payments-web")); strings.Contains(got, "Not by reconcilebot") {
		t.Errorf("our own pause is called somebody else's: %q", got)
	}
}
