package card

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/manifest"
)

// maxTouched is how many acts a timeline shows.
const maxTouched = 15

// Timeline says who and what touched a target, or one object of it, the latest
// first, and how that is known. What Argo CD and the cluster's controllers did
// by themselves is counted, not listed, unless there is nothing else.
func Timeline(t drift.TargetInfo, only string, all []drift.Touch, now time.Time, links Links) Message {
	s := &sheet{}
	s.title("Who touched "+t.Name, t.Cluster)
	shown, automatic := apart(all)
	if len(shown) == 0 {
		s.lines("*Nobody, as far as it is known*" + within(only) + ".")
	}
	f := Facts{Now: now, Links: links}
	for _, touch := range shown[:min(len(shown), maxTouched)] {
		what := "*" + object(touch.Object) + "*"
		if touch.Object == (manifest.Object{}) {
			what = "*" + name(t.Name) + "*"
		}
		s.lines(what+"  "+acted(touch.What), evidence(touch.Evidence, f))
	}
	var notes []string
	if n := len(shown) - maxTouched; n > 0 {
		notes = append(notes, fmt.Sprintf("%d earlier ones are left out; name one object to see more of it: `/reconcile who %s KIND/NAME`", n, name(t.Name)))
	}
	if automatic > 0 {
		notes = append(notes, fmt.Sprintf("and %s by Argo CD and other controllers, by themselves", count(automatic, "act")))
	}
	s.small(notes...)
	s.small("People are named by the audit log and by Argo CD's events only. A field manager is a name that a tool gave itself.")
	return s.message(fmt.Sprintf("Who touched %s in %s: %s.", name(t.Name), name(t.Cluster), count(len(shown), "act")))
}

func within(only string) string {
	if only == "" {
		return ""
	}
	return " of " + name(only)
}

// apart leaves out what was done automatically.
func apart(all []drift.Touch) (shown []drift.Touch, automatic int) {
	for _, t := range all {
		if t.Automatic {
			automatic++
			continue
		}
		shown = append(shown, t)
	}
	return shown, automatic
}

func acted(what []string) string {
	parts := make([]string, len(what))
	for i, w := range what {
		parts[i] = code(w, longValue)
	}
	return cmp.Or(strings.Join(parts, ", "), "what exactly is not known")
}
