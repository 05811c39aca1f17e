package book

import (
	"slices"
	"strings"
	"testing"
	"time"

	"reconcilebot/runbook"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// choose decides for each change that is seen, in their order.
func (w *world) choose(t *testing.T, book state.BookName, do ...Do) Plan {
	t.Helper()
	r := w.chooses(t, book, do...)
	plan, ok := PlanIn(r)
	if !ok {
		t.Fatalf("no plan: %+v", r.Failure)
	}
	return plan
}

func (w *world) chooses(t *testing.T, book state.BookName, do ...Do) state.Reconciliation {
	t.Helper()
	r, err := w.db.Reconciliation(id)
	if err != nil {
		t.Fatal(err)
	}
	seen, _ := SeenIn(r)
	var list []Choice
	for i, c := range seen.Drift.Changes {
		list = append(list, ChoiceFor(c, do[i]))
	}
	if got, err := BookFor(list); err != nil || got != book {
		t.Fatalf("the book is %q, %v", got, err)
	}
	if _, err := w.engine.Decide(id, book, state.Decision{By: alice, Reason: "the pods are needed, the image is not", Delivery: "d", Choice: Choices(list)}); err != nil {
		t.Fatal(err)
	}
	return w.advance(t)
}

// Image first, then replicas: that is the order in which the world shows them.
func TestSomeAdoptedSomeReverted(t *testing.T) {
	w := newWorld(t)
	w.image = "web:2"
	w.open(t)
	plan := w.choose(t, Mixed, DoRevert, DoAdopt)
	if len(plan.Adopts()) != 1 || plan.Adopts()[0].Path.String() != "spec.replicas" || len(plan.Reverts()) != 1 || len(plan.Open) != 0 || len(plan.Edits) != 1 || len(plan.Actions) != 1 {
		t.Fatalf("plan = %+v", plan)
	}
	if !slices.ContainsFunc(plan.Needs.Excluded, func(e Excluded) bool { return e.Name == "dora@example.com" }) {
		t.Errorf("who made what is reverted may approve it: %+v", plan.Needs.Excluded)
	}
	w.approve(t, plan.Digest, bob)
	if body := w.host.Pulls("acme/gitops")[0].Body; strings.Contains(body, "web:2") {
		t.Errorf("the pull request speaks of what it does not have:\n%s", body)
	}
	w.allow(t)
	if r := w.finish(t); r.Outcome != "adopted and reverted" || w.live != 6 || w.image != "" || w.syncs != 1 {
		t.Errorf("ended %q %+v: %d replicas, image %q, %d syncs", r.Outcome, r.Failure, w.live, w.image, w.syncs)
	}
}

func TestWhatIsLeftIsSaid(t *testing.T) {
	w := newWorld(t)
	w.image = "web:2"
	w.open(t)
	plan := w.choose(t, Adopt, DoLeave, DoAdopt)
	if len(plan.Open) != 1 || plan.Open[0].Live != "web:2" || len(plan.Seen.Drift.Changes) != 1 {
		t.Fatalf("open = %+v of %+v", plan.Open, plan.Seen.Drift.Changes)
	}
	w.approve(t, plan.Digest, bob)
	w.allow(t)
	r := w.finish(t)
	if v, _ := VerifiedIn(r); r.Outcome != "adopted" || w.image != "web:2" || w.syncs != 0 || v.Sync != "OutOfSync" {
		t.Errorf("ended %q %+v: image %q, %d syncs, %+v", r.Outcome, r.Failure, w.image, w.syncs, v)
	}
}

// A sync takes the whole object: what is to stay of it would be undone.
func TestAnObjectIsNotSyncedInPart(t *testing.T) {
	w := newWorld(t)
	w.image = "web:2"
	w.open(t)
	if r := w.chooses(t, Revert, DoRevert, DoLeave); r.Failure == nil || !strings.Contains(r.Failure.Say, "would undo spec.replicas too, which is to stay") {
		t.Errorf("failure = %+v", r.Failure)
	}
}

func TestADifferentChoiceIsAnotherPlan(t *testing.T) {
	w := newWorld(t)
	w.image = "web:2"
	w.open(t)
	one := w.choose(t, Mixed, DoRevert, DoAdopt)
	other := one
	other.Do = []Do{DoAdopt, DoRevert}
	digest, err := other.bind()
	if err != nil || digest == one.Digest {
		t.Errorf("the same digest for another choice: %v", err)
	}
}

// What no sync removes is left to a person, with the command; it is waited for.
func TestAddedFieldsAreTakenAwayByHand(t *testing.T) {
	w := newWorld(t)
	w.later = true
	w.open(t)
	plan := w.decide(t, Revert)
	if len(plan.Actions) != 2 || plan.Actions[1].Kind != "hand" || !strings.Contains(plan.Actions[1].Text,
		`kubectl patch deployment web -n payments --type=json -p '[{"op":"test","path":"/metadata/labels/x","value":"y"},{"op":"remove","path":"/metadata/labels/x"}]'`) {
		t.Fatalf("actions = %+v", plan.Actions)
	}
	if _, err := w.engine.Vote(id, state.Vote{By: bob, Yes: true, Digest: plan.Digest, NotMine: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.engine.Vote(id, state.Vote{By: carolP, Yes: true, Digest: plan.Digest, NotMine: true}); err != nil {
		t.Fatal(err)
	}
	var r state.Reconciliation
	for range 5 {
		r = w.advance(t)
		w.pass(30 * time.Second)
	}
	if r.Wait == nil || r.Wait.For != runbook.ForPeople || !strings.Contains(r.Wait.Why, "waiting for somebody to run: kubectl patch") || w.syncs != 1 || w.live != 3 {
		t.Fatalf("%+v %+v after %d syncs", r.Wait, r.Failure, w.syncs)
	}
	w.later = false
	if r = w.finish(t); r.Outcome != "reverted" || w.syncs != 1 {
		t.Errorf("ended %q %+v after %d syncs", r.Outcome, r.Failure, w.syncs)
	}
}

func TestByHand(t *testing.T) {
	at := func(text string) drift.Change {
		p, err := manifest.ParsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		return drift.Change{Object: web, Path: p, Op: manifest.Add, Live: "v", Invisible: true}
	}
	quoted := at("metadata.labels.x")
	quoted.Live = "it's"
	for want, c := range map[string]drift.Change{
		`kubectl patch deployment web -n payments --type=json -p '[{"op":"test","path":"/metadata/annotations/a~1b","value":"v"},{"op":"remove","path":"/metadata/annotations/a~1b"}]'`: at(`metadata.annotations["a/b"]`),
		"kubectl edit deployment web -n payments (take spec.template.spec.containers[name=log] away)":                                                                                   at("spec.template.spec.containers[name=log]"),
		"kubectl edit deployment web -n payments (take metadata.labels.x away)":                                                                                                         quoted,
		"kubectl delete deployment web -n payments":                                                                                                                                     {Object: web, Op: manifest.Add},
	} {
		if got := byHand(c); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
