package book

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/drift"
	"reconcilebot/state"
)

// crowd is a world in which a second Application follows the same branch.
type crowd struct {
	*world
	other argocd.App
	drift drift.Drift
}

var ledger = drift.Target{Cluster: "eu", Kind: drift.Application, Namespace: "argocd", Name: "ledger-api"}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	w := newWorld(t)
	c := &crowd{world: w}
	w.commit(t, "ledger/api.yaml", strings.ReplaceAll(fmt.Sprintf(deployment, 3), "web", "api"))
	mine, err := w.Refresh(t.Context(), argocd.Ref{}, false)
	if err != nil {
		t.Fatal(err)
	}
	c.other = mine
	c.other.Sources[0].Path = "ledger"
	c.other.Name, c.other.Automated, c.other.Sync.Status = ledger.Name, argocd.Automated{Present: true, Enabled: true}, "OutOfSync"
	d, err := w.Survey(t.Context(), ledger)
	if err != nil {
		t.Fatal(err)
	}
	c.drift = d
	w.config.Clusters = map[string]Cluster{"eu": {Survey: c, Argo: c}}
	if err := w.db.Close(); err != nil {
		t.Fatal(err)
	}
	w.start(t)
	return c
}

func (c *crowd) Apps(ctx context.Context) ([]argocd.App, error) {
	list, err := c.world.Apps(ctx)
	return append(list, c.other), err
}

func (c *crowd) Survey(ctx context.Context, t drift.Target) (drift.Drift, error) {
	if t == ledger {
		return c.drift, nil
	}
	return c.world.Survey(ctx, t)
}

// ready brings an adoption up to its merge.
func (c *crowd) ready(t *testing.T) state.Reconciliation {
	t.Helper()
	c.open(t)
	c.approve(t, c.decide(t, Adopt).Digest, bob)
	c.allow(t)
	c.pass(30 * time.Second)
	return c.advance(t)
}

func (c *crowd) merged() bool { return c.host.Pulls("acme/gitops")[0].State == "merged" }

// TestAMergeDoesNotEraseOthersFixes: what stands elsewhere by hand is named,
// and nothing is merged until it is dealt with.
func TestAMergeDoesNotEraseOthersFixes(t *testing.T) {
	for name, deal := range map[string]func(*testing.T, *crowd, state.Ask){
		"adopted there":  func(_ *testing.T, c *crowd, _ state.Ask) { c.other.Sync.Status = "Synced" },
		"gone by itself": func(_ *testing.T, c *crowd, _ state.Ask) { c.drift.Changes = nil },
		"paused":         func(_ *testing.T, c *crowd, _ state.Ask) { c.other.Automated.Enabled = false },
		"accepted": func(t *testing.T, c *crowd, ask state.Ask) {
			if _, err := c.engine.Accept(id, state.Acceptance{Target: ask.Target, Digest: ask.Digest, By: bob}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrowd(t)
			r := c.ready(t)
			if r.Wait == nil || len(r.Wait.Asks) != 1 || r.Wait.Asks[0].Target != ledger.String() || !strings.Contains(r.Wait.Asks[0].Text, "6 → 3") || c.merged() {
				t.Fatalf("it waits for %+v, merged: %v, %+v", r.Wait, c.merged(), r.Failure)
			}
			deal(t, c, r.Wait.Asks[0])
			c.pass(30 * time.Second)
			if r = c.finish(t); r.Outcome != "adopted" || !c.merged() {
				t.Errorf("ended %q: %+v %+v", r.Outcome, r.Wait, r.Failure)
			}
		})
	}
}

func TestAYesIsForWhatWasShownElsewhere(t *testing.T) {
	c := newCrowd(t)
	r := c.ready(t)
	ask := r.Wait.Asks[0]
	c.drift.Changes[0].Live = float64(9)
	if _, err := c.engine.Accept(id, state.Acceptance{Target: ask.Target, Digest: ask.Digest, By: bob}); err != nil {
		t.Fatal(err)
	}
	c.pass(30 * time.Second)
	if r = c.advance(t); r.Wait == nil || len(r.Wait.Asks) != 1 || !strings.Contains(r.Wait.Asks[0].Text, "9 → 3") || c.merged() {
		t.Errorf("it waits for %+v, merged: %v", r.Wait, c.merged())
	}
	if _, err := c.engine.Accept(id, state.Acceptance{Target: ask.Target, Digest: "other", By: bob}); err == nil {
		t.Error("what is not asked was accepted")
	}
}

// What nothing undoes by a merge, or is undone anyway, holds nothing up.
func TestWhoIsNoBystander(t *testing.T) {
	for name, set := range map[string]func(*crowd){
		"heals by itself":        func(c *crowd) { c.other.Automated.SelfHeal = true },
		"is synced by hand":      func(c *crowd) { c.other.Automated = argocd.Automated{} },
		"follows another branch": func(c *crowd) { c.other.Sources[0].TargetRevision = "release" },
		"another repository":     func(c *crowd) { c.other.Sources[0].RepoURL = "http://git/acme/other.git" },
		"only added by hand":     func(c *crowd) { c.drift.Changes[0].Invisible = true },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrowd(t)
			set(c)
			c.ready(t)
			if r := c.finish(t); r.Outcome != "adopted" {
				t.Errorf("ended %q: %+v %+v", r.Outcome, r.Wait, r.Failure)
			}
		})
	}
}
