package drift

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/manifest"
)

// remembered is how long what was undone is of interest to those who look.
const remembered = 2 * time.Hour

// undone finds what somebody changed by hand and Argo CD put back before
// anybody looked: self-heal does that within half a second. Nothing in the
// cluster tells of it any more, so it is rebuilt from the audited requests.
//
// What Argo CD put back because somebody asked it to sync is left out: that
// was the wish.
func (s *survey) undone(ctx context.Context, objects []argocd.Managed) error {
	if s.Writes == nil {
		return nil
	}
	for {
		for _, m := range objects {
			if m.Hook || m.Live == nil || m.Target == nil {
				continue
			}
			if err := s.undoneIn(ctx, m); err != nil {
				return err
			}
		}
		// A self-heal that ended just now undid something of which the audit
		// log has not told yet.
		if len(s.drift.Undone) > 0 || !s.justHealed() || s.waited == lags {
			break
		}
		s.waited++
		if err := s.Pause(ctx, lag); err != nil {
			return err
		}
		s.drift.Noise = slices.DeleteFunc(s.drift.Noise, func(n Noise) bool { return n.Why == forgotten })
	}
	slices.SortStableFunc(s.drift.Undone, riskier)
	return nil
}

// forgotten is a change that was undone and of which the audit log keeps no
// values: those of ConfigMaps are never kept.
const forgotten = "changed by hand and undone by Argo CD; what it was is not kept"

// justHealed tells whether a self-heal, which is a sync of a part that nobody
// asked for, ended a moment ago.
func (s *survey) justHealed() bool {
	op := s.app.Operation
	return op.Done() && op.Automated && op.Partial && s.Now().Sub(op.FinishedAt) < young
}

func (s *survey) undoneIn(ctx context.Context, m argocd.Managed) error {
	o, uid := objectOf(m), text(m.Live, "metadata", "uid")
	all, err := s.named(ctx, o)
	if err != nil {
		return err
	}
	since := s.Now().Add(-remembered)
	var mine, gone, undoing []cluster.Write
	for _, w := range all {
		deletes := strings.HasPrefix(w.Verb, "delete")
		switch {
		case w.At.Before(since) || s.Self != "" && w.User == s.Self:
		case authorOf(clientOf(w)) == gitops:
			undoing = append(undoing, w)
		case strings.HasPrefix(w.User, "system:"):
		case deletes:
			gone = append(gone, w)
		case w.Object.UID == "" || w.Object.UID == uid:
			mine = append(mine, w)
		}
	}
	if err := s.recreated(ctx, o, m, gone, undoing); err != nil {
		return err
	}
	if len(mine) == 0 {
		return nil
	}
	was, read := rebuild(o, m.Live, mine)
	found := compare(m.Live, was)
	for _, f := range found {
		if f.op == manifest.Add || !atRest(m, f.path) || s.changed(o, f.path) {
			// What was added survives a sync; what differs now is a change.
			continue
		}
		w, ok := maker(mine, f)
		if !ok {
			continue
		}
		at, by := s.undoneBy(ctx, o, w.At, undoing)
		if by == "" {
			continue
		}
		c := Change{Object: o, UID: uid, Path: f.path, Op: f.op, Git: f.git, Live: f.live, Evidence: audited(w, Evidence{}), Outlook: gonePast(at, by, undid(f))}
		hide(o, &c)
		if hidden(f.live) {
			c.Git, c.Live, c.Masked = gitMask, liveMask, true
		}
		s.drift.Undone = append(s.drift.Undone, c)
	}
	if len(found) == 0 && !read && len(mine) > 0 {
		last := mine[len(mine)-1]
		if _, by := s.undoneBy(ctx, o, last.At, undoing); by != "" && len(s.changesOf(o)) == 0 {
			s.noise(forgotten, o, nil)
		}
	}
	return nil
}

// maker finds the write that made a rebuilt field what it was. A masked value
// was made by the last that wrote it.
func maker(mine []cluster.Write, f field) (cluster.Write, bool) {
	if !hidden(f.live) {
		return culprit(mine, f, cluster.Manager{}, false)
	}
	for _, w := range slices.Backward(mine) {
		if touches(w, f) == unsaid {
			return w, true
		}
	}
	return cluster.Write{}, false
}

