package card

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/manifest"
)

// found is the first card: what differs, what happens if nobody acts, and
// what can be done.
func found(f Facts, seen book.Seen) Message {
	d := seen.Drift
	s := f.sheet()
	s.title(f.where()...)
	s.lines(fmt.Sprintf("%s · %s", status(d), name(string(f.Run.Incident))), "*"+headline(d)+"*")
	for _, p := range changes(d.Changes, f) {
		s.lines(p)
	}
	if len(d.Changes) > maxChanges {
		s.small(link(d.URL, fmt.Sprintf("showing %d of %d, the riskiest first", maxChanges, len(d.Changes))))
	}
	s.lines(alsoUndone(d))
	s.lines(ownSpec(d, f)...)
	s.lines(fact("If nobody acts", outlook(d)), fact("In Git", places(seen, f)), beside(f, d.TargetRevision), unsaved(seen), unremovable(d))
	s.lines(hiding(d))
	s.small(fact("Not counted", noise(d.Noise)), begun(f))
	s.buttons(append(choices(f, seen), allChanges(f, d)...)...)
	return s.message(fmt.Sprintf("%s: %s (%s). %s", f.place(), headline(d), one(d.Changes), askFor(f, seen)))
}

func headline(d drift.Drift) string {
	if undone(d) {
		return count(len(d.Changes), "change") + " made by hand, undone already"
	}
	return count(len(d.Changes), "change") + " made by hand"
}

func askFor(f Facts, seen book.Seen) string {
	var can []string
	for _, b := range choices(f, seen) {
		switch b.action {
		case ActionAdopt:
			can = append(can, "adopt it into Git")
		case ActionRevert:
			can = append(can, "revert the cluster")
		}
	}
	if len(can) == 0 {
		return "It has to be dealt with by hand."
	}
	return "You can " + either(can) + "."
}

// hiding points out rules that hide what people do by hand.
func hiding(d drift.Drift) string {
	if len(d.Hiding) == 0 {
		return ""
	}
	text := say(d.Hiding[0], longPhrase)
	if n := len(d.Hiding) - 1; n > 0 {
		text += fmt.Sprintf("; and %d more such rules", n)
	}
	return fact("A rule hides changes", text+".")
}

// alsoUndone names what was undone already beside what still differs.
func alsoUndone(d drift.Drift) string {
	if len(d.Undone) == 0 {
		return ""
	}
	c := d.Undone[0]
	text := fmt.Sprintf("%s of %s by %s", one(d.Undone[:1]), object(c.Object), name(cmp.Or(c.Evidence.Person, c.Evidence.Tool)))
	if n := len(d.Undone) - 1; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return fact("Undone already", text+". Deal with what still differs, and look again: then it can be brought back.")
}

// ownSpec says how the target's own definition differs from Git, and where
// that is dealt with.
func ownSpec(d drift.Drift, f Facts) []string {
	if len(d.Own) == 0 {
		return nil
	}
	lines := []string{fmt.Sprintf("*The Application itself differs from Git*, where %s declares it", name(d.Parent))}
	for _, c := range d.Own[:min(len(d.Own), maxChanges)] {
		lines = append(lines, differs(c), evidence(c.Evidence, f))
	}
	if n := len(d.Own) - maxChanges; n > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", n))
	}
	return append(lines, fact("If nobody acts", outlook(drift.Drift{Changes: d.Own})),
		fmt.Sprintf("`/reconcile drift %s` adopts or reverts it.", name(d.Parent)))
}

// status is what Argo CD says, and leads there.
func status(d drift.Drift) string {
	return link(d.URL, "Argo CD: "+name(strings.Trim(d.Sync+", "+d.Health, ", ")))
}

// outlook says what happens next; each different thing once.
func outlook(d drift.Drift) string {
	var texts []string
	for _, c := range d.Changes {
		if t := say(c.Outlook.Text, longPhrase); t != "" && !slices.Contains(texts, t) {
			texts = append(texts, t)
		}
	}
	if len(texts) > 3 {
		texts = append(texts[:3], "…")
	}
	return strings.Join(texts, "\n")
}

// undone tells whether the controller undid everything already.
func undone(d drift.Drift) bool {
	return len(d.Changes) > 0 && !slices.ContainsFunc(d.Changes, func(c drift.Change) bool { return c.Outlook.Kind != drift.Undone })
}

