package drift

import (
	"context"
	"errors"
	"slices"
	"strings"

	"reconcilebot/runbook/argocd"
)

// own says how the target itself differs from its declaration: what somebody
// set with `argocd app set`, a suspended sync, an image override. It is the
// parent that has the declaration and that undoes such a change, so it is
// judged as a change of the parent's. A target that nothing in Git declares
// has no declaration to differ from.
func (s *survey) own(ctx context.Context) error {
	kind, instance, _ := strings.Cut(s.app.Owner, " ")
	if kind != Application || instance == "" {
		return nil
	}
	ref := argocd.Ref{Name: instance}
	// An Application outside the control plane's namespace tracks as ns_name.
	if ns, name, found := strings.Cut(instance, "_"); found {
		ref = argocd.Ref{Namespace: ns, Name: name}
	}
	parent, err := s.Argo.App(ctx, ref)
	if isMissing(err) || err == nil && unjudgeable(parent) != "" {
		return nil
	}
	if err != nil {
		return err
	}
	all, err := s.Argo.Managed(ctx, parent.Ref)
	if isMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(m argocd.Managed) bool {
		return m.Kind != Application || m.Name != s.ref.Name || m.Namespace != "" && m.Namespace != s.app.Namespace || m.Target == nil || m.Live == nil
	})
	if len(all) == 0 {
		return nil
	}
	above := s.describe(Target{Cluster: s.drift.Cluster, Kind: Application, Namespace: parent.Namespace, Name: parent.Name}, parent)
	s.head(ctx, parent, &above)
	look := &survey{Surveyor: s.Surveyor, ref: parent.Ref, app: parent, drift: &above, waited: s.waited}
	for _, m := range all {
		if err := look.object(ctx, m); err != nil {
			return err
		}
	}
	if err := look.foretell(ctx); err != nil {
		return err
	}
	if err := look.undone(ctx, all); err != nil {
		return err
	}
	s.waited = look.waited
	if i := slices.IndexFunc(above.Noise, func(n Noise) bool { return n.Why == forgotten }); i >= 0 {
		s.drift.Noise = append(s.drift.Noise, above.Noise[i])
	}
	s.drift.Own = slices.Concat(above.Changes, above.Undone)
	if len(s.drift.Own) > 0 {
		s.drift.Parent = parent.Name
	}
	return nil
}

func isMissing(err error) bool {
	_, denied := errors.AsType[*argocd.Denied](err)
	_, none := errors.AsType[*argocd.NotFound](err)
	return denied || none
}
