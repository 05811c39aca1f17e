package book

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"reconcilebot/runbook"
	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/drift"
	"reconcilebot/state"
)

func (p *pauseWorld) same(t *testing.T, app, want string) {
	t.Helper()
	if got := p.policies[app]; !argocd.SameJSON([]byte(got), []byte(want)) {
		t.Errorf("the sync policy of %s is %s, want %s", app, got, want)
	}
}

func (p *pauseWorld) resume(t *testing.T, by state.Person) state.Reconciliation {
	t.Helper()
	if _, err := p.engine.Resume(id, state.Decision{By: by, Reason: "the queue is empty", Delivery: state.DeliveryID("resume-" + p.clock().String())}); err != nil {
		t.Fatal(err)
	}
	return p.goOn(t, 30, 10*time.Second)
}

func TestAPauseIsTakenBackExactly(t *testing.T) {
	for version, paused := range map[string]string{
		"v2.14.21": `{"retry":{"limit":3},"syncOptions":["CreateNamespace=true"]}`,
		"v3.1.0":   `{"automated":{"prune":true,"selfHeal":true,"enabled":false},"retry":{"limit":3},"syncOptions":["CreateNamespace=true"]}`,
	} {
		t.Run(version, func(t *testing.T) {
			p := newPauseWorld(t)
			p.version = version
			r := p.pause(t)
			if r.Wait == nil || !strings.Contains(r.Wait.Why, "left; resuming now would undo nothing; 0 commits landed meanwhile") {
				t.Fatalf("while paused: %+v %+v", r.Wait, r.Failure)
			}
			p.same(t, "payments-web", paused)
			if look, _ := InspectedIn(r); string(look.Layers[0].Policy) != healing || look.Before.Revision == "" {
				t.Errorf("the snapshot is %s of revision %q", look.Layers[0].Policy, look.Before.Revision)
			}
			r = p.resume(t, alice)
			if r.Outcome != Resumed {
				t.Fatalf("ended %q: %+v %+v", r.Outcome, r.Wait, r.Failure)
			}
			p.same(t, "payments-web", healing)
			if back, _ := RestoredIn(r); !back.Exact || len(back.Left) != 0 {
				t.Errorf("restored %+v", back)
			}
			if len(p.writes) != 2 {
				t.Errorf("%d writes: %q", len(p.writes), p.writes)
			}
		})
	}
}

// What somebody else changed in the policy while it was paused is theirs.
func TestOtherPartsOfThePolicyAreLeft(t *testing.T) {
	p := newPauseWorld(t)
	p.pause(t)
	p.policies["payments-web"] = `{"retry":{"limit":9}}`
	r := p.resume(t, alice)
	p.same(t, "payments-web", `{"automated":{"prune":true,"selfHeal":true},"retry":{"limit":9}}`)
	if back, _ := RestoredIn(r); back.Exact {
		t.Error("it claims to be exactly what it was")
	}
}

