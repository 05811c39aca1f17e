package book

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// reversion plans a sync of just the objects that differ, from fresh reads.
// What no sync undoes is refused with the command that does.
func (s *systems) reversion(ctx context.Context, r state.Reconciliation) (Plan, error) {
	plan, _, _, err := s.fresh(ctx, r)
	if err != nil || len(plan.Seen.Drift.Changes) == 0 {
		return plan, err
	}
	d := plan.Seen.Drift
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
