package drift

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"reconcilebot/runbook/argocd"
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
	if err := look.undone(ctx, objects); err != nil {
		return d, err
	}
	if err := look.foretell(ctx); err != nil {
		return d, err
	}
	if err := look.own(ctx); err != nil {
		return d, err
	}
	slices.SortStableFunc(d.Changes, riskier)
	return d, d.seal()
}

func (s *Surveyor) describe(t Target, app argocd.App) Drift {
	d := Drift{
		Target: t, Sync: app.Sync.Status, Health: app.Health, Automated: app.Automated,
		Hiding:   hidingRules(app),
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
		if c.Type == "InvalidSpecError" && compared(app) {
			// A specification that is found invalid leaves the status Unknown
			// in the same write. Beside a comparison, the complaint is that of a
			// controller that starts: it looks for the Applications' projects
			// before it has read them, and takes the complaint back with its
			// next comparison, minutes later.
			// https://github.com/argoproj/argo-cd/blob/v2.14.21/controller/appcontroller.go#L2360
			continue
		}
		switch c.Type {
		case "ComparisonError", "InvalidSpecError", "UnknownError":
			return fmt.Sprintf("Argo CD could not compare it: %s: %s", c.Type, firstLine(c.Message))
		case "SharedResourceWarning":
			return "more than one Application owns an object of it, so Git's value is not one value: " + firstLine(c.Message)
		}
	}
	if compared(app) {
		return ""
	}
	return fmt.Sprintf("Argo CD has no comparison of it (sync status %s). Look at its page, and ask again when it has.", cmpOr(app.Sync.Status, "not set"))
}

// compared tells whether there is a comparison with Git.
func compared(app argocd.App) bool {
	return app.Sync.Status == "Synced" || app.Sync.Status == "OutOfSync"
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