func TestWhetherItHoldsIsSaidBeforehand(t *testing.T) {
	parent := drift.Target{Cluster: "eu", Kind: drift.Application, Namespace: "argocd", Name: "apps-prod"}.String()
	for name, c := range map[string]struct {
		set     func(*pauseWorld)
		parents []string
		outcome string
		says    string
	}{
		"nothing above": {func(*pauseWorld) {}, nil, "", "Nothing above"},
		"a parent that heals": {func(p *pauseWorld) {
			p.owner, p.policies["apps-prod"] = "Application apps-prod", `{"automated":{"selfHeal":true}}`
		}, nil, WouldNotHold, "within seconds"},
		"a parent that is not synced": {func(p *pauseWorld) { p.owner, p.policies["apps-prod"] = "Application apps-prod", `{}` }, nil, "", "not synced automatically"},
		"a parent that does not heal": {func(p *pauseWorld) { p.owner, p.policies["apps-prod"] = "Application apps-prod", `{"automated":{}}` }, nil, "", "does not heal by itself"},
		"a parent that ignores it": {func(p *pauseWorld) {
			p.owner, p.policies["apps-prod"] = "Application apps-prod", `{"syncOptions":["RespectIgnoreDifferences=true"]}`
			p.up = `,"ignoreDifferences":[{"group":"argoproj.io","kind":"Application","jsonPointers":["/spec/syncPolicy/automated"]}]`
		}, nil, "", "ignores this field"},
		"a parent without it in Git": {func(p *pauseWorld) {
			p.owner, p.policies["apps-prod"], p.declared = "Application apps-prod", `{"automated":{}}`, `{}`
		}, nil, "", "does not have this field in Git"},
		"a parent, since 3.1": {func(p *pauseWorld) {
			p.version, p.owner, p.policies["apps-prod"] = "v3.1.2", "Application apps-prod", `{"automated":{}}`
		}, nil, "", "its syncs leave such fields"},
		"a parent paused with it": {func(p *pauseWorld) {
			p.owner, p.policies["apps-prod"] = "Application apps-prod", `{"automated":{"selfHeal":true}}`
		}, []string{parent}, "", "apps-prod is paused with it"},
		"an ApplicationSet": {func(p *pauseWorld) { p.owner = "ApplicationSet shop" }, nil, WouldNotHold, "ApplicationSet shop would undo it within seconds"},
		"an ApplicationSet that ignores it": {func(p *pauseWorld) {
			p.owner, p.set = "ApplicationSet shop", argocd.ApplicationSet{Ignores: []argocd.SetIgnore{{JSONPointers: []string{"/spec/syncPolicy"}}}}
		}, nil, "", "ignores this field"},
		"an ApplicationSet that rolls out": {func(p *pauseWorld) { p.owner, p.set = "ApplicationSet shop", argocd.ApplicationSet{Rolling: true} }, nil, WouldNotHold, "starts the syncs itself"},
		"an ApplicationSet unread":         {func(p *pauseWorld) { p.owner, p.setErr = "ApplicationSet shop", &argocd.Denied{} }, nil, WouldNotHold, "may not read"},
		"Flux":                             {func(p *pauseWorld) { p.owner = "Kustomization flux-system/apps" }, nil, WouldNotHold, "next reconciliation"},
		"automated sync is off":            {func(p *pauseWorld) { p.policies["payments-web"] = `{}` }, nil, Moot, ""},
		"paused by somebody else":          {func(p *pauseWorld) { p.policies["payments-web"] = `{"automated":{"enabled":false}}` }, nil, Moot, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPauseWorld(t)
			c.set(p)
			before := p.policies["payments-web"]
			r := p.pause(t, c.parents...)
			if r.Outcome != c.outcome || r.Failure != nil {
				t.Fatalf("ended %q, want %q: %+v %+v", r.Outcome, c.outcome, r.Wait, r.Failure)
			}
			look, _ := InspectedIn(r)
			if !strings.Contains(look.Hold.Why, c.says) {
				t.Errorf("it says %q, want %q", look.Hold.Why, c.says)
			}
			switch {
			case c.outcome != "":
				p.same(t, "payments-web", before)
				if c.outcome == WouldNotHold && look.Hold.Remedy == "" {
					t.Error("it does not say what would hold")
				}
			default:
				if h, ok := HeldIn(r); !ok || h.Undone != nil || h.Over == "" {
					t.Errorf("held = %+v", h)
				}
			}
		})
	}
}

// Parents are paused first and resumed last.
func TestTheOrderOfAChain(t *testing.T) {
	p := newPauseWorld(t)
	p.owner, p.policies["apps-prod"] = "Application apps-prod", `{"automated":{"selfHeal":true}}`
	p.pause(t, drift.Target{Cluster: "eu", Kind: drift.Application, Namespace: "argocd", Name: "apps-prod"}.String())
	r := p.resume(t, alice)
	var order []string
	for _, w := range p.writes {
		order = append(order, strings.Fields(w)[0])
	}
	if r.Outcome != Resumed || !slices.Equal(order, []string{"apps-prod", "payments-web", "payments-web", "apps-prod"}) {
		t.Errorf("ended %q, written in the order %q", r.Outcome, order)
	}
	p.same(t, "apps-prod", `{"automated":{"selfHeal":true}}`)
	p.same(t, "payments-web", healing)
}

func TestAPauseThatSomebodyEndsIsSaid(t *testing.T) {
	p := newPauseWorld(t)
	p.pause(t)
	p.pass(5 * time.Minute)
	p.policies["payments-web"] = `{"automated":{}}`
	p.events = []argocd.Event{{User: "dora", At: p.clock()}}
	r := p.goOn(t, 5, time.Minute)
	if r.Outcome != Undone || UndoneIn(r).By != "dora" || !slices.Contains(p.notices(t), "pause-undone") {
		t.Errorf("ended %q, %+v, said %q", r.Outcome, UndoneIn(r), p.notices(t))
	}
	p.same(t, "payments-web", `{"automated":{}}`)
	if len(p.writes) != 1 {
		t.Errorf("it wrote over somebody else's: %q", p.writes)
	}
}

