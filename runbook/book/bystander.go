package book

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// bystanders are the other fixes that a merge would erase: when a branch's
// head moves, Argo CD syncs every Application that follows it, is synced
// automatically and is OutOfSync, as a whole, although self-heal is off
// (autoSync in controller/appcontroller.go). What heals by itself is none:
// nothing stands there for long anyway. Nor is what is paused.
//
// Two reconciliations on one branch can wait for each other here. Nothing is
// merged then until one of the two targets is paused, which lets the other's
// merge pass, or until what is lost is accepted by name.
func (s *systems) bystanders(ctx context.Context, r state.Reconciliation, plan Plan) ([]state.Ask, error) {
	t, c, err := s.target(r)
	if err != nil {
		return nil, err
	}
	in, err := s.source(ctx, t, c)
	if err != nil {
		return nil, err
	}
	trunk, err := in.repo.DefaultBranch(ctx)
	if err != nil {
		return nil, err
	}
	var asks []state.Ask
	for name, c := range s.Clusters {
		apps, err := c.Argo.Apps(ctx)
		if err != nil {
			return nil, err
		}
		for _, app := range apps {
			touched := slices.ContainsFunc(app.Sources, func(from argocd.Source) bool {
				return sameRepository(from.RepoURL, plan.Repo) && from.Chart == "" && follows(from, trunk, plan.Branch)
			})
			other := drift.Target{Cluster: name, Kind: drift.Application, Namespace: app.Namespace, Name: app.Name}
			// A change that the cluster does not have yet is synced after the
			// merge by us, if by nobody else.
			synced := app.Automated.Enabled && !app.Automated.SelfHeal || expedited(r.Book) && other == t
			if !touched || !synced || app.Sync.Status != "OutOfSync" {
				continue
			}
			lost, err := s.lost(ctx, c, other, t, plan)
			if err != nil {
				return nil, err
			}
			if lost != nil && !r.Accepts(lost.Target, lost.Digest) {
				asks = append(asks, *lost)
			}
		}
	}
	slices.SortFunc(asks, func(a, b state.Ask) int { return strings.Compare(a.Target, b.Target) })
	return asks, nil
}

// lost says what of a target the merge would undo; nil if nothing. Of the
// merged target itself, what is in the plan is taken into Git and stays.
func (s *systems) lost(ctx context.Context, c Cluster, other, own drift.Target, plan Plan) (*state.Ask, error) {
	d, err := c.Survey.Survey(ctx, other)
	if err != nil {
		return nil, err
	}
	var undone []drift.Change
	for _, change := range d.Changes {
		taken := other == own && slices.ContainsFunc(plan.Seen.Drift.Changes, func(p drift.Change) bool {
			return p.Object == change.Object && p.Path.String() == change.Path.String()
		})
		stays := change.Invisible || len(change.Path) == 0 && change.Op == manifest.Add && !d.Automated.Prune
		if !taken && !stays {
			undone = append(undone, change)
		}
	}
	switch {
	case d.Refused != "":
		return &state.Ask{Target: other.String(), Digest: "refused: " + d.Revision,
			Text: fmt.Sprintf("%s in %s: what differs can't be judged, so nobody knows what this merge would undo there (%s)", other.Name, other.Cluster, cut(oneLine(d.Refused), 200))}, nil
	case len(undone) == 0:
		return nil, nil
	}
	first := undone[0]
	text := fmt.Sprintf("%s in %s: %s made by hand would be undone", other.Name, other.Cluster, count(len(undone), "change"))
	if len(first.Path) > 0 && !first.Masked {
		text += fmt.Sprintf(" (%s of %s %s, %s → %s)", first.Path, first.Object.Kind, first.Object.Name, inline(first.Live), inline(first.Git))
	}
	digest, err := Simulation{Undo: undone}.bind(Inspected{})
	return &state.Ask{Target: other.String(), Digest: digest, Text: text}, err
}

// wouldErase words the wait.
func wouldErase(asks []state.Ask) string {
	names := make([]string, len(asks))
	for i, a := range asks {
		names[i] = a.Target
		if t, err := drift.ParseTarget(a.Target); err == nil {
			names[i] = t.Name
		}
	}
	return "not merged yet: it would undo what was changed by hand in " + strings.Join(names, ", ") +
		". Adopt that first, or pause it, or accept here that it is undone. Where two wait for each other, pause one of them"
}
