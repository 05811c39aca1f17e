package book

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"reconcilebot/runbook"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
	"reconcilebot/state"
)

// approve waits until enough people said yes to exactly this plan.
type approve struct{ *systems }

func (approve) ID() state.StepID { return approved.Step }

func (s approve) Do(_ context.Context, r state.Reconciliation) runbook.Outcome {
	plan, err := planned.From(r)
	if err != nil {
		return runbook.Fail(err)
	}
	votes := r.Standing(plan.Digest)
	if i := slices.IndexFunc(votes, func(v state.Vote) bool { return !v.Yes }); i >= 0 {
		return runbook.Fail(fault.New(fault.Refused, fmt.Sprintf("%s declined this plan. Nothing was changed.", votes[i].By.Name)))
	}
	overridden := slices.ContainsFunc(votes, func(v state.Vote) bool { return v.Override })
	if overridden || len(votes) >= plan.Needs.Approvals {
		return approved.Done(Approval{Votes: votes, At: s.Now().UTC()})
	}
	left := ExpiryIn(r).Sub(s.Now())
	if left <= 0 {
		return runbook.Fail(fault.New(fault.Refused, "Nobody approved this plan in time. Nothing was changed."))
	}
	missing := plan.Needs.Approvals - len(votes)
	return runbook.Wait(left, runbook.ForPeople, fmt.Sprintf("waiting for %s by %s", count(missing, "approval"), strings.Join(plan.Needs.From, " or ")))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// recheck makes the plan again before the first act.
type recheck struct {
	*systems
	make planner
}

func (recheck) ID() state.StepID { return checked.Step }

func (s recheck) Do(ctx context.Context, r state.Reconciliation) runbook.Outcome {
	plan, _ := planned.If(r)
	if out, stop := s.recount(ctx, r, s.ID(), plan.Digest); stop {
		return out
	}
	fresh, err := s.make(ctx, r)
	return s.compare(r, fresh, err)
}

// compare lets the votes stand only for a plan that comes out the same. That
// unrelated commits moved the base voids none: the edit is then taken from
// the fresh plan, which was proven on the new base.
func (s *systems) compare(r state.Reconciliation, fresh Plan, err error) runbook.Outcome {
	plan, planErr := planned.From(r)
	if planErr != nil {
		return runbook.Fail(planErr)
	}
	if err != nil {
		if _, _, down := outage(err); down || fault.Of(err) != fault.Refused {
			return s.outcome(r, checked.Step, "look again at "+r.Target, err)
		}
		return runbook.Redo(planned.Step, "the plan can't be made any more: "+fault.Say(err, string(r.ID)))
	}
	if fresh.Digest != plan.Digest {
		return runbook.Redo(planned.Step, moved(plan, fresh))
	}
	return checked.Done(Checked{At: s.Now().UTC(), Base: fresh.Base, Rebased: fresh.Base != plan.Base, Edits: fresh.Edits})
}

// moved says what is different, in the words of the card.
func moved(was, is Plan) string {
	if len(is.Seen.Drift.Changes) == 0 {
		return "nothing differs any more"
	}
	for _, c := range is.Seen.Drift.Changes {
		i := slices.IndexFunc(was.Seen.Drift.Changes, func(old drift.Change) bool {
			return old.UID == c.UID && old.Path.String() == c.Path.String()
		})
		if i < 0 {
			return fmt.Sprintf("%s differs now as well", c.Path)
		}
		old := was.Seen.Drift.Changes[i]
		if fmt.Sprint(old.Live) != fmt.Sprint(c.Live) {
			return fmt.Sprintf("%s is now %v in the cluster", c.Path, c.Live)
		}
		if fmt.Sprint(old.Git) != fmt.Sprint(c.Git) {
			return fmt.Sprintf("%s is now %v in Git", c.Path, c.Git)
		}
	}
	if len(is.Seen.Drift.Changes) < len(was.Seen.Drift.Changes) {
		return "a change is gone from the cluster"
	}
	return "a file that the plan rests on was changed in Git"
}
