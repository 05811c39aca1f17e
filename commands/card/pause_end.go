package card

import (
	"fmt"
	"slices"
	"strings"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/book"
)

// pauseRecord draws how a pause ended.
func pauseRecord(f Facts) Message {
	s := f.sheet()
	s.title(append(f.where(), pauseEnd(f))...)
	s.lines(fmt.Sprintf("%s · %s → %s, %s", name(string(f.Run.Incident)), clock(f.Run.Opened, f.Now), clock(f.Run.Closed, f.Now), span(f.Run.Closed.Sub(f.Run.Opened))))
	var lines []string
	for _, l := range pauseLines(f) {
		lines = append(lines, fact(l.label, l.mrkdwn()))
	}
	s.lines(lines...)
	s.small(code(string(f.Run.ID), longName))
	return s.message(strings.Join(names(append(f.where(), pauseEnd(f))), " · ") + ".")
}

func pauseEnd(f Facts) string {
	end := map[string]string{
		book.Resumed:      "resumed",
		book.Undone:       "not paused any more",
		book.Moot:         "nothing to pause",
		book.WouldNotHold: "not paused: it would not hold",
		book.NotPaused:    "not paused",
		"left":            "pause left",
	}[f.Run.Outcome]
	if end == "" {
		return f.Run.Outcome
	}
	return end
}

// pauseLines are the lines of a pause's record.
func pauseLines(f Facts) []line {
	look, _ := book.InspectedIn(f.Run)
	p := f.Run.Pause
	text := func(label, s string) line {
		if s == "" {
			return line{label: label}
		}
		return line{label, []piece{{text: s}}}
	}
	return []line{
		text("What", whatPaused(f, look)),
		text("Asked", fmt.Sprintf("by %s: “%s”", p.By.Name, p.Reason)),
		text("Why", whyEnded(f, look)),
		text("What would hold", remedy(f, look)),
		text("Held", heldFor(f, look)),
		text("Extended", extensions(f)),
		text("End", endedBy(f)),
		text("Undone by it", undoneByIt(f)),
		text("Sync policy", policy(f)),
		text("Now", standsNow(f)),
	}
}

func whatPaused(f Facts, look book.Inspected) string {
	if _, halted := book.HaltedIn(f.Run); !halted || f.Run.Outcome == book.NotPaused && len(look.Layers) < 2 {
		return "nothing was changed"
	}
	var list []string
	for _, l := range look.Layers {
		list = append(list, l.Target.Name)
	}
	slices.Reverse(list)
	text := "automated sync of " + both(list) + " was switched off"
	if h, _ := book.HaltedIn(f.Run); slices.Contains(h.Ways, argocd.ByUpdate) {
		text += ", without Argo CD's validation, which failed: it needs the repository"
	}
	return text
}

func whyEnded(f Facts, look book.Inspected) string {
	h, _ := book.HaltedIn(f.Run)
	u := book.UndoneIn(f.Run)
	switch {
	case f.Run.Outcome == book.Moot:
		return look.Moot
	case f.Run.Outcome == book.WouldNotHold:
		return look.Hold.Why
	case f.Run.Outcome == book.NotPaused:
		return h.Refused
	case u == nil:
		return ""
	case u.By != "":
		return fmt.Sprintf("%s switched automated sync of %s on again, seen %s (Argo CD's events)", u.By, u.Target.Name, clock(u.At, f.Now))
	case look.Hold.By != "":
		return fmt.Sprintf("automated sync of %s is on again, seen %s; nobody is named for it, and %s writes this Application, too", u.Target.Name, clock(u.At, f.Now), look.Hold.By)
	}
	return fmt.Sprintf("automated sync of %s is on again, seen %s; who did that is unknown", u.Target.Name, clock(u.At, f.Now))
}

func remedy(f Facts, look book.Inspected) string {
	if f.Run.Outcome == book.WouldNotHold || f.Run.Outcome == book.Undone {
		return look.Hold.Remedy
	}
	return ""
}

func heldFor(f Facts, look book.Inspected) string {
	h, halted := book.HaltedIn(f.Run)
	held, verified := book.HeldIn(f.Run)
	back, restored := book.RestoredIn(f.Run)
	if !halted || !verified || !restored || f.Run.Outcome == book.NotPaused {
		return ""
	}
	end := back.At
	if u := book.UndoneIn(f.Run); u != nil {
		end = u.At
	}
	text := fmt.Sprintf("%s → %s, %s", clock(h.At, f.Now), clock(end, f.Now), span(end.Sub(h.At)))
	if held.Over != "" {
		text += "; " + held.Over
	}
	if d, _ := book.DrainedIn(f.Run); d.Ended {
		text += "; the automated sync that ran was ended"
	}
	return text
}

func extensions(f Facts) string {
	var list []string
	for _, x := range f.Run.Pause.Extended {
		list = append(list, fmt.Sprintf("by %s at %s, to %s", x.By.Name, clock(x.At, f.Now), clock(x.Until, f.Now)))
	}
	return strings.Join(list, "; ")
}

