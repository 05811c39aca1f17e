package drift

import (
	"context"
	"slices"
	"strings"
	"time"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/manifest"
)

// evidence says who or what made a difference: the audit log if it tells,
// else Argo CD's own trail, else the field manager, which names a tool only.
func (s *survey) evidence(ctx context.Context, o manifest.Object, m argocd.Managed, f field, managers []cluster.Manager) (Evidence, error) {
	owner, owned := writer(owners(managers, m.Live, f.path), managers, f.path)
	e := Evidence{Kind: Unknown}
	if owned {
		e = Evidence{Kind: ByManager, Tool: tool(owner), Manager: owner.Name, At: owner.At}
	}
	w, ok, err := s.await(ctx, o, text(m.Live, "metadata", "uid"), e.At, func(writes []cluster.Write) (cluster.Write, bool) {
		if len(f.path) == 0 {
			return creator(writes, owner)
		}
		return culprit(writes, f, owner, owned)
	})
	if err != nil {
		return e, err
	}
	if ok {
		e = audited(w, e)
	}
	if e.Person == "" && (owner.Name == "argocd-server" || strings.HasSuffix(e.Note, "argocd-server.")) {
		return s.fromTrail(ctx, o, e)
	}
	if e.Kind == ByManager || e.Kind == Unknown {
		e.Note = s.silence()
	}
	return e, nil
}

// silence says why no person is named.
func (s *survey) silence() string {
	if s.Writes == nil {
		return "The audit log is not connected, so nobody can be named."
	}
	return "The audit log has no request that made this change, so nobody is named."
}

// writer is the manager that made a change: of those that own the field, the
// latest that is no GitOps controller. A whole object was made by its first.
func writer(mine, all []cluster.Manager, path manifest.Path) (cluster.Manager, bool) {
	if len(path) == 0 {
		mine = slices.Clone(all)
		slices.SortStableFunc(mine, func(a, b cluster.Manager) int { return a.At.Compare(b.At) })
	}
	for _, m := range mine {
		if kind := authorOf(m.Name); kind == hand || kind == stranger {
			return m, true
		}
	}
	return cluster.Manager{}, false
}

