package book

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"reconcilebot/runbook"
	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
	"reconcilebot/state"
)

// hold looks whether the pause stands: what is above has looked twice, and
// so has Argo CD at the target itself.
type hold struct{ *systems }

func (hold) ID() state.StepID { return held.Step }

// leastHold is how long a pause under something that can't be told to look
// has to stand: an ApplicationSet's controller is told of the change, and
// writes within a second or two.
const leastHold = 5 * time.Second

func (s hold) Do(ctx context.Context, r state.Reconciliation) runbook.Outcome {
	look, c, err := s.pausing(r)
	if err != nil {
		return runbook.Fail(err)
	}
	h, err := halted.From(r)
	if err != nil {
		return runbook.Fail(err)
	}
	if h.Undone != nil {
		return held.Done(Held{At: s.Now().UTC()})
	}
	parent, busy, err := s.cycle(ctx, c, look)
	if err != nil {
		return s.unverified(r, err)
	}
	undone, err := s.standing(ctx, c, look, h.At)
	switch {
	case err != nil:
		return s.unverified(r, err)
	case undone != nil:
		return held.Done(Held{At: s.Now().UTC(), Undone: undone}).Saying(saidUndone(undone))
	case busy != "":
		return s.unverified(r, &argocd.Busy{What: busy})
	}
	since, settled := s.Now(), s.Timing.StableFor
	if look.Hold.By != "" && parent == "" {
		settled = max(settled, leastHold)
	}
	if w := r.Wait; w != nil && w.Step == s.ID() && w.Why == waitsForHold {
		since = w.Since
	}
	if left := settled - s.Now().Sub(since); left > 0 || r.Wait == nil || r.Wait.Step != s.ID() {
		return runbook.Wait(max(left, s.Timing.PollController), runbook.ForPoll, waitsForHold)
	}
	late, err := s.late(ctx, c, look, h.At)
	if err != nil {
		return s.unverified(r, err)
	}
	over := fmt.Sprintf("verified over 2 looks of Argo CD and %s", s.Now().Sub(h.At).Round(time.Second))
	if parent != "" {
		over = "verified over 2 looks of " + parent
	}
	return held.Done(Held{At: s.Now().UTC(), Over: over, Late: late}).Saying(state.Said{Notice: "paused", Kind: "pause-holds"})
}

// unverified waits for what can't be seen now. A pause is not given up for
// that: after a while it goes on, and says that it could not be verified.
func (s hold) unverified(r state.Reconciliation, err error) runbook.Outcome {
	now := s.Now()
	patient := r.Wait == nil || r.Wait.Step != s.ID() || now.Sub(r.Wait.Since) < s.Timing.Verify
	if !patient || !now.Before(r.Pause.Until) {
		return held.Done(Held{At: now.UTC(), Over: "not verified: " + explainBriefly(err)}).Saying(state.Said{Notice: "paused", Kind: "pause-not-verified"})
	}
	if busy, ok := errors.AsType[*argocd.Busy](err); ok {
		return s.linger(r, s.ID(), busy.What)
	}
	return s.stuck(r, s.ID(), "verify that the pause of "+r.Target+" holds", err)
}

// linger waits for as long as it takes.
func (s *systems) linger(r state.Reconciliation, id state.StepID, why string) runbook.Outcome {
	since := s.Now()
	if r.Wait != nil && r.Wait.Step == id {
		since = r.Wait.Since
	}
	return runbook.Wait(runbook.Poll(since, s.Now(), s.Timing.PollController, s.Timing.PauseCheck), runbook.ForPoll, why)
}

