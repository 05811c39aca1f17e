package book

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"reconcilebot/state"
)

var carol = state.Person{ID: "U3", Name: "carol", GitHub: "carol"}

// gone takes votes back, by the voter's id.
type gone map[string]string

func (g gone) StillMay(_ context.Context, _ state.Reconciliation, v state.Vote) (string, error) {
	if g[v.By.ID] == "?" {
		return "", errors.New("timeout")
	}
	return g[v.By.ID], nil
}

func newWorldWith(t *testing.T, g gone) *world {
	w := newWorld(t)
	w.config.StillMay = g.StillMay
	_ = w.db.Close()
	w.start(t)
	w.open(t)
	return w
}

// TestAYesIsLookedAtAgainBeforeTheAct: whoever may not approve any more has
// not approved; another's yes takes its place, for the same plan.
func TestAYesIsLookedAtAgainBeforeTheAct(t *testing.T) {
	for _, name := range []state.BookName{Adopt, Revert} {
		t.Run(string(name), func(t *testing.T) {
			g := gone{"U2": "is deactivated in Slack"}
			w := newWorldWith(t, g)
			plan := w.decide(t, name)
			r := w.approve(t, plan.Digest, bob)
			if r.Done(approved.Step) || r.Done(checked.Step) || w.syncs > 0 || len(w.host.Pulls("acme/gitops")) > 0 {
				t.Fatal("it goes on with a yes that does not count")
			}
			if r.Wait == nil || r.Wait.For != "people" || r.Votes[0].Void != "is deactivated in Slack" {
				t.Fatalf("wait %+v, votes %+v", r.Wait, r.Votes)
			}
			said, err := w.db.Notices()
			if err != nil || said[len(said)-1].Kind != "vote-void" {
				t.Errorf("it is not said: %+v, %v", said, err)
			}
			if is, _ := PlanIn(r); is.Digest != plan.Digest {
				t.Error("the plan was made anew")
			}
			r = w.approve(t, plan.Digest, carol)
			if !r.Done(checked.Step) {
				t.Errorf("another's yes does not count: %+v %+v", r.Wait, r.Failure)
			}
		})
	}
}

func TestWhatNobodyCanTellIsWaitedFor(t *testing.T) {
	g := gone{"U2": "?"}
	w := newWorldWith(t, g)
	plan := w.decide(t, Adopt)
	r := w.approve(t, plan.Digest, bob)
	if r.Done(checked.Step) || r.Wait == nil || r.Wait.For != "outage" || !strings.Contains(r.Wait.Why, "the yes of bob still counts") {
		t.Fatalf("wait %+v", r.Wait)
	}
	delete(g, "U2")
	w.pass(time.Minute)
	if r = w.advance(t); !r.Done(checked.Step) {
		t.Errorf("it does not go on: %+v", r.Wait)
	}
}

// TestAYesIsLookedAtAgainBeforeTheMerge: hours pass until GitHub's rules are
// met. The pull request stays as it is, and waits for somebody else's yes.
func TestAYesIsLookedAtAgainBeforeTheMerge(t *testing.T) {
	g := gone{}
	w := newWorldWith(t, g)
	plan := w.decide(t, Adopt)
	w.approve(t, plan.Digest, bob)
	w.pass(40 * time.Minute)
	w.allow(t)
	g["U2"] = "is deactivated in Slack"
	r := w.advance(t)
	if r.Done(merged.Step) || r.Failure != nil || r.Wait == nil || r.Wait.For != "people" {
		t.Fatalf("merged with a yes that does not count: wait %+v, failure %+v", r.Wait, r.Failure)
	}
	if at := ExpiryIn(r); !at.After(w.clock()) {
		t.Errorf("nobody is given time: it expires at %s", at)
	}
	w.approve(t, plan.Digest, carol)
	if r = w.finish(t); r.Outcome != "adopted" {
		t.Fatalf("ended as %q, %+v", r.Outcome, r.Failure)
	}
	if n := len(w.host.Pulls("acme/gitops")); n != 1 {
		t.Errorf("%d pull requests", n)
	}
}

// TestAnOverrideStandsInForTheYeses: for exactly that plan, and no longer than
// whoever gave it may.
func TestAnOverrideStandsInForTheYeses(t *testing.T) {
	w := newWorldWith(t, gone{})
	plan := w.decide(t, Adopt)
	if _, err := w.engine.Vote(id, state.Vote{By: alice, Yes: true, Override: true, Digest: plan.Digest}); err == nil {
		t.Error("an override without a reason was taken")
	}
	vote := state.Vote{By: alice, Yes: true, Override: true, Reason: "checkout is down", Digest: plan.Digest}
	for range 2 { // the same act may be handled twice
		if _, err := w.engine.Vote(id, vote); err != nil {
			t.Fatal(err)
		}
	}
	r := w.advance(t)
	if len(r.Votes) != 1 || !r.Done(pushed.Step) || !r.Review.Open() {
		t.Fatalf("%d votes, review %+v, wait %+v", len(r.Votes), r.Review, r.Wait)
	}
	w.allow(t)
	if r = w.finish(t); r.Outcome != "adopted" || !r.Review.Open() {
		t.Fatalf("ended as %q, review %+v", r.Outcome, r.Review)
	}
	words, err := (&systems{w.config}).words(r, plan)
	if err != nil || !strings.Contains(words.trailers(), "Overridden-by: alice (plan "+short(plan.Digest)+"): checkout is down") || strings.Contains(words.trailers(), "Approved-by") {
		t.Errorf("the commit says %q, %v", words.trailers(), err)
	}
}

func TestAnOverrideOfAnotherPlanIsNone(t *testing.T) {
	w := newWorldWith(t, gone{})
	plan := w.decide(t, Adopt)
	if _, err := w.engine.Vote(id, state.Vote{By: alice, Yes: true, Override: true, Reason: "checkout is down", Digest: plan.Digest}); err != nil {
		t.Fatal(err)
	}
	w.live = 8
	r := w.advance(t)
	if r.Done(approved.Step) || len(w.host.Pulls("acme/gitops")) > 0 || r.Votes[0].Void == "" {
		t.Errorf("an override for another plan counted: %+v", r.Votes)
	}
}
