package drift

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/manifest"
)

// application surveys an Argo CD Application.
func (s *Surveyor) application(ctx context.Context, t Target) (Drift, error) {
	ref := argocd.Ref{Namespace: t.Namespace, Name: t.Name}
	app, err := s.Argo.App(ctx, ref)
	if err != nil {
		return Drift{}, err
	}
	d := s.describe(t, app)
	if d.Refused = unjudgeable(app); d.Refused != "" {
		return d, d.seal()
	}
	objects, why, err := s.fresh(ctx, ref)
	if err != nil {
		return d, err
	}
	if d.Refused = cmpOr(why, implausible(app, objects)); d.Refused != "" {
		return d, d.seal()
	}
	s.head(ctx, app, &d)
	look := &survey{Surveyor: s, ref: ref, app: app, drift: &d}
	for _, m := range objects {
		if err := look.object(ctx, m); err != nil {
			return d, err
		}
	}
	if look.app, err = s.settled(ctx, ref, app, look.visible()); err != nil {
		return d, err
	}
	d.Sync, d.Health = look.app.Sync.Status, look.app.Health
	if err := look.foretell(ctx); err != nil {
		return d, err
	}
	slices.SortStableFunc(d.Changes, riskier)
	return d, d.seal()
}

func (s *Surveyor) describe(t Target, app argocd.App) Drift {
	d := Drift{
		Target: t, Sync: app.Sync.Status, Health: app.Health, Automated: app.Automated,
		Revision: revision(app), SeenAt: s.Now().UTC(), URL: app.URL,
	}
	// Names are completed by what the controller says: the namespace of the
	// control plane may have been left out.
	d.Namespace = cmpOr(app.Namespace, t.Namespace)
	if len(app.Sources) > 0 {
		from := app.Sources[0]
		d.RepoURL, d.Path, d.TargetRevision = from.RepoURL, from.Path, cmpOr(from.TargetRevision, "HEAD")
	}
	return d
}

// unjudgeable says why an Application's comparison can't be relied on.
func unjudgeable(app argocd.App) string {
	if app.Skipped {
		return "Argo CD is told to skip this Application (annotation argocd.argoproj.io/skip-reconcile), so it does not compare it. Remove the annotation first."
	}
	for _, c := range app.Conditions {
		switch c.Type {
		case "ComparisonError", "InvalidSpecError", "UnknownError":
			return fmt.Sprintf("Argo CD could not compare it: %s: %s", c.Type, firstLine(c.Message))
		case "SharedResourceWarning":
			return "more than one Application owns an object of it, so Git's value is not one value: " + firstLine(c.Message)
		}
	}
	switch app.Sync.Status {
	case "Synced", "OutOfSync":
		return ""
	}
	return fmt.Sprintf("Argo CD has no comparison of it (sync status %s). Look at its page, and ask again when it has.", cmpOr(app.Sync.Status, "not set"))
}

// implausible finds the two shapes that Argo CD's list has when rendering
// failed without a condition to say so.
func implausible(app argocd.App, objects []argocd.Managed) string {
	if len(objects) == 0 && len(app.Resources) > 0 {
		return fmt.Sprintf("Argo CD's list of its objects is empty, although its status names %d. Ask again in a moment.", len(app.Resources))
	}
	inGit := slices.ContainsFunc(objects, func(m argocd.Managed) bool { return m.Target != nil })
	if len(objects) > 0 && !inGit {
		return "Argo CD finds none of its objects in Git. That is what a failed rendering looks like, so nothing is concluded from it; look at the Application's page."
	}
	return ""
}

// head asks for the tip of what the target follows. Not knowing it is no
// reason to stop: the outlook is then made without.
func (s *Surveyor) head(ctx context.Context, app argocd.App, d *Drift) {
	if s.Head == nil || len(app.Sources) != 1 || app.Sources[0].Chart != "" {
		return
	}
	sha, err := s.Head(ctx, d.RepoURL, d.TargetRevision)
	if err != nil {
		s.Log.Info("drift: the branch's head is not known", "target", d.Target.String(), "err", err)
		return
	}
	d.Head = sha
}

// settled waits a moment for the Application's status to say what its list
// of objects says already; the status is written last.
func (s *Surveyor) settled(ctx context.Context, ref argocd.Ref, app argocd.App, visible bool) (argocd.App, error) {
	const looks = 10
	for look := range looks {
		// OutOfSync without a change has reasons that don't go away, such as
		// noise; one more look is enough.
		if (app.Sync.Status == "OutOfSync") == visible || !visible && look > 0 {
			break
		}
		if look > 0 {
			if err := s.Pause(ctx, 100*time.Millisecond); err != nil {
				return app, err
			}
		}
		var err error
		if app, err = s.Argo.App(ctx, ref); err != nil {
			return app, err
		}
	}
	return app, nil
}

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
	if e.Kind == Unknown && s.pending() && !s.wasSynced(m) {
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

// wasSynced tells whether the last sync touched the object.
func (s *survey) wasSynced(m argocd.Managed) bool {
	return s.app.Operation != nil && slices.ContainsFunc(s.app.Operation.Result, func(r argocd.ResourceResult) bool {
		return r.Group == m.Group && r.Kind == m.Kind && r.Name == m.Name && r.Namespace == m.Namespace
	})
}

// riskier sorts what can hurt most to the front.
func riskier(a, b Change) int {
	if n := risk(a) - risk(b); n != 0 {
		return n
	}
	if n := strings.Compare(a.Object.String(), b.Object.String()); n != 0 {
		return n
	}
	return strings.Compare(a.Path.String(), b.Path.String())
}

func risk(c Change) int {
	path := "." + c.Path.String() + "."
	for i, words := range [][]string{
		{"..", ".securityContext.", ".serviceAccountName.", ".hostNetwork.", ".rules"},
		{".image.", ".command", ".args"},
		{".containers[", ".initContainers[", ".replicas.", ".data"},
	} {
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(path, w) }) {
			return i
		}
	}
	if strings.HasPrefix(path, ".metadata.") {
		return 4
	}
	return 3
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// short is a commit as people read it.
func short(sha string) string {
	const abbreviated, full = 7, 40
	if len(sha) >= full {
		return sha[:abbreviated]
	}
	return sha
}
