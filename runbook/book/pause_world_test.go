package book

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"reconcilebot/runbook"
	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/drift"
	"reconcilebot/state"
)

// The world without pauses knows nothing of them.
func (w *world) Version(context.Context) (string, error) { return "v2.14.21", nil }
func (w *world) SetAutomated(context.Context, argocd.App, json.RawMessage) (string, error) {
	return "", fmt.Errorf("not here")
}
func (w *world) Terminate(context.Context, argocd.Ref) error { return fmt.Errorf("not here") }
func (w *world) SyncWindows(context.Context, argocd.Ref) (argocd.Windows, error) {
	return argocd.Windows{}, nil
}
func (w *world) Events(context.Context, argocd.Ref) ([]argocd.Event, error) { return nil, nil }
func (w *world) ApplicationSet(context.Context, string, string) (argocd.ApplicationSet, error) {
	return argocd.ApplicationSet{}, &argocd.NotFound{What: "get an ApplicationSet"}
}
func (w *world) Declared(context.Context, argocd.Ref, argocd.Ref) (argocd.App, error) {
	return argocd.App{}, &argocd.Undeclared{What: "look"}
}

// healing is a policy as teams write it, with more than this program knows.
const healing = `{"automated":{"prune":true,"selfHeal":true},"retry":{"limit":3},"syncOptions":["CreateNamespace=true"]}`

// pauseWorld is a world whose Argo CD acts on its sync policies: it heals
// what differs, and a parent puts back what its children should have.
type pauseWorld struct {
	*world
	version  string
	policies map[string]string // by Application
	owner    string            // of the target
	set      argocd.ApplicationSet
	setErr   error
	up       string // the parent's spec besides its policy
	declared string // the child's policy in Git
	writes   []string
	refuse   error
	op       *argocd.Operation
	asked    bool
	ended    int
	events   []argocd.Event
	windows  argocd.Windows
	behind   int          // looks after its own sync at which it still compares with what was before
	onLook   func()       // at every look at the target
	onWrite  func() error // after every write, before it is answered
}

func newPauseWorld(t *testing.T) *pauseWorld {
	t.Helper()
	p := &pauseWorld{world: newWorld(t), version: "v2.14.21", policies: map[string]string{"payments-web": healing}, declared: healing}
	p.live = 3
	p.config.Clusters = map[string]Cluster{"eu": {Survey: p, Argo: p}}
	p.config.Timing.PauseCheck, p.config.Timing.PauseEscalate = 30*time.Second, 10*time.Minute
	p.restart(t)
	return p
}

func (p *pauseWorld) restart(t *testing.T) {
	t.Helper()
	if err := p.db.Close(); err != nil {
		t.Fatal(err)
	}
	p.start(t)
}

func (p *pauseWorld) Version(context.Context) (string, error) { return p.version, nil }

func (p *pauseWorld) App(ctx context.Context, r argocd.Ref) (argocd.App, error) {
	if p.down {
		return argocd.App{}, &argocd.Unavailable{Err: fmt.Errorf("connection refused")}
	}
	policy, ok := p.policies[r.Name]
	if !ok {
		return argocd.App{}, &argocd.NotFound{What: "get " + r.Name}
	}
	if r.Name == "payments-web" && p.onLook != nil {
		p.onLook()
		policy = p.policies[r.Name]
	}
	app, err := p.world.App(ctx, r)
	spec := fmt.Sprintf(`{"project":"default","syncPolicy":%s}`, policy)
	if r.Name != "payments-web" {
		app.Name, app.Sync.Status, app.Operation = r.Name, "Synced", &argocd.Operation{Phase: "Succeeded", Revision: app.Sync.Revision}
		spec = fmt.Sprintf(`{"project":"default"%s,"syncPolicy":%s}`, p.up, policy)
	} else {
		app.Owner, app.Operation, app.Requested = p.owner, p.op, p.asked
	}
	app.Raw = json.RawMessage(`{"metadata":{"resourceVersion":"7","generation":4},"spec":` + spec + `}`)
	app.Automated, _ = argocd.ReadAutomated(app.AutomatedRaw())
	return app, err
}

