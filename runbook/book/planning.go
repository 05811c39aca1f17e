package book

import (
	"context"

	"reconcilebot/runbook"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
	"reconcilebot/state"
)

// planner makes a plan from fresh reads.
type planner func(context.Context, state.Reconciliation) (Plan, error)

// planning makes the plan that is put to the vote.
type planning struct {
	*systems
	make planner
}

func (planning) ID() state.StepID { return planned.Step }

func (s planning) Do(ctx context.Context, r state.Reconciliation) runbook.Outcome {
	plan, err := s.make(ctx, r)
	if err != nil {
		return s.outcome(r, s.ID(), "make a plan for "+r.Target, err)
	}
	if len(plan.Seen.Drift.Changes) == 0 {
		return planned.Done(plan).Ending("nothing to do")
	}
	return planned.Done(plan)
}

// fresh begins a plan with a look at the target. What can't be judged is not
// planned for.
func (s *systems) fresh(ctx context.Context, r state.Reconciliation) (Plan, drift.Target, Cluster, error) {
	t, c, err := s.target(r)
	if err != nil {
		return Plan{}, t, c, err
	}
	d, err := c.Survey.Survey(ctx, t)
	if err != nil {
		return Plan{}, t, c, err
	}
	return Plan{Seen: Seen{Drift: d}, Made: s.Now().UTC()}, t, c, judged(d)
}

// judged refuses to plan on a drift that nobody could judge.
func judged(d drift.Drift) error {
	if d.Refused == "" {
		return nil
	}
	return fault.New(fault.Refused, "What differs can't be judged, so nothing is planned: "+d.Refused)
}