// stuck is outcome for a pause that has taken hold: whatever stands in the way
// of ending it is said, and tried again. It must not end as a failure, which
// nobody would look at any more while the target stays paused.
func (s *systems) stuck(r state.Reconciliation, id state.StepID, doing string, err error) runbook.Outcome {
	if _, _, down := outage(err); down || errors.Is(err, context.Canceled) {
		return s.outcome(r, id, doing, err)
	}
	why := fault.Say(mayNotPause(explain(doing, err)), string(r.ID))
	s.Log.Warn("a pause is stuck", "run", r.ID, "step", id, "err", err)
	return runbook.Wait(s.Timing.PauseCheck, runbook.ForPeople, why).Saying(state.Said{Notice: "pause-stuck", Kind: "pause-stuck", Data: why})
}

const waitsForHold = "watching that the pause holds"

// cycle has Argo CD look at what would undo the pause: the parent, if that is
// an Application, and the target. parent is the former's name; busy says what
// runs and has to end before the look counts.
func (s hold) cycle(ctx context.Context, c Cluster, look Inspected) (parent, busy string, err error) {
	looked := []drift.Target{look.Layers[len(look.Layers)-1].Target}
	for _, l := range look.Layers {
		if !slices.Contains(looked, l.Target) {
			looked = append(looked, l.Target)
		}
	}
	if p := look.Hold.Parent; p != nil && !slices.Contains(looked, *p) {
		looked = append(looked, *p)
		parent = p.Name
	}
	for _, t := range looked {
		app, err := s.refreshed(ctx, c, t)
		if isA[*argocd.Refused](err) {
			continue // told not to be looked at: it does not undo anything
		}
		if err != nil {
			return parent, "", err
		}
		if running(app) {
			busy = "waiting for the sync of " + t.Name
		}
	}
	return parent, busy, nil
}

// refreshing bounds a refresh: one that waits for a repo server which does not
// answer would take the time of all that comes after it.
const refreshing = 30 * time.Second

func (s *systems) refreshed(ctx context.Context, c Cluster, t drift.Target) (argocd.App, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, refreshing, fmt.Errorf("not refreshed within %s", refreshing))
	defer cancel()
	return c.Argo.Refresh(ctx, ref(t), false)
}

// standing finds out whether every layer is as the pause left it.
func (s *systems) standing(ctx context.Context, c Cluster, look Inspected, since time.Time) (*Undoing, error) {
	for _, layer := range look.Layers {
		app, err := c.Argo.App(ctx, ref(layer.Target))
		if err != nil {
			return nil, err
		}
		if argocd.SameJSON(app.AutomatedRaw(), layer.Paused) {
			continue
		}
		return &Undoing{Target: layer.Target, By: s.whoUndid(ctx, c, layer.Target, since), At: s.Now().UTC()}, nil
	}
	return nil, nil
}

// whoUndid asks Argo CD's trail who last wrote to an Application since the
// pause began. Nobody is named where the trail names nobody: a parent's sync
// leaves none.
func (s *systems) whoUndid(ctx context.Context, c Cluster, t drift.Target, since time.Time) string {
	events, err := c.Argo.Events(ctx, ref(t))
	if err != nil {
		s.Log.Info("Argo CD's trail can't be read", "target", t, "err", err)
	}
	who := ""
	for _, e := range events {
		// Times have whole seconds, and the first is our own writing.
		if e.User != "" && e.At.After(since.Add(time.Second)) {
			who = e.User
		}
	}
	return who
}

func saidUndone(u *Undoing) state.Said {
	return state.Said{Notice: "pause-undone", Kind: "pause-undone", Data: u}
}

// late finds an automated sync that started after the pause: Argo CD decides
// from what it read a moment before, and does not look at the policy again
// when it starts one.
func (s hold) late(ctx context.Context, c Cluster, look Inspected, since time.Time) (time.Time, error) {
	app, err := c.Argo.App(ctx, ref(look.Layers[len(look.Layers)-1].Target))
	if err != nil {
		return time.Time{}, err
	}
	if op := app.Operation; op != nil && op.Automated && op.StartedAt.After(since.Truncate(time.Second)) {
		return op.StartedAt, nil
	}
	return time.Time{}, nil
}