// places says where the values live.
func places(seen book.Seen, f Facts) string {
	var lines []string
	for _, p := range seen.Places {
		if p.File == "" {
			continue
		}
		line := link(p.URL, code(fmt.Sprintf("%s:%d", p.File, p.Line), longValue))
		if p.Last.SHA != "" {
			line += fmt.Sprintf(" · last changed %s by %s", ago(f, p), name(p.Last.AuthorName))
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if len(lines) > maxChanges {
		lines = append(lines[:maxChanges], fmt.Sprintf("and %d more", len(lines)-maxChanges))
	}
	return strings.Join(lines, "\n")
}

func ago(f Facts, p book.Place) string { return span(f.Now.Sub(p.Last.When)) + " ago" }

// unsaved says why changes can't be written back, and what a person can do.
func unsaved(seen book.Seen) string {
	var lines []string
	for i, p := range seen.Places {
		if p.Why == "" || i >= len(seen.Drift.Changes) {
			continue
		}
		line := say(p.Why, longPhrase)
		if p.Hint != "" {
			line = strings.TrimSuffix(line, ".") + ". What you can do: " + say(p.Hint, longPhrase)
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	if len(lines) > 3 {
		lines = append(lines[:3], "…")
	}
	return "*Adopting is not offered*  The edit can't be proven.\n" + strings.Join(lines, "\n")
}

// unremovable says what no sync undoes.
func unremovable(d drift.Drift) string {
	if undone(d) || syncUndoes(d) {
		return ""
	}
	return "*Reverting takes a hand*  A sync leaves what was added by hand. The plan says with which command a person takes it away, and waits for that."
}

func syncUndoes(d drift.Drift) bool {
	return !slices.ContainsFunc(d.Changes, func(c drift.Change) bool {
		return c.Invisible || len(c.Path) == 0 && c.Op == manifest.Add
	})
}

func noise(list []drift.Noise) string {
	var parts []string
	for _, n := range list {
		parts = append(parts, fmt.Sprintf("%d %s", n.Count, say(n.Why, longName)))
	}
	return strings.Join(parts, ", ")
}

// begun tells who asked, and that this is not the first try.
func begun(f Facts) string {
	text := fmt.Sprintf("Asked by %s, %s", name(f.Run.OpenedBy.Name), clock(f.Run.Opened, f.Now))
	if f.Run.OpenedBy.ID == "" {
		// Only people have identities: nobody asked.
		text = fmt.Sprintf("Nobody asked; seen by %s, %s", name(f.Run.OpenedBy.Name), clock(f.Run.Opened, f.Now))
	}
	if n := len(f.Run.Past); n > 0 {
		text += " · begun again after: " + say(f.Run.Past[n-1].Why, longName)
	}
	return text
}

// choices are the buttons that lead somewhere.
func choices(f Facts, seen book.Seen) []button {
	target, carried := f.target().Name+" in "+f.target().Cluster, f.value(seen.Drift.Digest)
	var list []button
	if unsaved(seen) == "" {
		text := "Adopt into Git"
		if undone(seen.Drift) {
			text = "Bring it back through Git"
		}
		list = append(list, button{action: ActionAdopt, text: text, value: carried, style: slack.StylePrimary, label: text + ": " + target})
	}
	if !undone(seen.Drift) {
		list = append(list, button{
			action: ActionRevert, text: "Revert cluster", value: carried, style: slack.StyleDanger, label: "Revert the cluster to Git: " + target,
			confirm: confirm("Revert the cluster?", fmt.Sprintf("Makes a plan that puts %s of %s back to what Git says. Somebody else has to approve it first.", count(len(seen.Drift.Changes), "change"), target), "Plan the revert", "Cancel"),
		})
	}
	if n := len(seen.Drift.Changes); n > 1 && n <= MaxFields && !undone(seen.Drift) {
		list = append(list, button{action: ActionFields, text: "Decide per field", value: carried, label: "Decide for each change of " + target})
	}
	if seen.Drift.Automated.Enabled && !undone(seen.Drift) {
		list = append(list, button{action: ActionPause, text: "Pause", value: carried, label: "Keep Argo CD from reconciling " + target + " for a while"})
	}
	return append(list,
		button{action: ActionAgain, text: "Look again", value: carried, label: "Look again at " + target},
		button{action: ActionLeave, text: "Not now", value: carried, label: "Leave " + target + " as it is"},
	)
}

// noDrift is the card of a target in which nothing differs.
func noDrift(f Facts, seen book.Seen) Message {
	s := f.sheet()
	s.title(f.where()...)
	s.lines(fmt.Sprintf("%s · %s", status(seen.Drift), name(string(f.Run.Incident))), "*Nothing differs from Git*, as seen "+when(seen.Drift.SeenAt, f.Now)+".")
	s.lines(ownSpec(seen.Drift, f)...)
	s.lines(hiding(seen.Drift))
	s.small(fact("Not counted", noise(seen.Drift.Noise)), begun(f))
	s.buttons(append(afterLook(f, seen, "Done"), allChanges(f, seen.Drift)...)...)
	return s.message(f.place() + ": nothing differs from Git.")
}

// unjudged is the card of a target of which nobody can say what differs.
func unjudged(f Facts, seen book.Seen) Message {
	s := f.sheet()
	s.title(f.where()...)
	s.lines(fmt.Sprintf("%s · %s", status(seen.Drift), name(string(f.Run.Incident))), "*What differs can't be judged*", paragraphs(seen.Drift.Refused, longPhrase))
	s.lines("Nothing is adopted or reverted on a guess. When the cause is gone, look again.")
	s.small(begun(f))
	s.buttons(afterLook(f, seen, "Not now")...)
	return s.message(f.place() + ": what differs can't be judged.")
}

func afterLook(f Facts, seen book.Seen, leave string) []button {
	target, carried := f.target().Name+" in "+f.target().Cluster, f.value(seen.Drift.Digest)
	return []button{
		{action: ActionAgain, text: "Look again", value: carried, label: "Look again at " + target},
		{action: ActionLeave, text: leave, value: carried, label: leave + ": close the look at " + target},
	}
}
