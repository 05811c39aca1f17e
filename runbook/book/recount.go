package book

import (
	"context"
	"time"

	"reconcilebot/runbook"
	"reconcilebot/state"
)

// recount asks of everybody whose yes counts whether it still does: between a
// vote and the act somebody may have left the company, the group or the policy.
// What nobody can tell is waited for. stop means that out is the step's
// answer.
func (s *systems) recount(ctx context.Context, r state.Reconciliation, id state.StepID, digest string) (out runbook.Outcome, stop bool) {
	if s.StillMay == nil {
		return out, false
	}
	var gone []runbook.Voided
	for _, v := range r.Standing(digest) {
		if !v.Yes {
			continue
		}
		why, err := s.StillMay(ctx, r, v)
		if err != nil {
			s.Log.Warn("whether somebody may still approve is not known", "run", r.ID, "step", id, "user", v.By.ID, "err", err)
			since := s.Now()
			if w := r.Wait; w != nil && w.Step == id && w.For == runbook.ForOutage {
				since = w.Since
			}
			return runbook.Wait(runbook.Poll(since, s.Now(), time.Second, 30*time.Second), runbook.ForOutage,
				"waiting to learn whether the yes of "+v.By.Name+" still counts: who may approve can't be read; this goes on by itself when it can"), true
		}
		if why != "" {
			gone = append(gone, runbook.Voided{Vote: v, Why: why})
		}
	}
	if len(gone) == 0 {
		return out, false
	}
	return runbook.Recount(approved.Step, gone...), true
}

// ExpiryIn is until when a plan is open to votes. Where votes were taken back
// it is open for as long again: whose yes is missing now was not asked before.
func ExpiryIn(r state.Reconciliation) time.Time {
	plan, ok := planned.If(r)
	if !ok {
		return time.Time{}
	}
	until := plan.Needs.Expires
	for _, v := range r.Votes {
		if again := v.VoidAt.Add(plan.Needs.Expires.Sub(plan.Made)); v.Digest == plan.Digest && !v.VoidAt.IsZero() && again.After(until) {
			until = again
		}
	}
	return until
}