// A parent that was not known undoes it while it is verified: what was paused
// above is put back.
func TestAPauseThatDoesNotHoldIsTakenBack(t *testing.T) {
	p := newPauseWorld(t)
	p.asks(t)
	looks := 0
	p.onLook = func() {
		if looks++; looks == 4 {
			p.policies["payments-web"] = healing
		}
	}
	r := p.goOn(t, 10, time.Minute)
	if r.Outcome != Undone {
		t.Errorf("ended %q: %+v %+v", r.Outcome, r.Wait, r.Failure)
	}
	p.same(t, "payments-web", healing)
}

func TestTheSyncThatRunsIsEnded(t *testing.T) {
	p := newPauseWorld(t)
	p.asked, p.op = true, &argocd.Operation{Phase: "Running", Automated: true, Retrying: true}
	p.pause(t)
	r, err := p.db.Reconciliation(id)
	if err != nil {
		t.Fatal(err)
	}
	if d, _ := DrainedIn(r); p.ended != 1 || !d.Ended {
		t.Errorf("ended %d times, %+v", p.ended, d)
	}
}

func TestAPersonsSyncIsWaitedFor(t *testing.T) {
	p := newPauseWorld(t)
	p.op = &argocd.Operation{Phase: "Running", By: "dora"}
	p.asks(t)
	r := p.advance(t)
	if r.Wait == nil || !strings.Contains(r.Wait.Why, "dora") || p.ended != 0 {
		t.Fatalf("it waits for %+v, ended %d", r.Wait, p.ended)
	}
	p.op = nil
	p.pass(time.Minute)
	if r = p.goOn(t, 5, time.Minute); r.Wait == nil || r.Wait.For != runbook.ForPeople {
		t.Errorf("then: %+v", r.Wait)
	}
}

// TestNothingIsResumedOverOpenDrift: the end of the pause comes, and what was
// changed by hand meanwhile is asked about, again and louder, for as long as
// it takes.
func TestNothingIsResumedOverOpenDrift(t *testing.T) {
	p := newPauseWorld(t)
	p.pause(t)
	p.live = 6
	for range 200 {
		p.pass(30 * time.Second)
		if r := p.advance(t); r.IsClosed() || r.Failure != nil {
			t.Fatalf("ended %q: %+v", r.Outcome, r.Failure)
		}
	}
	if p.live != 6 || p.syncs != 0 {
		t.Fatalf("%d replicas after %d syncs", p.live, p.syncs)
	}
	count := map[string]int{}
	for _, kind := range p.notices(t) {
		count[kind]++
	}
	if count["pause-reminder"] != 1 || count["pause-question"] != 1 || count["pause-escalated"] < 3 || count["pause-escalated"] > 8 {
		t.Errorf("said %v", count)
	}
	r := p.advance(t)
	ballot, open := p.engine.Ballot(r)
	if !open || ballot.Needed != 1 || !slices.Equal(ballot.Made, []string{"alice@example.com"}) {
		t.Fatalf("the ballot is %+v, %v", ballot, open)
	}
	if _, err := p.engine.Vote(id, state.Vote{By: alice, Yes: true, Digest: ballot.Digest}); err == nil {
		t.Error("who made the change may let it be undone alone")
	}
	if _, err := p.engine.Vote(id, state.Vote{By: bob, Yes: true, Digest: ballot.Digest}); err != nil {
		t.Fatal(err)
	}
	if r = p.goOn(t, 10, 10*time.Second); r.Outcome != Resumed || p.live != 3 {
		t.Errorf("ended %q with %d replicas: %+v", r.Outcome, p.live, r.Wait)
	}
}

// The record says what resuming led to, not what a comparison said that was
// older than Argo CD's own sync.
func TestTheRecordOfAPauseWaitsForTheSync(t *testing.T) {
	for name, c := range map[string]struct {
		behind int
		want   string
	}{
		"in time":          {0, "Synced"},
		"late":             {3, "Synced"},
		"not in good time": {1000, "OutOfSync"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPauseWorld(t)
			p.pause(t)
			p.live, p.behind = 6, c.behind
			r := p.resume(t, bob)
			ballot, open := p.engine.Ballot(r)
			if !open {
				t.Fatalf("nothing is asked: %+v", r.Wait)
			}
			if _, err := p.engine.Vote(id, state.Vote{By: carolP, Yes: true, Digest: ballot.Digest}); err != nil {
				t.Fatal(err)
			}
			r = p.goOn(t, 100, 10*time.Second)
			if end, _ := verified.From(r); r.Outcome != Resumed || end.Sync != c.want {
				t.Errorf("ended %q, %q, want %q: %+v", r.Outcome, end.Sync, c.want, r.Wait)
			}
		})
	}
}

