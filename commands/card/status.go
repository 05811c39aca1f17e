package card

import (
	"fmt"
	"strings"
	"time"

	"reconcilebot/runbook/drift"
	"reconcilebot/state"
)

// Standing is what is open about a target.
type Standing struct {
	// Run is its open reconciliation, Pause its pause; nil if there is none.
	Run, Pause *state.Reconciliation
	// Others says what keeps Argo CD from reconciling it that no pause of ours
	// is.
	Others []string
}

// Status says how a target stands now.
func Status(t drift.TargetInfo, is Standing, now time.Time) Message {
	s := &sheet{}
	s.title(t.Name, t.Cluster)
	s.lines(
		link(t.URL, "Argo CD: "+name(strings.Trim(t.Sync+", "+t.Health, ", ")))+" · "+automation(t),
		follows(t),
	)
	s.lines(pauseOf(t, is, now)...)
	run := is.Run
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

// pauseOf says who keeps the target from being reconciled, if anybody does.
func pauseOf(t drift.TargetInfo, is Standing, now time.Time) []string {
	var lines []string
	if is.Pause != nil {
		f := Facts{Run: *is.Pause, Now: now}
		lines = append(lines, fact("Pause", fmt.Sprintf("%s (%s): “%s”; `/reconcile resume %s` ends it", pausePhase(f), name(string(is.Pause.Incident)), say(is.Pause.Pause.Reason, longName), name(t.Name))))
	}
	for _, other := range is.Others {
		lines = append(lines, fact("Not by reconcilebot", say(other, longPhrase)))
	}
	return lines
}