func (p *pauseWorld) Refresh(ctx context.Context, r argocd.Ref, _ bool) (argocd.App, error) {
	if p.down {
		return p.App(ctx, r)
	}
	if r.Name != "payments-web" {
		up, err := p.App(ctx, r)
		if err == nil && up.Automated.Enabled && up.Automated.SelfHeal {
			p.policies["payments-web"] = p.declared
		}
		return up, err
	}
	if _, err := p.world.Refresh(ctx, r, false); err != nil {
		return argocd.App{}, err
	}
	app, err := p.App(ctx, r)
	if err == nil && app.Automated.Enabled && app.Automated.SelfHeal && app.Sync.Status == "OutOfSync" {
		err = p.world.Sync(ctx, r, argocd.SyncRequest{})
		p.op = &argocd.Operation{Phase: "Succeeded", Automated: true, Revision: p.seen, StartedAt: p.clock()}
		app, _ = p.App(ctx, r)
	}
	if p.behind > 0 && p.syncs > 0 {
		p.behind--
		app.Sync.Status = "OutOfSync"
	}
	return app, err
}

func (p *pauseWorld) SetAutomated(_ context.Context, app argocd.App, automated json.RawMessage) (string, error) {
	if p.refuse != nil {
		return "", p.refuse
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(p.policies[app.Name]), &fields); err != nil {
		return "", err
	}
	if !argocd.SameJSON(fields["automated"], app.AutomatedRaw()) {
		return "", &argocd.Changed{What: "set"}
	}
	delete(fields, "automated")
	if automated != nil {
		fields["automated"] = automated
	}
	raw, err := json.Marshal(fields)
	p.policies[app.Name] = string(raw)
	p.writes = append(p.writes, app.Name+" "+string(automated))
	if p.onWrite != nil {
		if err := p.onWrite(); err != nil {
			return "", err
		}
	}
	return argocd.ByPatch, err
}

func (p *pauseWorld) Terminate(context.Context, argocd.Ref) error {
	p.ended++
	p.asked, p.op = false, &argocd.Operation{Phase: "Failed", Automated: true, Revision: p.seen}
	return nil
}

func (p *pauseWorld) Events(context.Context, argocd.Ref) ([]argocd.Event, error) {
	return p.events, nil
}

func (p *pauseWorld) SyncWindows(context.Context, argocd.Ref) (argocd.Windows, error) {
	return p.windows, nil
}

func (p *pauseWorld) ApplicationSet(context.Context, string, string) (argocd.ApplicationSet, error) {
	return p.set, p.setErr
}

func (p *pauseWorld) Declared(context.Context, argocd.Ref, argocd.Ref) (argocd.App, error) {
	raw := json.RawMessage(`{"spec":{"syncPolicy":` + p.declared + `}}`)
	return argocd.App{Raw: raw}, nil
}

func (p *pauseWorld) Survey(ctx context.Context, t drift.Target) (drift.Drift, error) {
	if t.Name != "payments-web" {
		return drift.Drift{Target: t, Sync: "Synced", Health: "Healthy", Revision: p.seen}, nil
	}
	return p.world.Survey(ctx, t)
}

// pause asks for three quarters of an hour.
func (p *pauseWorld) pause(t *testing.T, parents ...string) state.Reconciliation {
	t.Helper()
	p.asks(t, parents...)
	return p.goOn(t, 8, time.Minute)
}

func (p *pauseWorld) asks(t *testing.T, parents ...string) {
	t.Helper()
	now := p.clock()
	if _, _, err := p.engine.Pause(runbook.Opening{ID: id, Incident: "INC-1234", Room: "C1", Target: target.String(), By: alice}, Pause,
		state.Pause{By: alice, Reason: "need to hold replicas", From: now, Until: now.Add(45 * time.Minute), Parents: parents}, "d"); err != nil {
		t.Fatal(err)
	}
}

// goOn advances so often, letting time pass in between, until it waits for
// people or ends.
func (p *pauseWorld) goOn(t *testing.T, times int, each time.Duration) state.Reconciliation {
	t.Helper()
	var r state.Reconciliation
	for range times {
		r = p.advance(t)
		if r.IsClosed() || r.Failure != nil || r.Wait != nil && r.Wait.For == runbook.ForPeople {
			return r
		}
		p.pass(each)
	}
	return r
}

// notices are what was said so far.
func (p *pauseWorld) notices(t *testing.T) (kinds []string) {
	t.Helper()
	list, err := p.db.Notices()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range list {
		kinds = append(kinds, n.Kind)
	}
	return kinds
}
