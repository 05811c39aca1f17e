package book

import (
	"context"
	"fmt"
	"time"

	"reconcilebot/runbook"
	"reconcilebot/runbook/argocd"
	"reconcilebot/state"
)

// verify looks until the end state is there: the merged revision, Synced,
// Healthy, no operation under way, and nothing of the plan differs.
type verify struct{ *systems }

func (verify) ID() state.StepID { return verified.Step }

func (s verify) Do(ctx context.Context, r state.Reconciliation) runbook.Outcome {
	app, why, err := s.endState(ctx, r)
	if err != nil {
		return s.outcome(r, s.ID(), "verify "+r.Target, err)
	}
	if why != "" {
		return s.patience(r, s.ID(), why)
	}
	return verified.Done(Verified{Revision: app.Sync.Revision, Sync: app.Sync.Status, Health: app.Health, At: s.Now().UTC()})
}

// settle looks once more, after a further refresh, when the end state has had
// time to be undone.
type settle struct{ *systems }

func (settle) ID() state.StepID { return settled.Step }

func (s settle) Do(ctx context.Context, r state.Reconciliation) runbook.Outcome {
	v, err := verified.From(r)
	if err != nil {
		return runbook.Fail(err)
	}
	if left := v.At.Add(s.Timing.StableFor).Sub(s.Now()); left > 0 {
		return runbook.Wait(left, runbook.ForPoll, fmt.Sprintf("watching that it stays so for %s", s.Timing.StableFor))
	}
	app, why, err := s.endState(ctx, r)
	if err != nil {
		return s.outcome(r, s.ID(), "verify "+r.Target+" once more", err)
	}
	if why != "" {
		return s.patience(r, s.ID(), why)
	}
	now := s.Now().UTC()
	return settled.Done(Verified{Revision: app.Sync.Revision, Sync: app.Sync.Status, Health: app.Health, At: now, Stable: now.Sub(v.At).Round(time.Second)})
}

// endState refreshes and says what is still missing; why is empty when
// nothing is.
func (s *systems) endState(ctx context.Context, r state.Reconciliation) (app argocd.App, why string, err error) {
	t, c, err := s.target(r)
	if err != nil {
		return app, "", err
	}
	plan, err := planned.From(r)
	if err != nil {
		return app, "", err
	}
	if app, err = c.Argo.Refresh(ctx, ref(t), false); err != nil {
		return app, "", err
	}
	if m, ok := merged.If(r); ok {
		if has, err := s.contains(ctx, app, m.SHA); err != nil || !has {
			return app, "waiting for Argo CD to compare with " + short(m.SHA), err
		}
	}
	if running(app) {
		return app, "waiting for the sync that runs in Argo CD", nil
	}
	left, _, err := s.differing(ctx, c, t, plan)
	switch {
	case err != nil:
		return app, "", err
	case len(left) > 0:
		return app, fmt.Sprintf("%s of %s %s still differs from Git", left[0].Path, left[0].Object.Kind, left[0].Object.Name), nil
	case app.Sync.Status != "Synced" && len(plan.Open) == 0:
		return app, "the Application is " + app.Sync.Status, nil
	case app.Health != "Healthy":
		return app, "the Application is " + app.Health, nil
	}
	return app, "", nil
}
