package book

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
	"reconcilebot/runbook/git"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// Undo is the choice that a decision to roll back carries: which commit.
type Undo struct {
	// Commit is its SHA, or enough of it.
	Commit string `json:"commit"`
}

// UndoOf is the choice to undo a commit.
func UndoOf(commit string) json.RawMessage {
	raw, err := json.Marshal(Undo{commit})
	if err != nil { // a text always encodes
		return nil
	}
	return raw
}

// restoration plans the inverse of a commit, through Git: what the commit
// changed in the target's objects is changed back, value by value, and proven
// like any other edit. So later commits to the same files stay; one that
// changed the same value again stands in the way, and is named as that.
//
// Argo CD's own rollback is not used: it is refused while automated sync is
// on, and lasts until the next sync, because Git still says the other thing
// (https://argo-cd.readthedocs.io/en/stable/user-guide/commands/argocd_app_rollback/).
func (s *systems) restoration(ctx context.Context, r state.Reconciliation) (Plan, error) {
	plan, t, c, err := s.fresh(ctx, r)
	if err != nil {
		return plan, err
	}
	var undo Undo
	if err := json.Unmarshal(r.Decision.Choice, &undo); err != nil {
		return plan, fmt.Errorf("read which commit is to be undone: %w", err)
	}
	in, err := s.source(ctx, t, c)
	if err != nil {
		return plan, err
	}
	of, parent, err := s.undoable(ctx, in, undo.Commit)
	if err != nil {
		return plan, err
	}
	plan.Of = &of
	changes, err := s.inverse(ctx, c, t, parent, of.SHA)
	if err != nil {
		return plan, err
	}
	if len(changes) == 0 {
		return plan, fault.New(fault.Refused, fmt.Sprintf("Commit %s (%s) changes nothing that %s renders, so there is nothing to roll back.", short(of.SHA), of.Subject, t.Name))
	}
	if changes, err = s.inForce(ctx, c, t, in.head, changes); err != nil {
		return plan, err
	}
	plan.Seen.Drift.Changes = changes
	if len(changes) == 0 {
		return plan, nil
	}
	return s.edited(ctx, r, plan, t, c)
}

// undoable finds the commit on the branch that the target follows.
func (s *systems) undoable(ctx context.Context, in source, revision string) (of git.Commit, parent string, err error) {
	sha, err := in.repo.Resolve(ctx, revision)
	if isA[*git.Missing](err) {
		return of, "", fault.New(fault.Refused, fmt.Sprintf("There is no commit %s in %s.", revision, in.forge))
	}
	if err != nil {
		return of, "", err
	}
	on, err := in.repo.Contains(ctx, in.head, sha)
	if err != nil {
		return of, "", err
	}
	if !on {
		return of, "", fault.New(fault.Refused, fmt.Sprintf("Commit %s is not on %s, which the target follows.", short(sha), in.branch))
	}
	if of, parent, err = in.repo.Describe(ctx, sha); err == nil && parent == "" {
		err = fault.New(fault.Refused, fmt.Sprintf("Commit %s is the first one; there is nothing before it.", short(sha)))
	}
	return of, parent, err
}

// inverse is what a commit changed in a target, the other way round, as Argo
// CD renders it. Whole objects are left to a person: to take one away is to
// prune it.
func (s *systems) inverse(ctx context.Context, c Cluster, t drift.Target, parent, sha string) ([]drift.Change, error) {
	before, err := c.Argo.Manifests(ctx, ref(t), parent)
	if err != nil {
		return nil, err
	}
	after, err := c.Argo.Manifests(ctx, ref(t), sha)
	if err != nil {
		return nil, err
	}
	all, err := c.Argo.Managed(ctx, ref(t))
	if err != nil {
		return nil, err
	}
	list := drift.Between(before, after)
	for i, change := range list {
		switch {
		case len(change.Path) == 0:
			return nil, fault.New(fault.Refused, fmt.Sprintf("Commit %s adds or takes away %s %s. A rollback of whole objects deletes or creates them; make that pull request by hand.", short(sha), change.Object.Kind, change.Object.Name))
		case change.Masked:
			return nil, fault.New(fault.Refused, fmt.Sprintf("Commit %s changes %s of %s %s, which looks like a secret. Roll it back where your secrets are kept.", short(sha), change.Path, change.Object.Kind, change.Object.Name))
		}
		list[i].Git, list[i].Live = change.Live, change.Git
		switch change.Op {
		case manifest.Add:
			list[i].Op = manifest.Remove
		case manifest.Remove:
			list[i].Op = manifest.Add
		}
		list[i].Evidence = drift.Evidence{Kind: drift.Asked}
		list[i].Object, list[i].UID = asManaged(change.Object, all)
	}
	return list, nil
}

// asManaged gives an object the name that a survey gives it: a render leaves
// out the namespace that the Application puts it into.
func asManaged(o manifest.Object, all []argocd.Managed) (manifest.Object, string) {
	for _, m := range all {
		if m.Kind == o.Kind && m.Group == o.Group() && m.Name == o.Name && (o.Namespace == "" || o.Namespace == m.Namespace) {
			o.Namespace = m.Namespace
			uid, _ := uidOf(m.Live)
			return o, uid
		}
	}
	return o, ""
}

// inForce drops what was put back already, and refuses what a later commit
// changed again.
func (s *systems) inForce(ctx context.Context, c Cluster, t drift.Target, head string, changes []drift.Change) ([]drift.Change, error) {
	objects, err := c.Argo.Manifests(ctx, ref(t), head)
	if err != nil {
		return nil, err
	}
	var again []string
	changes = slices.DeleteFunc(changes, func(change drift.Change) bool {
		i := slices.IndexFunc(objects, func(o map[string]any) bool { return names(o, change.Object) })
		if i < 0 {
			again = append(again, fmt.Sprintf("%s %s is gone", change.Object.Kind, change.Object.Name))
			return false
		}
		now, has := change.Path.Get(objects[i])
		switch {
		case !has && change.Live == nil, has && change.Live != nil && manifest.SameAt(change.Path, now, change.Live):
			return true
		case !has && change.Git == nil, has && change.Git != nil && manifest.SameAt(change.Path, now, change.Git):
			return false
		}
		again = append(again, fmt.Sprintf("%s of %s %s is %s by now", change.Path, change.Object.Kind, change.Object.Name, inline(now)))
		return false
	})
	if len(again) > 0 {
		return nil, fault.New(fault.Refused, "A later commit changed the same again: "+strings.Join(again[:min(len(again), maxNamed)], "; ")+". Roll that one back first, or say what it is to be with /reconcile change.")
	}
	return changes, nil
}

func names(object map[string]any, o manifest.Object) bool {
	meta, _ := object["metadata"].(map[string]any)
	namespace, _ := meta["namespace"].(string)
	return object["kind"] == o.Kind && meta["name"] == o.Name && object["apiVersion"] == o.APIVersion && (namespace == "" || namespace == o.Namespace)
}
