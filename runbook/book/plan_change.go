package book

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	jsonpatch "github.com/evanphx/json-patch"
	"k8s.io/apimachinery/pkg/runtime"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// alteration plans the edits that bring about what somebody asks for, through
// Git: the road of an adoption, from the other end. The cluster has nothing of
// it before the merge.
func (s *systems) alteration(ctx context.Context, r state.Reconciliation) (Plan, error) {
	plan, t, c, err := s.fresh(ctx, r)
	if err != nil {
		return plan, err
	}
	wishes, err := WishesIn(r.Decision)
	if err != nil {
		return plan, err
	}
	all, err := c.Argo.Managed(ctx, ref(t))
	if err != nil {
		return plan, err
	}
	plan.Seen.Drift.Changes = nil
	for _, w := range wishes {
		m, err := find(w.Object, all)
		if err != nil {
			return plan, err
		}
		change, err := w.change(m)
		if err != nil {
			return plan, err
		}
		plan.Seen.Drift.Changes = append(plan.Seen.Drift.Changes, change)
	}
	if plan, err = s.edited(ctx, r, plan, t, c); err != nil {
		return plan, err
	}
	plan.Tried, err = c.tried(ctx, all, plan.Seen.Drift.Changes)
	return plan, err
}

// change is a wish as a change from what Git has.
func (w Wish) change(m argocd.Managed) (drift.Change, error) {
	c := drift.Change{Object: manifest.Object{Kind: m.Kind, Namespace: m.Namespace, Name: m.Name}, Op: manifest.Set, Evidence: drift.Evidence{Kind: drift.Asked}}
	c.Object.APIVersion, _ = m.Target["apiVersion"].(string)
	c.UID, _ = uidOf(m.Live)
	if c.Object.Kind == "Secret" && c.Object.Group() == "" {
		return c, fault.New(fault.Refused, "The values of a Secret must not pass through here. Change it where your secrets are kept.")
	}
	path, git, has, err := w.resolve(m.Target)
	if err != nil {
		return c, err
	}
	if c.Live, err = w.value(git, has); err != nil {
		return c, err
	}
	if c.Path, c.Git = path, git; !has {
		c.Op = manifest.Add
	}
	if has && manifest.SameAt(path, git, c.Live) {
		return c, fault.New(fault.Refused, fmt.Sprintf("Git has %s of %s %s at %s already, so there is nothing to change. If the cluster has another value, /reconcile drift shows it.", path, m.Kind, m.Name, inline(git)))
	}
	return c, nil
}

func uidOf(object map[string]any) (string, bool) {
	meta, _ := object["metadata"].(map[string]any)
	uid, ok := meta["uid"].(string)
	return uid, ok
}

// tried has the API server check what the objects would become: it knows best
// what it takes, its admission policies included. What it refuses is refused
// with its own words, before anybody is asked to approve it.
func (c Cluster) tried(ctx context.Context, all []argocd.Managed, changes []drift.Change) (string, error) {
	if c.Trial == nil {
		return "", nil
	}
	objects := map[manifest.Object][]drift.Change{}
	var order []manifest.Object
	for _, change := range changes {
		if objects[change.Object] == nil {
			order = append(order, change.Object)
		}
		objects[change.Object] = append(objects[change.Object], change)
	}
	for _, o := range order {
		m, err := find(o.Kind+"/"+o.Namespace+"/"+o.Name, all)
		if err != nil {
			return "", err
		}
		if m.Live == nil {
			return "not tried: " + o.Kind + " " + full(o) + " is not in the cluster yet", nil
		}
		patch, err := mergePatch(m.Live, objects[o])
		if err != nil {
			return "not tried: " + err.Error(), nil
		}
		err = c.Trial.DryRun(ctx, cluster.ObjectRef{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}, patch)
		switch invalid, refused := errors.AsType[*cluster.Invalid](err); {
		case err == nil:
		case refused:
			return "", &fault.Error{Kind: fault.Refused, Err: err, Say: fmt.Sprintf("The API server would not take this, so it isn't proposed.\n%s", cut(oneLine(invalid.Message), 1000))}
		case isA[*cluster.Denied](err):
			return "not tried: reconcilebot has no right to a dry run of " + o.Kind, nil
		default:
			return "not tried: the API server did not answer", nil
		}
	}
	return "the API server takes it, as a dry run shows", nil
}

// mergePatch is what turns a live object into the one that is asked for.
// https://www.rfc-editor.org/rfc/rfc7396
func mergePatch(live map[string]any, changes []drift.Change) ([]byte, error) {
	want := runtime.DeepCopyJSON(live)
	for _, c := range changes {
		if err := c.Path.Set(want, c.Live); err != nil {
			return nil, err
		}
	}
	was, err := json.Marshal(live)
	if err != nil {
		return nil, err
	}
	is, err := json.Marshal(want)
	if err != nil {
		return nil, err
	}
	return jsonpatch.CreateMergePatch(was, is)
}
