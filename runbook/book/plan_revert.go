package book

import (
	"context"
	"slices"
	"strings"

	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// reversion plans a sync of just the objects that differ, from fresh reads.
// What no sync undoes is left to a person, with the command that does.
func (s *systems) reversion(ctx context.Context, r state.Reconciliation) (Plan, error) {
	plan, _, _, err := s.fresh(ctx, r)
	if err != nil {
		return plan, err
	}
	if err := plan.split(r); err != nil || len(plan.Seen.Drift.Changes) == 0 {
		return plan, err
	}
	d := plan.Seen.Drift
	if err := entangled(d.Changes, plan.Open); err != nil {
		return plan, err
	}
	plan.Actions = undoing(d.Changes)
	if plan.Needs, err = s.needs(ctx, r, d, nil, nil); err != nil {
		return plan, err
	}
	plan.Digest, err = plan.bind()
	return plan, err
}

// mixture plans both: what is adopted by a pull request, and after its merge a
// sync of what is reverted.
func (s *systems) mixture(ctx context.Context, r state.Reconciliation) (Plan, error) {
	plan, t, c, err := s.fresh(ctx, r)
	if err != nil {
		return plan, err
	}
	if err := plan.split(r); err != nil || len(plan.Seen.Drift.Changes) == 0 {
		return plan, err
	}
	if err := entangled(plan.Reverts(), plan.Open); err != nil {
		return plan, err
	}
	plan.Actions = undoing(plan.Reverts())
	return s.edited(ctx, r, plan, t, c)
}

func inNamespace(o manifest.Object) string {
	if o.Namespace == "" {
		return ""
	}
	return " -n " + o.Namespace
}

// undoing is how each change is undone: by a sync of just the objects that
// differ, or, where that leaves it in place, by a person.
func undoing(changes []drift.Change) (list []Action) {
	sync := Action{Kind: "sync"}
	var names []string
	for _, c := range changes {
		switch {
		case stays(c):
			list = append(list, Action{Kind: "hand", Objects: []manifest.Object{c.Object}, Text: "no sync undoes " + whatStays(c) + ": a person runs  " + byHand(c)})
		case !slices.Contains(sync.Objects, c.Object):
			sync.Objects = append(sync.Objects, c.Object)
			names = append(names, c.Object.Kind+" "+c.Object.Namespace+"/"+c.Object.Name)
		}
	}
	if len(names) > 0 {
		sync.Text = "Argo CD syncs " + strings.Join(names, ", ") + " and nothing else; nothing is pruned"
		list = append([]Action{sync}, list...)
	}
	return list
}

func whatStays(c drift.Change) string {
	if len(c.Path) == 0 {
		return c.Object.Kind + " " + full(c.Object) + ", which is in no Git"
	}
	return c.Path.String() + ", which was added by hand"
}
