package card

import (
	"fmt"
	"strings"
	"time"

	"reconcilebot/runbook/drift"
	"reconcilebot/state"
)

// Status says how a target stands now; run is its open reconciliation, if it
// has one.
func Status(t drift.TargetInfo, run *state.Reconciliation, now time.Time) Message {
	s := &sheet{}
	s.title(t.Name, t.Cluster)
	s.lines(
		link(t.URL, "Argo CD: "+name(strings.Trim(t.Sync+", "+t.Health, ", ")))+" · "+automation(t),
		follows(t),
	)
	open := "none; `/reconcile drift " + name(t.Name) + "` looks"
	if run != nil {
		open = fmt.Sprintf("%s (%s, since %s)", phase(Facts{Run: *run, Now: now}), name(string(run.Incident)), clock(run.Opened, now))
	}
	s.lines(fact("Open reconciliation", open))
	s.small("Synced does not show that nobody touched it: fields added by hand are not seen by Argo CD.")
	return s.message(name(t.Name) + " in " + name(t.Cluster) + ":")
}

func automation(t drift.TargetInfo) string {
	switch {
	case !t.Automated.Enabled:
		return "automated sync is off"
	case t.Automated.SelfHeal:
		return "automated sync and self-heal are on"
	}
	return "automated sync is on, self-heal is off"
}

func follows(t drift.TargetInfo) string {
	if t.RepoURL == "" {
		return ""
	}
	revision := t.TargetRevision
	if revision == "" {
		revision = "HEAD"
	}
	return fact("Follows", fmt.Sprintf("%s of %s, path %s", code(revision, longName), code(t.RepoURL, longValue), code(t.Path, longValue)))
}
