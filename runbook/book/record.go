package book

import (
	"context"

	"reconcilebot/runbook"
	"reconcilebot/state"
)

// record ends a reconciliation. What it says is made from the steps' results,
// so the step itself leaves only the commits that it rests on.
type record struct{ *systems }

func (record) ID() state.StepID { return recorded.Step }

func (s record) Do(_ context.Context, r state.Reconciliation) runbook.Outcome {
	rec := Recorded{At: s.Now().UTC()}
	if plan, ok := planned.If(r); ok {
		if m, ok := merged.If(r); ok {
			rec.Commit = s.Links.Commit(plan.Repo, m.SHA)
		}
	}
	return recorded.Done(rec)
}
