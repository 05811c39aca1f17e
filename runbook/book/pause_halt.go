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

// halt switches automated sync off, from the top down: a parent that still
// heals would undo it.
type halt struct{ *systems }

func (halt) ID() state.StepID { return halted.Step }

func (s halt) Do(ctx context.Context, r state.Reconciliation) runbook.Outcome {
	look, c, err := s.pausing(r)
	if err != nil {
		return runbook.Fail(err)
	}
	done := Halted{}
	for i, layer := range look.Layers {
		app, err := c.Argo.App(ctx, ref(layer.Target))
		if err != nil {
			return s.outcome(r, s.ID(), "look at "+layer.Target.Name, err)
		}
		if argocd.SameJSON(app.AutomatedRaw(), layer.Paused) {
			continue // by us, before a crash could be written down
		}
		if !argocd.SameJSON(app.AutomatedRaw(), layer.Automated) {
			return s.changedBefore(i, layer)
		}
		way, err := c.Argo.SetAutomated(ctx, app, layer.Paused)
		if isA[*argocd.Changed](err) {
			return runbook.Wait(s.Timing.PollController, runbook.ForPoll, layer.Target.Name+" is being edited by somebody else; looking again")
		}
		if isA[*argocd.Denied](err) || isA[*argocd.Refused](err) {
			return s.refused(i, layer, fault.Say(mayNotPause(explain("switch off automated sync of "+layer.Target.Name, err)), string(r.ID)))
		}
		if err != nil {
			return s.outcome(r, s.ID(), "switch off automated sync of "+layer.Target.Name, err)
		}
		done.Ways = append(done.Ways, way)
	}
	done.At = s.Now().UTC()
	return halted.Done(done).Saying(state.Said{Kind: "paused", By: r.Pause.By, Data: look.Layers})
}

// changedBefore is what happens when the policy is neither what was seen nor
// what is to be. Nothing is known of it then, and nothing is written to it.
func (s halt) changedBefore(i int, layer Layer) runbook.Outcome {
	if i == 0 {
		return runbook.Redo(inspected.Step, "the sync policy of "+layer.Target.Name+" was changed by somebody else")
	}
	return s.refused(i, layer, "Somebody changed the sync policy of "+layer.Target.Name+" at the same moment, so it was not touched.")
}

// refused ends a pause that can't be begun. What was switched off above is put
// back, by the steps that always do that.
func (s halt) refused(i int, layer Layer, why string) runbook.Outcome {
	now := s.Now().UTC()
	if i == 0 {
		return halted.Done(Halted{At: now, Refused: why}).Ending(NotPaused).Saying(state.Said{Kind: "not-paused", Data: why})
	}
	u := &Undoing{Target: layer.Target, At: now, Why: why}
	return halted.Done(Halted{At: now, Refused: why, Undone: u}).Saying(saidUndone(u))
}

func mayNotPause(err error) error {
	if isA[*argocd.Denied](err) {
		return &fault.Error{Kind: fault.Refused, Err: err,
			Say: "Argo CD does not let reconcilebot's account change the sync policy. Whoever runs Argo CD can grant it: applications, update, in argocd-rbac-cm. `reconcilebot doctor` shows it."}
	}
	return err
}

// pausing is what the steps of a pause go by.
func (s *systems) pausing(r state.Reconciliation) (Inspected, Cluster, error) {
	look, err := inspected.From(r)
	if err != nil {
		return look, Cluster{}, err
	}
	if r.Pause == nil {
		return look, Cluster{}, fmt.Errorf("reconciliation %s goes by the book of pauses and is none", r.ID)
	}
	_, c, err := s.target(r)
	return look, c, err
}

// drain ends the automated sync that runs, or waits for the one that a person
// asked for. A sync that is under way, or between two tries, goes on although
// automated sync is off.
type drain struct{ *systems }

func (drain) ID() state.StepID { return drained.Step }

func (s drain) Do(ctx context.Context, r state.Reconciliation) runbook.Outcome {
	look, c, err := s.pausing(r)
	if err != nil {
		return runbook.Fail(err)
	}
	done := Drained{}
	if undoneIn(r) != nil || !s.Now().Before(r.Pause.Until) {
		return drained.Done(Drained{At: s.Now().UTC()})
	}
	if w := r.Wait; w != nil && w.Step == s.ID() {
		done.Ended = w.Why == waitsForEnded
	}
	for _, layer := range look.Layers {
		app, err := c.Argo.App(ctx, ref(layer.Target))
		if err != nil {
			return s.stuck(r, s.ID(), "look at "+layer.Target.Name, err)
		}
		if !running(app) {
			continue
		}
		if op := app.Operation; op != nil && !op.Done() && !op.Automated && op.By != "" {
			return s.linger(r, s.ID(), "waiting for the sync that "+op.By+" asked for")
		}
		err = c.Argo.Terminate(ctx, ref(layer.Target))
		if err != nil && !isA[*argocd.NotRunning](err) && !isA[*argocd.Busy](err) {
			return s.stuck(r, s.ID(), "end the sync of "+layer.Target.Name, err)
		}
		return s.linger(r, s.ID(), waitsForEnded)
	}
	done.At = s.Now().UTC()
	return drained.Done(done)
}

const waitsForEnded = "waiting for the automated sync, which was told to end"

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
