package drift

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"

	"reconcilebot/runbook/manifest"
)

// foretell gives every change its outlook.
func (s *survey) foretell(ctx context.Context) error {
	if len(s.drift.Changes) == 0 {
		return nil
	}
	blocked := ""
	if s.app.Automated.Enabled {
		windows, err := s.Argo.SyncWindows(ctx, s.ref)
		if err != nil {
			return err
		}
		blocked, _ = windows.Blocks()
	}
	for i := range s.drift.Changes {
		c := &s.drift.Changes[i]
		c.Outlook = s.outlook(*c, blocked)
	}
	return nil
}

// outlook says what Argo CD does to a change if nobody acts. The order is
// that in which Argo CD itself decides.
func (s *survey) outlook(c Change, blocked string) Outlook {
	undo, policy := undoing(c), s.app.Automated
	branch := s.drift.TargetRevision
	switch {
	case c.Invisible:
		return Outlook{Kept, "it stays. Argo CD takes no notice of it, and no sync removes it, until Git has this field, too."}
	case c.Op == manifest.Add && len(c.Path) == 0 && !policy.Prune:
		return Outlook{Kept, "it stays. It is in no Git, and Argo CD does not prune here."}
	case s.running():
		return Outlook{Syncing, "a sync is under way, which may " + undo + " at any moment."}
	case !policy.Enabled:
		return Outlook{ManualSync, fmt.Sprintf("it stays until somebody syncs %s, which will %s. Automated sync is off.", s.drift.Name, undo)}
	case blocked != "":
		return Outlook{Window, fmt.Sprintf("it stays for now, because %s. When the window lets it, Argo CD will %s.", blocked, s.later(undo, policy.SelfHeal))}
	case policy.SelfHeal && s.failed():
		return Outlook{SelfHeal, fmt.Sprintf("Argo CD's last try to %s did not succeed; it may try again at any moment.", undo)}
	case policy.SelfHeal:
		return Outlook{SelfHeal, fmt.Sprintf("Argo CD will %s within seconds, because self-heal is on. Pausing first keeps it.", undo)}
	case s.resourced():
		return Outlook{MovedHead, fmt.Sprintf("Argo CD will %s at any moment: the Application's source was changed and has not been synced since. Self-heal is off, which does not prevent that.", undo)}
	case s.moved():
		return Outlook{MovedHead, fmt.Sprintf("Argo CD will %s as soon as it looks at %s again, within minutes: there is a commit on it that has not been synced. Self-heal is off, which does not prevent that.", undo, branch)}
	case pinned(branch):
		return Outlook{NextCommit, fmt.Sprintf("it stays until the target moves from %s to another commit, which will %s. Self-heal is off.", short(branch), undo)}
	}
	return Outlook{NextCommit, fmt.Sprintf("it stays until the next commit on %s, which will %s. Self-heal is off.", branch, undo)}
}

func (s *survey) later(undo string, selfHeal bool) string {
	if selfHeal {
		return undo
	}
	return undo + " with the next commit"
}

// undoing says what undoing a change does.
func undoing(c Change) string {
	switch {
	case len(c.Path) == 0 && c.Op == manifest.Remove:
		return "create it again"
	case len(c.Path) == 0:
		return "delete it"
	case c.Op == manifest.Remove:
		return "put it back"
	case c.Op == manifest.Add:
		return "remove it"
	}
	if v, ok := brief(c.Git); ok && !c.Masked {
		return "put it back to " + v
	}
	return "put it back to what Git has"
}

// brief is a value as it fits into a sentence.
func brief(v any) (string, bool) {
	const most = 60
	switch v := v.(type) {
	case nil, map[string]any, []any:
		return "", false
	case string:
		return v, v != "" && len(v) <= most
	}
	raw, err := json.Marshal(v)
	return string(raw), err == nil && len(raw) <= most
}

// running tells whether a sync runs or is about to; between two tries of a
// failed one, it is about to.
func (s *survey) running() bool {
	op := s.app.Operation
	return s.app.Requested && (op == nil || !op.Done()) || op != nil && (op.Phase == "Running" || op.Phase == "Terminating")
}

// failed tells whether the last sync was of this revision and came to
// nothing: Argo CD does not repeat it soon.
func (s *survey) failed() bool {
	op := s.app.Operation
	return op != nil && op.Revision == s.drift.Revision && (op.Phase == "Failed" || op.Phase == "Error")
}

// moved tells whether there is a commit that no sync has tried. Automated
// sync goes by the commit that it last tried, not by the one that the live
// objects have: with self-heal off, such a commit undoes everything that
// differs, whatever else it holds.
func (s *survey) moved() bool {
	if s.drift.Head != "" && s.drift.Head != s.drift.Revision {
		return true
	}
	op := s.app.Operation
	return op != nil && op.Revision != "" && s.drift.Revision != "" && op.Revision != s.drift.Revision
}

// resourced tells whether the source is another than the one that was synced
// last: then Argo CD takes the first difference that it sees for work to do.
func (s *survey) resourced() bool {
	op := s.app.Operation
	return op.Done() && op.Resourced
}

var commit = regexp.MustCompile(`^[0-9a-f]{40}$|^[0-9a-f]{64}$`)

// pinned tells whether a target revision is a commit, which never moves.
func pinned(revision string) bool { return commit.MatchString(revision) }
