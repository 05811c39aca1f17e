package card

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/manifest"
)

// maxChanges is how many changes a card shows: more are not read.
const maxChanges = 5

// object is an object's full name.
func object(o manifest.Object) string {
	if o.Namespace == "" {
		return name(o.Kind + " " + o.Name)
	}
	return name(o.Kind + " " + o.Namespace + "/" + o.Name)
}

// differs is one change: the field, and what it was and is.
func differs(c drift.Change) string {
	switch {
	case len(c.Path) == 0 && c.Op == manifest.Add:
		return "the whole object: in the cluster, in no Git"
	case len(c.Path) == 0 && c.Op == manifest.Remove:
		return "the whole object: in Git, missing in the cluster"
	case c.Masked:
		return code(c.Path.String(), longValue) + "  differs; its value is secret and not shown"
	case c.Op == manifest.Add:
		return code(c.Path.String(), longValue) + "  added: " + code(value(c.Live), longValue)
	case c.Op == manifest.Remove:
		return code(c.Path.String(), longValue) + "  removed; Git has " + code(value(c.Git), longValue)
	}
	return fmt.Sprintf("%s  %s → %s", code(c.Path.String(), longValue), code(value(c.Git), longValue), code(value(c.Live), longValue))
}

// evidence says who or what made a change, and how that is known. It never
// guesses: a person is named only where somebody saw them.
func evidence(e drift.Evidence, f Facts) string {
	now := f.Now
	at := ""
	if !e.At.IsZero() {
		at = ", " + when(e.At, now)
	}
	tool := ""
	if e.Tool != "" {
		tool = ", " + name(e.Tool)
	}
	switch {
	case e.Person != "":
		return "by " + name(e.Person) + tool + at + " · evidence: " + f.Links.audit(e.AuditID, kindOfEvidence(e.Kind)) + note(e.Note)
	case e.Tool != "" || e.Manager != "":
		return "tool: " + name(cmp.Or(e.Tool, e.Manager)) + at + "; person: unknown" + note(e.Note)
	}
	return "person and tool: unknown" + at + note(e.Note)
}

func note(s string) string {
	if s == "" {
		return ""
	}
	return " · " + say(strings.TrimSuffix(s, "."), longPhrase)
}

func kindOfEvidence(kind drift.EvidenceKind) string {
	if kind == drift.ByController {
		return "controller event"
	}
	return "audit log"
}

// group is the changes of one object.
type group struct {
	object  manifest.Object
	changes []drift.Change
}

// grouped puts changes together by object, in the order in which they come:
// the riskiest first.
func grouped(changes []drift.Change) []group {
	var list []group
	for _, c := range changes {
		i := slices.IndexFunc(list, func(g group) bool { return g.object == c.Object })
		if i < 0 {
			i = len(list)
			list = append(list, group{object: c.Object})
		}
		list[i].changes = append(list[i].changes, c)
	}
	return list
}

// changes draws what differs, by object. Who made a change stands once for
// all that follow each other and were made in the same act.
func changes(list []drift.Change, f Facts) (paragraphs []string) {
	left := maxChanges
	for _, g := range grouped(list) {
		shown := g.changes[:min(left, len(g.changes))]
		if left -= len(shown); len(shown) == 0 {
			break
		}
		lines := []string{"*" + object(g.object) + "*"}
		for i, c := range shown {
			lines = append(lines, differs(c))
			if by := madeBy(c, f); i == len(shown)-1 || madeBy(shown[i+1], f) != by {
				lines = append(lines, by)
			}
		}
		paragraphs = append(paragraphs, strings.Join(lines, "\n"))
	}
	return paragraphs
}

func madeBy(c drift.Change, f Facts) string {
	if c.Invisible {
		return evidence(c.Evidence, f) + " · invisible to Argo CD"
	}
	return evidence(c.Evidence, f)
}

// one names a single change in a few words, or counts them.
func one(list []drift.Change) string {
	if len(list) != 1 {
		return count(len(list), "change")
	}
	c := list[0]
	switch {
	case len(c.Path) == 0 || c.Masked:
		return object(c.Object)
	case c.Op == manifest.Set:
		return fmt.Sprintf("%s %s → %s", name(c.Path.String()), say(value(c.Git), 40), say(value(c.Live), 40))
	}
	return name(c.Path.String())
}