// A yes is for what was shown.
func TestWhatMovesVoidsTheYesToResume(t *testing.T) {
	p := newPauseWorld(t)
	p.pause(t)
	p.live = 6
	r := p.resume(t, bob)
	ballot, open := p.engine.Ballot(r)
	if !open {
		t.Fatalf("nothing is asked: %+v", r.Wait)
	}
	p.live = 8
	if _, err := p.engine.Vote(id, state.Vote{By: carolP, Yes: true, Digest: ballot.Digest}); err != nil {
		t.Fatal(err)
	}
	r = p.goOn(t, 5, time.Second)
	if r.IsClosed() || r.Votes[0].Void == "" || p.live != 8 {
		t.Fatalf("ended %q with %d replicas, the vote is void because %q", r.Outcome, p.live, r.Votes[0].Void)
	}
	// Gone by itself: nothing is left to ask about.
	p.live = 3
	p.pass(time.Minute)
	if r = p.goOn(t, 10, 10*time.Second); r.Outcome != Resumed {
		t.Errorf("ended %q: %+v", r.Outcome, r.Wait)
	}
}

var carolP = state.Person{ID: "U3", Name: "carol"}

// What resuming does, by the rules of Argo CD's own autoSync.
func TestWhatResumingWouldDo(t *testing.T) {
	for name, c := range map[string]struct {
		policy string
		set    func(*pauseWorld)
		want   string
	}{
		"self-heal":                      {healing, func(*pauseWorld) {}, "would undo 1 change (spec.replicas 6 → 3); 0 commits landed meanwhile"},
		"no self-heal, revision tried":   {`{"automated":{}}`, func(*pauseWorld) {}, "would undo nothing; 0 commits landed meanwhile"},
		"no self-heal, revision untried": {`{"automated":{}}`, func(p *pauseWorld) { p.op.Revision = "0ld" }, "would undo 1 change (spec.replicas 6 → 3); 0 commits landed meanwhile"},
		"never synced":                   {`{"automated":{}}`, func(p *pauseWorld) { p.op = nil }, "would undo 1 change (spec.replicas 6 → 3); 0 commits landed meanwhile"},
		"can't be judged":                {healing, func(p *pauseWorld) { p.refused = "ComparisonError" }, "can't be foreseen: what differs can't be judged"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPauseWorld(t)
			p.policies["payments-web"] = c.policy
			p.op = &argocd.Operation{Phase: "Succeeded", Revision: p.seen}
			p.pause(t)
			p.live = 6
			c.set(p)
			p.pass(time.Minute)
			if r := p.advance(t); r.Wait == nil || !strings.HasSuffix(r.Wait.Why, "resuming now "+c.want) {
				t.Errorf("it says %+v, want %q", r.Wait, c.want)
			}
		})
	}
}

func TestDecliningKeepsItPaused(t *testing.T) {
	p := newPauseWorld(t)
	p.pause(t)
	p.live = 6
	r := p.resume(t, bob)
	ballot, _ := p.engine.Ballot(r)
	if _, err := p.engine.Vote(id, state.Vote{By: carolP, Digest: ballot.Digest, Reason: "not yet"}); err != nil {
		t.Fatal(err)
	}
	r = p.goOn(t, 5, time.Second)
	if r.Wait == nil || r.Wait.Step != "remind" || p.live != 6 {
		t.Fatalf("then: %+v", r.Wait)
	}
	p.pass(time.Minute)
	if r = p.resume(t, bob); r.Wait == nil || r.Wait.Step != "approve" {
		t.Errorf("asked again: %+v", r.Wait)
	}
}

