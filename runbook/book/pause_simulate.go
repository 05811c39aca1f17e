package book

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"reconcilebot/runbook"
	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// simulate says what resuming will do, before it is done.
type simulate struct{ *systems }

func (simulate) ID() state.StepID { return simulated.Step }

func (s simulate) Do(ctx context.Context, r state.Reconciliation) runbook.Outcome {
	if undoneIn(r) != nil {
		return simulated.Done(Simulation{At: s.Now().UTC()})
	}
	look, _, err := s.pausing(r)
	if err != nil {
		return runbook.Fail(err)
	}
	sim, err := s.simulation(ctx, r, look)
	if err != nil {
		return s.stuck(r, s.ID(), "see what resuming "+r.Target+" would do", err)
	}
	return simulated.Done(sim)
}

// simulation foretells what Argo CD does once automated sync is on again. The
// order is that of its autoSync in controller/appcontroller.go: it acts only
// on what is OutOfSync, syncs a revision that it has not tried as a whole, and
// otherwise, with self-heal, just the objects that differ.
func (s *systems) simulation(ctx context.Context, r state.Reconciliation, look Inspected) (Simulation, error) {
	sim := Simulation{At: s.Now().UTC()}
	_, c, err := s.target(r)
	if err != nil {
		return sim, err
	}
	for _, layer := range look.Layers {
		if err := s.foresee(ctx, c, layer, look.Layers, &sim); err != nil {
			return sim, err
		}
	}
	sim.Commits = s.landed(ctx, c, look)
	sim.Needs = s.approvals(r, drift.Drift{Changes: sim.Undo})
	if len(sim.Prune) > 0 || sim.Refused != "" {
		// What is deleted, or can't be seen, two people look at.
		sim.Needs.Approvals = max(sim.Needs.Approvals, 2)
	}
	sim.Digest, err = sim.bind(look)
	return sim, err
}

// foresee adds what happens to one Application.
func (s *systems) foresee(ctx context.Context, c Cluster, layer Layer, paused []Layer, sim *Simulation) error {
	app, err := s.refreshed(ctx, c, layer.Target)
	if err != nil {
		// As it was seen last; what can't be judged from that, the survey says.
		if app, err = c.Argo.App(ctx, ref(layer.Target)); err != nil {
			return err
		}
	}
	d, err := c.Survey.Survey(ctx, layer.Target)
	if err != nil {
		return err
	}
	sim.Revision = d.Revision
	if d.Refused != "" {
		sim.Refused = strings.TrimSpace(sim.Refused + " " + d.Refused)
		return nil
	}
	policy, err := argocd.ReadAutomated(layer.Automated)
	if err != nil {
		return err
	}
	if windows, err := c.Argo.SyncWindows(ctx, ref(layer.Target)); err != nil {
		return err
	} else if why, blocked := windows.Blocks(); blocked {
		sim.Window = why
	}
	// Of several sources' revisions it is not known which were tried: then it
	// counts as not tried, and is asked about rather than not.
	full := app.Operation == nil || app.Sync.Revision == "" || app.Operation.Revision != app.Sync.Revision
	acts := policy.Enabled && app.Sync.Status == "OutOfSync" && (full || policy.SelfHeal)
	sim.Full = sim.Full || acts && full
	for _, change := range d.Changes {
		whole := len(change.Path) == 0 && change.Op == manifest.Add
		switch {
		case ofPause(change, paused):
		case acts && whole && policy.Prune:
			sim.prune(change.Object.Kind + " " + strings.TrimPrefix(change.Object.Namespace+"/"+change.Object.Name, "/"))
		case acts && !change.Invisible && !whole:
			sim.Undo = append(sim.Undo, change)
			sim.restart(change)
		default:
			sim.Stay = append(sim.Stay, change)
		}
	}
	for _, res := range app.Resources {
		if acts && policy.Prune && res.Prune {
			sim.prune(res.Kind + " " + strings.TrimPrefix(res.Namespace+"/"+res.Name, "/"))
		}
	}
	return nil
}

// ofPause tells whether a change is nothing but the pause itself, as a parent
// sees it.
func ofPause(c drift.Change, paused []Layer) bool {
	return c.Object.Kind == drift.Application && strings.HasPrefix(c.Path.String(), "spec.syncPolicy") &&
		slices.ContainsFunc(paused, func(l Layer) bool { return l.Target.Name == c.Object.Name })
}

