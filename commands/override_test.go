package commands

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"reconcilebot/commands/access"
	"reconcilebot/commands/card"
	"reconcilebot/runbook/book"
	"reconcilebot/state"
)

// planned is a rig in which alice, who made the change, asked to adopt it, and
// in which alice and dave may override.
func planned(t *testing.T) (*rig, state.Reconciliation) {
	r := opened(t)
	r.Access.Rules[0].Override = []string{"alice", "dave"}
	r.wants(r.submits("alice", r.clicks("alice", card.ActionAdopt, r.shown()), "slow"), "")
	return r, r.run("payments-web")
}

func (r *rig) again(id state.ReconciliationID) state.Reconciliation {
	r.t.Helper()
	run, err := r.DB.Reconciliation(id)
	if err != nil {
		r.t.Fatal(err)
	}
	return run
}

// TestAnOverrideIsLoudAndReviewed: it takes the right and a reason, the channel
// is told, and the review stays open until somebody else has done it.
func TestAnOverrideIsLoudAndReviewed(t *testing.T) {
	r, run := planned(t)
	shown := card.Carry(run.ID, "plan-adopt")
	r.wants(r.clicks("bob", card.ActionOverride, shown), "You can't override approvals for production-eu/payments-web. alice and dave can.")
	r.wants(r.types("dave", "override payments-web"), "Say why this can't wait")
	r.wants(r.clicks("dave", card.ActionOverride, card.Carry(run.ID, "plan-other")), "The plan changed")
	r.wants(r.submits("dave", r.clicks("dave", card.ActionOverride, shown), "checkout is down"), "")
	ended := r.again(run.ID)
	if ended.Outcome != "adopted" || !ended.Review.Open() {
		t.Fatalf("ended as %q, review %+v", ended.Outcome, ended.Review)
	}
	m, ok := r.Notice(t.Context(), ended, "overridden")
	if !ok || !m.Aloud || !strings.Contains(m.Text, "dave goes on without the approval that is asked for") || !strings.Contains(m.Text, "checkout is down") {
		t.Errorf("the channel is told %v %v %q", ok, m.Aloud, m.Text)
	}
	if text := r.Card(t.Context(), ended).Text; !strings.Contains(text, "approved by nobody else") || !strings.Contains(text, "open: somebody other than dave") {
		t.Errorf("the record says %q", text)
	}
	r.wants(r.types("carol", "status"), "somebody other than dave who may approve has to look at it")

	review := card.Carry(run.ID, "plan-adopt")
	for who, says := range map[string]string{"dave": "You can't approve for", "alice": "you made the change", "eve": "You can't approve for"} {
		reply := r.clicks(who, card.ActionReview, review)
		if reply.Modal != nil {
			reply = r.submits(who, reply, "fine")
		}
		r.wants(reply, says)
	}
	form := r.clicks("bob", card.ActionReview, review)
	r.wants(r.submits("bob", form, "right to go on"), "")
	done := r.again(run.ID)
	if done.Review.Open() || done.Review.By.Name != "bob" || done.Review.Finding != "right to go on" || done.Outcome != "adopted" {
		t.Fatalf("review %+v of %q", done.Review, done.Outcome)
	}
	r.wants(r.submits("carol", form, "me too"), "bob reviewed this already")
	r.wants(r.clicks("carol", card.ActionReview, review), "nothing to review here any more")
	if open, err := r.DB.OpenReviews(); err != nil || len(open) != 0 {
		t.Errorf("%d reviews are open, %v", len(open), err)
	}
	entries, err := r.DB.Journal(run.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"overridden", "reviewed"} {
		if !slices.ContainsFunc(entries, func(e state.Entry) bool { return e.Kind == kind }) {
			t.Errorf("the journal does not tell that it was %s", kind)
		}
	}
}

// TestWhoeverAskedMayOverrideButNotReview: alone at night, with the right.
func TestWhoeverAskedMayOverrideButNotReview(t *testing.T) {
	r, run := planned(t)
	r.wants(r.types("alice", "override payments-web because checkout is down"), "")
	if r.again(run.ID).Outcome != "adopted" {
		t.Fatal("it did not go on")
	}
	r.Access.Rules[0].Approve.By = []string{"alice", "bob"}
	r.author = "somebody@example.com"
	form := r.clicks("bob", card.ActionReview, card.Carry(run.ID, "plan-adopt"))
	r.wants(r.submits("alice", form, "fine"), "You can't approve this")
	if !r.again(run.ID).Review.Open() {
		t.Error("whoever overrode it reviewed it")
	}
}

func TestOverridingWhereThereIsNothingTo(t *testing.T) {
	r := opened(t)
	r.Access.Rules[0].Override = []string{"dave"}
	r.wants(r.types("dave", "override payments-worker because x"), "Nothing waits for an approval for payments-worker")
	r.wants(r.types("dave", "override payments-web because x"), "There is nothing to vote on here")
	elsewhere := r.request(Slash, "dave")
	elsewhere.Room, elsewhere.Text = "C2", "override payments-web because x"
	r.wants(r.does(elsewhere), "in another channel, for INC-1234")
	if m := r.Card(t.Context(), r.run("payments-web")); strings.Contains(m.Text, "Override") {
		t.Error("there is a button before there is a plan")
	}
}