func TestExtending(t *testing.T) {
	p := newPauseWorld(t)
	p.pause(t)
	p.live = 6
	r := p.resume(t, bob)
	until := p.clock().Add(2 * time.Hour)
	for range 2 { // the same act twice
		if _, err := p.engine.Extend(id, state.Extension{By: bob, Until: until, Delivery: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	if r = p.goOn(t, 5, time.Second); r.Wait == nil || r.Wait.Step != "remind" || !r.Pause.Until.Equal(until) || len(r.Pause.Extended) != 1 {
		t.Fatalf("after extending: %+v, %+v", r.Wait, r.Pause)
	}
	if _, open := p.engine.Ballot(r); open {
		t.Error("what was asked before is still asked")
	}
}

func TestAPauseEndsByItselfAfterARestart(t *testing.T) {
	p := newPauseWorld(t)
	p.pause(t)
	p.pass(3 * time.Hour)
	p.restart(t)
	if r := p.goOn(t, 10, 10*time.Second); r.Outcome != Resumed {
		t.Errorf("ended %q: %+v", r.Outcome, r.Wait)
	}
	p.same(t, "payments-web", healing)
	if slices.Contains(p.notices(t), "pause-reminder") {
		t.Error("it reminds of an end that is over")
	}
}

func TestARefusedPauseChangesNothing(t *testing.T) {
	p := newPauseWorld(t)
	p.refuse = &argocd.Denied{What: "set", Message: "permission denied"}
	r := p.pause(t)
	h, _ := HaltedIn(r)
	if r.Outcome != NotPaused || !strings.Contains(h.Refused, "applications, update") {
		t.Errorf("ended %q, %q", r.Outcome, h.Refused)
	}
}

// What stands in the way of resuming is said and tried again; a pause never
// ends as a failure that nobody looks at any more.
func TestARightThatWasTakenAway(t *testing.T) {
	p := newPauseWorld(t)
	p.pause(t)
	p.refuse = &argocd.Denied{What: "set", Message: "permission denied"}
	r := p.resume(t, alice)
	if r.Failure != nil || r.Wait == nil || !strings.Contains(r.Wait.Why, "applications, update") || !slices.Contains(p.notices(t), "pause-stuck") {
		t.Fatalf("stuck: %+v %+v, said %q", r.Wait, r.Failure, p.notices(t))
	}
	p.refuse = nil
	p.pass(time.Minute)
	if r = p.goOn(t, 5, 10*time.Second); r.Outcome != Resumed {
		t.Errorf("ended %q: %+v", r.Outcome, r.Wait)
	}
}

func TestAnOutageDoesNotEndAPause(t *testing.T) {
	p := newPauseWorld(t)
	p.pause(t)
	p.down = true
	for range 150 {
		p.pass(30 * time.Second)
		if r := p.advance(t); r.IsClosed() || r.Failure != nil {
			t.Fatalf("ended %q: %+v", r.Outcome, r.Failure)
		}
	}
	p.down = false
	p.pass(time.Minute)
	if r := p.goOn(t, 10, 10*time.Second); r.Outcome != Resumed {
		t.Errorf("ended %q: %+v", r.Outcome, r.Wait)
	}
}

// TestEveryCrashOfAPause stops the pause at every write, and right after each
// write to Argo CD: every layer is written once each way, and ends as it was.
func TestEveryCrashOfAPause(t *testing.T) {
	points := 0
	for point := 1; pauseCrash(t, point, 0); point++ {
		points++
	}
	for effect := 1; pauseCrash(t, 0, effect); effect++ {
		points++
	}
	if points < 20 {
		t.Errorf("only %d points were tried", points)
	}
}

// pauseCrash stops at the point-th write to disk, or after the effect-th write
// to Argo CD before anything of it is written down.
func pauseCrash(t *testing.T, point, effect int) bool {
	t.Helper()
	p := newPauseWorld(t)
	p.owner, p.policies["apps-prod"] = "Application apps-prod", `{"automated":{"selfHeal":true}}`
	p.asks(t, drift.Target{Cluster: "eu", Kind: drift.Application, Namespace: "argocd", Name: "apps-prod"}.String())
	crashed, resumed := false, false
	for range 200 {
		ctx, kill := context.WithCancel(t.Context())
		if err := p.db.Close(); err != nil {
			t.Fatal(err)
		}
		p.onWrite = func() error {
			if len(p.writes) != effect || crashed {
				return nil
			}
			crashed = true
			kill()
			return ctx.Err()
		}
		writes := 0
		p.startCounting(t, func() {
			if writes++; writes == point && !crashed {
				crashed = true
				kill()
			}
		})
		r, err := p.engine.Advance(ctx, id)
		kill()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("point %d, %d: %v", point, effect, err)
		}
		if r.Failure != nil {
			t.Fatalf("point %d, %d: %+v", point, effect, r.Failure)
		}
		if err == nil && r.IsClosed() {
			break
		}
		if r.Wait != nil && r.Wait.For == runbook.ForPeople && !resumed {
			resumed = true
			if _, err := p.engine.Resume(id, state.Decision{By: alice, Delivery: "r"}); err != nil {
				t.Fatal(err)
			}
		}
		p.pass(30 * time.Second)
	}
	r, err := p.db.Reconciliation(id)
	if err != nil || r.Outcome != Resumed || len(p.writes) != 4 {
		t.Errorf("point %d, %d: ended %q, %v, written %q", point, effect, r.Outcome, err, p.writes)
	}
	p.same(t, "payments-web", healing)
	p.same(t, "apps-prod", `{"automated":{"selfHeal":true}}`)
	return crashed
}
