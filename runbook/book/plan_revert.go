package book

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"reconcilebot/runbook"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// planRevert says how each change will be undone.
type planRevert struct{ *systems }

func (planRevert) ID() state.StepID { return planned.Step }

func (s planRevert) Do(ctx context.Context, r state.Reconciliation) runbook.Outcome {
	plan, err := s.reversion(ctx, r)
	if err != nil {
		return s.outcome(r, s.ID(), "plan the revert of "+r.Target, err)
	}
	if len(plan.Seen.Drift.Changes) == 0 {
		return planned.Done(plan).Ending("nothing to do")
	}
	return planned.Done(plan)
}

// reversion makes the plan from fresh reads: a sync of just the objects that
// differ. What no sync undoes is refused with the command that does.
func (s *systems) reversion(ctx context.Context, r state.Reconciliation) (Plan, error) {
	t, c, err := s.target(r)
	if err != nil {
		return Plan{}, err
	}
	d, err := c.Survey.Survey(ctx, t)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Seen: Seen{Drift: d}, Made: s.Now().UTC()}
	if err := judged(d); err != nil || len(d.Changes) == 0 {
		return plan, err
	}
	if err := undoable(d); err != nil {
		return plan, err
	}
	plan.Actions = []Action{syncOf(d)}
	if plan.Needs, err = s.needs(ctx, r, d, nil, nil); err != nil {
		return plan, err
	}
	plan.Digest, err = plan.bind()
	return plan, err
}

// undoable refuses what a sync leaves in place: fields that were added, which
// Argo CD's three-way diff does not see, and objects that are in no Git.
func undoable(d drift.Drift) error {
	var stay []string
	for _, c := range d.Changes {
		switch {
		case c.Path.String() == "" && c.Op == manifest.Add:
			stay = append(stay, fmt.Sprintf("%s %s is in no Git, and a sync without prune leaves it. To remove it: kubectl delete %s %s%s",
				c.Object.Kind, c.Object.Name, strings.ToLower(c.Object.Kind), c.Object.Name, inNamespace(c.Object)))
		case c.Invisible:
			stay = append(stay, fmt.Sprintf("%s of %s %s was added by hand, and no sync removes it. To remove it: kubectl edit %s %s%s",
				c.Path, c.Object.Kind, c.Object.Name, strings.ToLower(c.Object.Kind), c.Object.Name, inNamespace(c.Object)))
		}
	}
	if len(stay) == 0 {
		return nil
	}
	return fault.New(fault.Refused, "A sync would not undo everything, so it isn't proposed.\n"+strings.Join(stay, "\n"))
}

func inNamespace(o manifest.Object) string {
	if o.Namespace == "" {
		return ""
	}
	return " -n " + o.Namespace
}

// syncOf is a sync of the objects that differ and of nothing else.
func syncOf(d drift.Drift) Action {
	a := Action{Kind: "sync"}
	var names []string
	for _, c := range d.Changes {
		if !slices.Contains(a.Objects, c.Object) {
			a.Objects = append(a.Objects, c.Object)
			names = append(names, c.Object.Kind+" "+c.Object.Namespace+"/"+c.Object.Name)
		}
	}
	a.Text = "Argo CD syncs " + strings.Join(names, ", ") + " and nothing else; nothing is pruned"
	return a
}
