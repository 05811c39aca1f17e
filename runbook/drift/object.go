package drift

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/manifest"
)

// survey is one look at one Application.
type survey struct {
	*Surveyor
	ref   argocd.Ref
	app   argocd.App
	drift *Drift
	// scalers are the autoscalers by namespace, read when first needed.
	scalers map[string][]scaler
	// trail is Argo CD's events, read when first needed.
	trail []argocd.Event
	asked bool
	// waited counts the waits for audit events that were on their way.
	waited int
}

// visible tells whether there is a change that Argo CD takes notice of.
func (s *survey) visible() bool {
	return slices.ContainsFunc(s.drift.Changes, func(c Change) bool { return !c.Invisible })
}

// object adds what differs in one object.
func (s *survey) object(ctx context.Context, m argocd.Managed) error {
	if m.Hook || m.Live == nil && m.Target == nil {
		return nil
	}
	o, uid := objectOf(m), text(m.Live, "metadata", "uid")
	managers := cluster.Managers(m.Live)
	before := len(s.drift.Changes)
	switch {
	case m.Live == nil:
		if err := s.missing(ctx, o, m); err != nil {
			return err
		}
	case m.Target == nil:
		if err := s.extra(ctx, o, m, managers); err != nil {
			return err
		}
	default:
		if err := s.fields(ctx, o, m, managers); err != nil {
			return err
		}
	}
	for i := before; i < len(s.drift.Changes); i++ {
		c := &s.drift.Changes[i]
		c.Object, c.UID = o, uid
		hide(o, c)
	}
	if len(s.drift.Changes) > before && m.ResourceVersion != "" {
		if s.drift.ResourceVersions == nil {
			s.drift.ResourceVersions = map[string]string{}
		}
		s.drift.ResourceVersions[o.String()] = m.ResourceVersion
	}
	return nil
}

// missing is an object that Git has and the cluster has not: deleted by
// somebody, or not there yet.
func (s *survey) missing(ctx context.Context, o manifest.Object, m argocd.Managed) error {
	e, err := s.deleter(ctx, o)
	if err != nil {
		return err
	}
	if e.Kind == Unknown && s.pending() && !s.touched(o) {
		s.noise(notSynced, o, nil)
		return nil
	}
	s.drift.Changes = append(s.drift.Changes, Change{Op: manifest.Remove, Git: whole(o, m.Target, gitMask), Evidence: e})
	return nil
}

// extra is an object that carries this Application's mark and is not in Git:
// made by somebody, or left over from an earlier commit.
func (s *survey) extra(ctx context.Context, o manifest.Object, m argocd.Managed, managers []cluster.Manager) error {
	notes := child(child(m.Live, "metadata"), "annotations")
	if text(notes, "argocd.argoproj.io/hook") != "" || strings.Contains(text(notes, "argocd.argoproj.io/compare-options"), "IgnoreExtraneous") {
		return nil
	}
	if slices.ContainsFunc(managers, func(m cluster.Manager) bool { return authorOf(m.Name) == gitops }) {
		s.noise("no longer in Git, and not pruned yet", o, nil)
		return nil
	}
	e, err := s.evidence(ctx, o, m, field{op: manifest.Add}, managers)
	if err != nil {
		return err
	}
	s.drift.Changes = append(s.drift.Changes, Change{Op: manifest.Add, Live: whole(o, m.Live, liveMask), Evidence: e})
	return nil
}

const notSynced = "in Git and not synced yet"

// fields compares Argo CD's own pair, and then looks for what that pair can't
// show.
func (s *survey) fields(ctx context.Context, o manifest.Object, m argocd.Managed, managers []cluster.Manager) error {
	seen := compare(m.PredictedLive, m.NormalizedLive)
	if m.PredictedLive == nil || m.NormalizedLive == nil {
		seen = nil
	}
	for _, f := range seen {
		if err := s.field(ctx, o, m, f, managers, false); err != nil {
			return err
		}
	}
	for _, f := range s.unseen(o, m, managers) {
		if covered(seen, f.path) {
			continue
		}
		if err := s.field(ctx, o, m, f, managers, true); err != nil {
			return err
		}
	}
	return nil
}

// covered tells whether a path, or one above or below it, is in the list.
func covered(list []field, path manifest.Path) bool {
	return slices.ContainsFunc(list, func(f field) bool {
		n := min(len(f.path), len(path))
		return f.path[:n].Equal(path[:n])
	})
}

// field adds one field, as a change or as noise.
func (s *survey) field(ctx context.Context, o manifest.Object, m argocd.Managed, f field, managers []cluster.Manager, invisible bool) error {
	why, err := s.nobodys(ctx, o, m, f, managers, invisible)
	if err != nil {
		return err
	}
	if why != "" {
		s.noise(why, o, f.path)
		return nil
	}
	e, err := s.evidence(ctx, o, m, f, managers)
	if err != nil {
		return err
	}
	if e.Kind == Unknown && f.op == manifest.Remove && s.pending() {
		e.Note = fmt.Sprintf("Argo CD has not synced %s yet, so this may be new in Git rather than removed by hand.", short(s.drift.Revision))
	}
	s.drift.Changes = append(s.drift.Changes, Change{Path: f.path, Op: f.op, Git: f.git, Live: f.live, Invisible: invisible, Evidence: e})
	return nil
}

// nobodys says why a difference is nobody's change; "" if it is somebody's.
func (s *survey) nobodys(ctx context.Context, o manifest.Object, m argocd.Managed, f field, managers []cluster.Manager, invisible bool) (string, error) {
	if name, err := s.scaledBy(ctx, o, f.path); err != nil || name != "" {
		return "owned by the autoscaler " + name, err
	}
	if len(f.path) == 3 && f.path[2].Key == "argocd.argoproj.io/tracking-id" {
		return "Argo CD's own mark", nil
	}
	if f.op == manifest.Remove {
		// A field that is gone has no owner to ask.
		return "", nil
	}
	mine := owners(managers, m.Live, f.path)
	if slices.ContainsFunc(mine, func(m cluster.Manager) bool { return authorOf(m.Name) == hand }) {
		return "", nil
	}
	for _, m := range mine {
		switch authorOf(m.Name) {
		case controller:
			return "written by " + m.Name, nil
		case stranger:
			return "", nil
		}
	}
	if len(mine) > 0 && !invisible {
		return notSynced, nil
	}
	return "", nil
}

// noise counts a difference that is nobody's change.
func (s *survey) noise(why string, o manifest.Object, path manifest.Path) {
	const most = 50
	i := slices.IndexFunc(s.drift.Noise, func(n Noise) bool { return n.Why == why })
	if i < 0 {
		s.drift.Noise = append(s.drift.Noise, Noise{Why: why})
		i = len(s.drift.Noise) - 1
	}
	n := &s.drift.Noise[i]
	n.Count++
	if len(n.Paths) < most {
		n.Paths = append(n.Paths, strings.TrimSpace(o.String()+" "+path.String()))
	}
}

// pending tells whether the commit that was compared with has not been
// synced.
func (s *survey) pending() bool {
	op := s.app.Operation
	return op == nil || op.DryRun || op.Phase != "Succeeded" || op.Revision != s.drift.Revision
}

// touched tells whether the last sync touched the object.
func (s *survey) touched(o manifest.Object) bool {
	return s.app.Operation != nil && slices.ContainsFunc(s.app.Operation.Result, func(r argocd.ResourceResult) bool {
		return r.Group == o.Group() && r.Kind == o.Kind && r.Name == o.Name && r.Namespace == o.Namespace
	})
}
