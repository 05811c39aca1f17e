package book

import (
	"context"
	"fmt"

	"reconcilebot/runbook"
	"reconcilebot/runbook/argocd"
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