func (s *Simulation) prune(object string) {
	if !slices.Contains(s.Prune, object) {
		s.Prune = append(s.Prune, object)
	}
}

// restart notes the workload whose Pods are made anew by an undone change.
func (s *Simulation) restart(c drift.Change) {
	object := c.Object.Kind + " " + strings.TrimPrefix(c.Object.Namespace+"/"+c.Object.Name, "/")
	kinds := []string{"Deployment", "StatefulSet", "DaemonSet"}
	if slices.Contains(kinds, c.Object.Kind) && strings.HasPrefix(c.Path.String(), "spec.template") && !slices.Contains(s.Restart, object) {
		s.Restart = append(s.Restart, object)
	}
}

// landed counts the commits that touched the target's folder since the pause
// began; -1 if they can't be counted.
func (s *systems) landed(ctx context.Context, c Cluster, look Inspected) int {
	const most = 50
	t := look.Layers[len(look.Layers)-1].Target
	app, err := c.Argo.App(ctx, ref(t))
	if err != nil || len(app.Sources) == 0 || look.Before.Revision == "" {
		return -1
	}
	if app.Sync.Revision == look.Before.Revision {
		return 0
	}
	repo, err := s.Repo(ctx, app.Sources[0].RepoURL)
	if err != nil {
		return -1
	}
	if err := repo.Fetch(ctx); err != nil {
		return -1
	}
	commits, err := repo.History(ctx, app.Sync.Revision, app.Sources[0].Path, most)
	if err != nil {
		return -1
	}
	n := 0
	for _, commit := range commits {
		if old, err := repo.Contains(ctx, look.Before.Revision, commit.SHA); err != nil || old {
			break
		}
		n++
	}
	return n
}

// bind computes the digest that a yes is bound to: what is undone, deleted and
// put back. That a harmless commit landed voids no yes.
func (s Simulation) bind(look Inspected) (string, error) {
	type value struct {
		UID, Path string
		Op        manifest.Op
		Git, Live any
	}
	bound := struct {
		Layers  []Layer
		Undo    []value
		Prune   []string
		Refused string
	}{Layers: look.Layers, Prune: s.Prune, Refused: s.Refused}
	for _, c := range s.Undo {
		bound.Undo = append(bound.Undo, value{c.UID, c.Path.String(), c.Op, c.Git, c.Live})
	}
	raw, err := json.Marshal(bound)
	if err != nil {
		return "", fmt.Errorf("bind what resuming does: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

// Brief says in a few words what resuming would do, to stand after "resuming".
func (s Simulation) Brief() string {
	if s.Refused != "" {
		return "can't be foreseen: what differs can't be judged"
	}
	var parts []string
	switch len(s.Undo) {
	case 0:
	case 1:
		c := s.Undo[0]
		text := "undo 1 change"
		if len(c.Path) > 0 && !c.Masked {
			text += fmt.Sprintf(" (%s %s → %s)", c.Path, inline(c.Live), inline(c.Git))
		}
		parts = append(parts, text)
	default:
		parts = append(parts, fmt.Sprintf("undo %d changes", len(s.Undo)))
	}
	if len(s.Prune) > 0 {
		parts = append(parts, "delete "+count(len(s.Prune), "object"))
	}
	if len(parts) == 0 {
		parts = append(parts, "undo nothing")
	}
	text := "would " + strings.Join(parts, " and ")
	if s.Commits >= 0 {
		text += "; " + count(s.Commits, "commit") + " landed meanwhile"
	}
	return text
}

// resumeBallot puts it to the vote what resuming undoes.
func resumeBallot(r state.Reconciliation) (runbook.Ballot, bool) {
	sim, ok := simulated.If(r)
	if !ok || !sim.Harmful() || r.Done(approved.Step) {
		return runbook.Ballot{}, false
	}
	return runbook.Ballot{
		Digest: sim.Digest, Needed: sim.Needs.Approvals, Expires: sim.At.AddDate(1, 0, 0),
		Made: made(drift.Drift{Changes: sim.Undo}), Disown: sim.Needs.Disown,
	}, true
}