// recreated finds a deletion by hand after which Argo CD made the object
// again.
func (s *survey) recreated(ctx context.Context, o manifest.Object, m argocd.Managed, gone, undoing []cluster.Write) error {
	if len(gone) == 0 {
		return nil
	}
	w := gone[len(gone)-1]
	born, err := time.Parse(time.RFC3339, text(m.Live, "metadata", "creationTimestamp"))
	if err != nil || born.Add(slack).Before(w.At) {
		return nil
	}
	at, by := s.undoneBy(ctx, o, w.At, undoing)
	if by == "" {
		return nil
	}
	c := Change{Object: o, UID: text(m.Live, "metadata", "uid"), Op: manifest.Remove, Git: whole(o, m.Target, gitMask), Evidence: audited(w, Evidence{}), Outlook: gonePast(at, by, "created it again")}
	hide(o, &c)
	s.drift.Undone = append(s.drift.Undone, c)
	return nil
}

func gonePast(at time.Time, by, did string) Outlook {
	return Outlook{Undone, fmt.Sprintf("nothing more happens: Argo CD %s at %s UTC, because %s.", did, at.UTC().Format("15:04:05"), by)}
}

func undid(f field) string {
	if v, ok := brief(f.git); ok && f.op == manifest.Set {
		return "undid it (back to " + v + ")"
	}
	return "undid it"
}

// undoneBy says when, after a write, Argo CD put an object back, and why; ""
// if nothing shows that it did, or if somebody asked for it.
func (s *survey) undoneBy(ctx context.Context, o manifest.Object, after time.Time, undoing []cluster.Write) (at time.Time, why string) {
	i := slices.IndexFunc(undoing, func(w cluster.Write) bool { return w.At.After(after) })
	if i >= 0 {
		at = undoing[i].At
	}
	op := s.app.Operation
	if at.IsZero() && op.Done() && op.FinishedAt.Add(time.Second).After(after) && s.touched(o) {
		at = op.FinishedAt
	}
	if at.IsZero() || s.wished(ctx, after, at) {
		return time.Time{}, ""
	}
	if s.app.Automated.SelfHeal {
		return at, "self-heal is on"
	}
	return at, "it synced then"
}

// wished tells whether somebody asked for the sync that ran at a time.
func (s *survey) wished(ctx context.Context, after, at time.Time) bool {
	op := s.app.Operation
	if op != nil && !op.StartedAt.After(at.Add(slack)) && (op.FinishedAt.IsZero() || op.FinishedAt.Add(slack).After(at)) {
		return !op.Automated
	}
	if s.follow(ctx) != nil {
		return false
	}
	return slices.ContainsFunc(s.trail, func(e argocd.Event) bool {
		return e.Reason == "OperationStarted" && e.User != "" && e.At.Add(slack).After(after) && e.At.Before(at.Add(slack))
	})
}

// follow reads Argo CD's trail, once. Without the right to it there is none.
func (s *survey) follow(ctx context.Context) error {
	if s.asked {
		return nil
	}
	events, err := s.Argo.Events(ctx, s.ref)
	if err != nil {
		if _, denied := errors.AsType[*argocd.Denied](err); !denied {
			return err
		}
	}
	s.trail, s.asked = events, true
	return nil
}

// named gives all audited writes to whatever had an object's name, oldest
// first.
func (s *survey) named(ctx context.Context, o manifest.Object) ([]cluster.Write, error) {
	var out []cluster.Write
	for _, key := range (cluster.ObjectRef{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}).Keys("") {
		list, err := s.Writes(ctx, key)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	slices.SortStableFunc(out, func(a, b cluster.Write) int { return a.At.Compare(b.At) })
	return out, nil
}

// atRest tells whether a field is what Git says.
func atRest(m argocd.Managed, path manifest.Path) bool {
	git, has := at(m.Target, path)
	live, is := at(m.Live, path)
	return has && (!is || manifest.SameAt(path, git, live) || agrees(path, git, live))
}

// changed tells whether a field is among the changes.
func (s *survey) changed(o manifest.Object, path manifest.Path) bool {
	return slices.ContainsFunc(s.changesOf(o), func(c Change) bool {
		n := min(len(c.Path), len(path))
		return c.Path[:n].Equal(path[:n])
	})
}

func (s *survey) changesOf(o manifest.Object) []Change {
	var list []Change
	for _, c := range s.drift.Changes {
		if c.Object == o {
			list = append(list, c)
		}
	}
	return list
}

// clientOf is the name that a write's client gave itself.
func clientOf(w cluster.Write) string {
	if w.FieldManager != "" {
		return w.FieldManager
	}
	// The API server's own rule for clients that don't say.
	name, _, _ := strings.Cut(w.UserAgent, "/")
	return name
}