// The button is there only where the policy lets somebody override.
func TestTheOverrideButtonFollowsThePolicy(t *testing.T) {
	r, run := planned(t)
	has := func() bool {
		for _, b := range r.Card(t.Context(), run).Blocks {
			if a, ok := b.(*slack.ActionBlock); ok {
				for _, e := range a.Elements.ElementSet {
					if e.(*slack.ButtonBlockElement).ActionID == card.ActionOverride {
						return true
					}
				}
			}
		}
		return false
	}
	if !has() {
		t.Error("there is no button")
	}
	r.Access.Rules[0].Override = nil
	if has() {
		t.Error("there is a button that nobody may press")
	}
}

func TestAnOpenReviewIsAskedForAgain(t *testing.T) {
	r, run := planned(t)
	r.types("dave", "override payments-web because checkout is down")
	asked := func() (n int) {
		list, err := r.DB.Notices()
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range list {
			if one.Kind == "review-open" {
				n++
			}
		}
		return n
	}
	for _, step := range []struct {
		passes time.Duration
		want   int
	}{{time.Hour, 0}, {reviewAgain, 1}, {time.Hour, 1}, {reviewAgain, 2}} {
		r.now = r.now.Add(step.passes)
		if err := r.remind(); err != nil {
			t.Fatal(err)
		}
		if n := asked(); n != step.want {
			t.Errorf("asked %d times, want %d", n, step.want)
		}
	}
	if m, ok := r.Notice(t.Context(), r.again(run.ID), "review-open"); !ok || !m.Aloud {
		t.Errorf("nothing is said aloud: %q", m.Text)
	}
}

// TestWhoseYesStillCounts: what was true at the vote has to be true at the act.
func TestWhoseYesStillCounts(t *testing.T) {
	tests := map[string]struct {
		change func(r *rig)
		vote   state.Vote
		want   string
		fails  bool
	}{
		"as it was":                {func(*rig) {}, state.Vote{}, "", false},
		"deactivated":              {func(r *rig) { r.member("bob", func(m *Member) { m.Deleted = true }) }, state.Vote{}, "is deactivated in Slack", false},
		"a guest now":              {func(r *rig) { r.member("bob", func(m *Member) { m.Guest = true }) }, state.Vote{}, "is a guest", false},
		"of another organisation":  {func(r *rig) { r.member("bob", func(m *Member) { m.Team = "T0EXT" }) }, state.Vote{}, "belongs to another organisation", false},
		"unknown to Slack":         {func(r *rig) { r.dir.down = slack.SlackErrorResponse{Err: "user_not_found"} }, state.Vote{}, "is not known to Slack any more", false},
		"Slack is down":            {func(r *rig) { r.dir.down = errors.New("timeout") }, state.Vote{}, "", true},
		"left the group":           {func(r *rig) { r.Access.Groups["payments-owners"] = access.Group{Members: []string{"alice"}} }, state.Vote{}, "may not approve for payments-web any more", false},
		"the group can't be read":  {func(r *rig) { r.Access.Groups["payments-owners"] = access.Group{Slack: "S1"} }, state.Vote{}, "", true},
		"the policy changed":       {func(r *rig) { r.Access.Rules[0].Approve.By = []string{"platform"} }, state.Vote{}, "may not approve for payments-web any more", false},
		"no rule any more":         {func(r *rig) { r.Access.Rules = nil }, state.Vote{}, "may not approve for payments-web any more", false},
		"known by the author name": {func(r *rig) { r.Access.People[1].Kubernetes = []string{"alice@example.com"} }, state.Vote{}, "may not approve for payments-web any more", false},
		"an override":              {func(r *rig) { r.Access.Rules[0].Override = []string{"bob"} }, state.Vote{Override: true}, "", false},
		"an override, taken away":  {func(*rig) {}, state.Vote{Override: true}, "may not override approvals for payments-web any more", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r, run := planned(t)
			r.Access.Rules[0].Override = nil
			tt.change(r)
			tt.vote.By = state.Person{ID: "Ubob", Name: "bob"}
			why, err := Voters{Directory: r.dir, Access: r.Access, Team: team}.StillMay(t.Context(), run, tt.vote)
			if why != tt.want || (err != nil) != tt.fails {
				t.Errorf("%q, %v, want %q", why, err, tt.want)
			}
		})
	}
}

func (r *rig) member(who string, change func(*Member)) {
	m := r.dir.members["U"+who]
	change(&m)
	r.dir.members["U"+who] = m
}

// The books ask those who know.
var _ = book.Config{StillMay: Voters{}.StillMay}