// writes gives the audited writes to an object, oldest first, without our own.
func (s *survey) writes(ctx context.Context, o manifest.Object, uid string) ([]cluster.Write, error) {
	if s.Writes == nil {
		return nil, nil
	}
	seen := map[string]bool{}
	var out []cluster.Write
	for _, key := range (cluster.ObjectRef{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}).Keys(uid) {
		list, err := s.Writes(ctx, key)
		if err != nil {
			return nil, err
		}
		for _, w := range list {
			// Another object of that name, from before or after this one.
			other := uid != "" && w.Object.UID != "" && w.Object.UID != uid
			ours := s.Self != "" && w.User == s.Self
			if !seen[w.AuditID] && !other && !ours {
				seen[w.AuditID] = true
				out = append(out, w)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b cluster.Write) int { return a.At.Compare(b.At) })
	return out, nil
}

const (
	// young is how old a change may be for its audit event to be on its way
	// still: the API server sends them in batches.
	young = 5 * time.Second
	// lag and lags bound the wait for such events, for all of a survey.
	lag  = 100 * time.Millisecond
	lags = 8
)

// await looks for a write in the audit log, and waits a moment for it where
// the change is so new that the log may not have told it yet. The zero time
// is one that nothing tells: kubectl scale leaves none.
func (s *survey) await(ctx context.Context, o manifest.Object, uid string, at time.Time, pick func([]cluster.Write) (cluster.Write, bool)) (cluster.Write, bool, error) {
	for {
		writes, err := s.writes(ctx, o, uid)
		if err != nil {
			return cluster.Write{}, false, err
		}
		w, ok := pick(writes)
		old := !at.IsZero() && s.Now().Sub(at) > young
		if ok || old || s.Writes == nil || s.waited == lags {
			return w, ok, nil
		}
		s.waited++
		if err := s.Pause(ctx, lag); err != nil {
			return w, false, err
		}
	}
}

// slack is how far a managed field's time, which has whole seconds and is
// taken before the request is done, may be from the audit log's.
const slack = 2 * time.Second

// culprit finds the write that made a field what it is. Going back from the
// latest, it is the first of those that left the value that is there now.
// Writes whose request the audit log does not tell, as for ConfigMaps, are
// joined by the manager and the time.
func culprit(writes []cluster.Write, f field, owner cluster.Manager, owned bool) (cluster.Write, bool) {
	var found cluster.Write
	ok := false
	for _, w := range slices.Backward(writes) {
		switch touches(w, f) {
		case untouched:
			continue
		case same:
			// The same value from another tool than the one that owns the
			// field: somebody set it again, whom the log does not name.
			if owned && !sameClient(w, owner) {
				break
			}
			found, ok = w, true
			continue
		case unsaid:
			if !ok && owned && fromManager(w, owner) {
				return w, true
			}
			if !ok {
				continue
			}
		}
		break
	}
	return found, ok
}

// creator finds the write that made an object: a create, or else a patch by the
// client that the object's first managed fields entry names, since a
// server-side apply creates what is not there.
func creator(writes []cluster.Write, owner cluster.Manager) (cluster.Write, bool) {
	for _, w := range slices.Backward(writes) {
		if w.Verb == "create" && w.Object.Subresource == "" {
			return w, true
		}
	}
	i := slices.IndexFunc(writes, func(w cluster.Write) bool { return w.Verb == "patch" && fromManager(w, owner) })
	if i < 0 {
		return cluster.Write{}, false
	}
	return writes[i], true
}

// sameClient tells whether a write came from the client that a managed fields
// entry names.
func sameClient(w cluster.Write, m cluster.Manager) bool {
	return clientOf(w) == m.Name && w.Object.Subresource == m.Subresource
}

// fromManager tells whether a write can be the one that a managed fields
// entry tells of.
func fromManager(w cluster.Write, m cluster.Manager) bool {
	apart := w.At.Sub(m.At)
	return sameClient(w, m) && apart > -slack && apart < slack
}

// audited makes evidence of a write. Service accounts and the cluster's own
// users are no persons.
func audited(w cluster.Write, was Evidence) Evidence {
	e := Evidence{Kind: ByAudit, Tool: toolOf(w), At: w.At, AuditID: w.AuditID, Manager: was.Manager}
	switch {
	case strings.HasPrefix(w.User, "system:serviceaccount:"):
		_, account, _ := strings.Cut(strings.TrimPrefix(w.User, "system:serviceaccount:"), ":")
		e.Note = "Written by the service account " + account + "."
	case strings.HasPrefix(w.User, "system:"):
		e.Note = "Written by " + w.User + "."
	default:
		e.Person = w.User
		if w.By != "" {
			e.Note = "Through " + w.By + ", which acted in this name."
		}
	}
	return e
}

// fromTrail asks Argo CD's own trail for an edit that was made in its UI: to
// the cluster, that was argocd-server.
func (s *survey) fromTrail(ctx context.Context, o manifest.Object, e Evidence) (Evidence, error) {
	if err := s.follow(ctx); err != nil {
		return e, err
	}
	for _, event := range slices.Backward(s.trail) {
		apart := event.At.Sub(e.At)
		about := event.Reason == "ResourceUpdated" && strings.HasSuffix(event.Message, "/"+o.Kind+" '"+o.Name+"'") ||
			event.Reason == "ResourceActionRan" && strings.HasSuffix(event.Message, "/"+o.Kind+"/"+o.Name)
		if event.User != "" && about && apart > -slack && apart < slack {
			return Evidence{Kind: ByController, Person: event.User, Tool: tools["argocd-server"], At: event.At, Manager: e.Manager,
				AuditID: e.AuditID, Note: "Named by Argo CD's events; the cluster saw argocd-server."}, nil
		}
	}
	e.Note = "Made in Argo CD's UI or API; its events do not say by whom."
	return e, nil
}

// deleter finds who deleted an object, which leaves no trace but in the audit
// log.
func (s *survey) deleter(ctx context.Context, o manifest.Object) (Evidence, error) {
	w, ok, err := s.await(ctx, o, "", time.Time{}, func(writes []cluster.Write) (cluster.Write, bool) {
		if n := len(writes); n > 0 && writes[n-1].Verb == "delete" {
			return writes[n-1], true
		}
		return cluster.Write{}, false
	})
	if err != nil {
		return Evidence{}, err
	}
	if ok {
		return audited(w, Evidence{}), nil
	}
	return Evidence{Kind: Unknown, Note: s.silence()}, nil
}