func endedBy(f Facts) string {
	if f.Run.Outcome != book.Resumed {
		return ""
	}
	r := f.Run.Pause.Resume
	switch {
	case r == nil:
		return "its time was over"
	case r.Reason == "":
		return "asked for by " + r.By.Name
	}
	return fmt.Sprintf("asked for by %s: “%s”", r.By.Name, r.Reason)
}

// undoneByIt is what resuming undid, and who agreed.
func undoneByIt(f Facts) string {
	if f.Run.Outcome != book.Resumed {
		return ""
	}
	sim, ok := book.SimulationIn(f.Run)
	if !ok {
		return ""
	}
	a, _ := book.ApprovalIn(f.Run)
	if !sim.Harmful() {
		return "nothing; " + pauseCommits(sim)
	}
	return strings.TrimPrefix(sim.Brief(), "would undo ") + "; agreed by " + both(voters(f, a.Votes))
}

func pauseCommits(sim book.Simulation) string {
	if sim.Commits < 0 {
		return "commits that landed meanwhile could not be counted"
	}
	return count(sim.Commits, "commit") + " landed meanwhile"
}

// policy says whether what was there is there again.
func policy(f Facts) string {
	back, ok := book.RestoredIn(f.Run)
	var left []string
	for _, t := range back.Left {
		left = append(left, t.Name)
	}
	switch {
	case !ok:
		return ""
	case len(left) > 0:
		return "left as somebody else made it: " + both(left)
	case back.Exact:
		return "exactly what it was"
	}
	return "automated is exactly what it was; other parts were changed by somebody else meanwhile, and left"
}

func standsNow(f Facts) string {
	v, ok := book.VerifiedIn(f.Run)
	if !ok || v.Sync == "" {
		return ""
	}
	return fmt.Sprintf("%s, %s at revision %s, %s", v.Sync, v.Health, short(v.Revision), clock(v.At, f.Now))
}

// pauseNotice is what is said in the thread of a pause. Whom it concerns is
// named: the card alone is easily overlooked.
func pauseNotice(f Facts, kind string) string {
	p := f.Run.Pause
	sim, _ := book.SimulationIn(f.Run)
	would := "resuming now " + sim.Brief()
	if f.Run.Wait != nil {
		if text := onResume(f); text != "" {
			would = "resuming now " + text
		}
	}
	switch kind {
	case "paused":
		look, _ := book.InspectedIn(f.Run)
		held, _ := book.HeldIn(f.Run)
		return strings.TrimSpace(fmt.Sprintf("Paused until %s. %s. %s", clock(p.Until, f.Now), holds(look, held), late(f, held)))
	case "pause-reminder":
		return fmt.Sprintf("%s: this pause ends at %s, and what it was for is to be in Git, or undone, by then. Extend it, or resume it.", name(p.By.Name), clock(p.Until, f.Now))
	case "pause-question":
		who := name(p.By.Name)
		if p.Resume != nil {
			who = name(p.Resume.By.Name)
		}
		return fmt.Sprintf("%s, and %s: %s. It stays paused until somebody says yes on the card above, extends it, or takes the change into Git.", who, either(names(sim.Needs.From)), say(would, longPhrase))
	case "pause-escalated":
		return fmt.Sprintf("Still paused, and still no answer since %s. %s, and %s: %s. Say yes on the card above, extend it, or take the change into Git.",
			clock(p.Until, f.Now), name(p.By.Name), either(names(sim.Needs.From)), say(would, longPhrase))
	case "pause-extended":
		if n := len(p.Extended); n > 0 {
			return fmt.Sprintf("%s extended the pause until %s.", name(p.Extended[n-1].By.Name), clock(p.Extended[n-1].Until, f.Now))
		}
	case "pause-ending":
		if p.Resume != nil {
			return fmt.Sprintf("%s wants to resume. First, what that would do is looked at.", name(p.Resume.By.Name))
		}
	case "pause-undone":
		if u := book.UndoneIn(f.Run); u != nil {
			look, _ := book.InspectedIn(f.Run)
			if u.Why != "" {
				return "Not paused: " + say(u.Why, longPhrase)
			}
			return fmt.Sprintf("%s: this is not paused any more. %s. What was changed by hand can be undone at any moment.", name(p.By.Name), say(whyEnded(f, look), longPhrase))
		}
	case "pause-stuck":
		if w := f.Run.Wait; w != nil {
			return "Something stands in the way: " + say(w.Why, longPhrase) + " It is tried again until it works."
		}
	case "replanned":
		if n := len(f.Run.Past); n > 0 {
			return "It changed: " + say(f.Run.Past[n-1].Why, longPhrase) + ". What was agreed before is void."
		}
	case "resumed":
		return "Argo CD reconciles this again. The sync policy is " + name(policy(f)) + "."
	case "approved":
		return pauseVote(f, true)
	case "declined":
		return pauseVote(f, false)
	}
	return ""
}

func pauseVote(f Facts, yes bool) string {
	for _, v := range slices.Backward(f.Run.Votes) {
		switch {
		case v.Yes != yes:
		case yes:
			return name(v.By.Name) + " agreed that resuming undoes this."
		default:
			return name(v.By.Name) + " keeps it paused: “" + say(v.Reason, longPhrase) + "”"
		}
	}
	return ""
}
