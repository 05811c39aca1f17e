package card

import (
	"fmt"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"reconcilebot/runbook"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// paused draws the one card that a pause has: while it is taken, while it
// runs, when its end is asked about, and when it is over.
func paused(f Facts) Message {
	_, halted := book.HaltedIn(f.Run)
	held, verified := book.HeldIn(f.Run)
	sim, simulated := book.SimulationIn(f.Run)
	_, agreed := book.ApprovalIn(f.Run)
	switch {
	case f.Run.IsClosed():
		return pauseRecord(f)
	case f.Run.Failure != nil:
		return pauseFailed(f)
	case agreed:
		return resuming(f)
	case simulated && sim.Harmful():
		return resumeQuestion(f, sim)
	case verified && held.Undone == nil:
		return pauseRuns(f, held)
	}
	return pausing(f, halted)
}

// pausing is the card until the pause is seen to hold.
func pausing(f Facts, halted bool) Message {
	s := f.sheet()
	s.title(append(f.where(), "pausing")...)
	doing := "*Not paused yet*  Looking at what is there, and whether a pause will hold."
	if halted {
		doing = "*Automated sync is off*  Watching that it stays off."
	}
	s.lines(doing, f.waiting(), pausedBy(f))
	if look, ok := book.InspectedIn(f.Run); ok {
		s.lines(holds(look, book.Held{}))
	}
	return s.message("Pausing " + f.place() + ".")
}

// pauseRuns is the card of a pause that holds.
func pauseRuns(f Facts, held book.Held) Message {
	look, _ := book.InspectedIn(f.Run)
	s := f.sheet()
	s.title(append(f.where(), "paused")...)
	s.lines(fmt.Sprintf("*%s*, ends %s", left(f), clock(f.Run.Pause.Until, f.Now)), pausedBy(f))
	s.lines(holds(look, held), late(f, held), fact("On resume", onResume(f)), elsewhere(f))
	s.small(alreadyDiffered(look.Before), extended(f))
	s.buttons(pauseButtons(f)...)
	return s.message(fmt.Sprintf("%s is paused, %s, ends %s.", f.place(), left(f), clock(f.Run.Pause.Until, f.Now)))
}

// left is the countdown.
func left(f Facts) string {
	d := f.Run.Pause.Until.Sub(f.Now)
	if d <= 0 {
		return "its time is over"
	}
	return span(d) + " left"
}

func pausedBy(f Facts) string {
	p := f.Run.Pause
	return fmt.Sprintf("By %s for %s: “%s”", name(p.By.Name), name(string(f.Run.Incident)), say(p.Reason, longPhrase))
}

// holds says whether the pause holds, and how that is known.
func holds(look book.Inspected, held book.Held) string {
	h := look.Hold
	text := "yes"
	switch {
	case h.Undone:
		text = "no"
	case h.Until != "":
		text = "until " + say(h.Until, longPhrase)
	}
	if h.Why != "" {
		text += " — " + say(strings.TrimSuffix(h.Why, "."), longPhrase)
	}
	if held.Over != "" {
		text += "; " + say(held.Over, longPhrase)
	}
	return fact("Holds", text)
}

func late(f Facts, held book.Held) string {
	if held.Late.IsZero() {
		return ""
	}
	return fact("Note", "one more automated sync had begun, "+when(held.Late, f.Now)+"; it may have undone what was changed before the pause")
}

// onResume is what resuming would do, as it was seen last.
func onResume(f Facts) string {
	if w := f.Run.Wait; w != nil {
		if _, would, found := strings.Cut(w.Why, "; resuming now "); found {
			return say(would, longPhrase)
		}
	}
	return ""
}

// elsewhere is what keeps the pause from being looked at.
func elsewhere(f Facts) string {
	w := f.Run.Wait
	switch {
	case w == nil || strings.Contains(w.Why, "; resuming now "):
		return ""
	case w.For == runbook.ForOutage:
		return f.waiting()
	}
	return fact("Note", say(w.Why, longPhrase))
}

// alreadyDiffered says what there was before: it is told apart from what is
// changed meanwhile.
func alreadyDiffered(d drift.Drift) string {
	if d.Refused != "" {
		return "When it began, what differed could not be judged"
	}
	if len(d.Changes) == 0 {
		return "When it began, nothing differed from Git"
	}
	return "When it began, " + count(len(d.Changes), "change") + " made by hand " + was(len(d.Changes)) + " there already"
}

func was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

func extended(f Facts) string {
	list := f.Run.Pause.Extended
	if len(list) == 0 {
		return ""
	}
	last := list[len(list)-1]
	return fmt.Sprintf("extended by %s at %s", name(last.By.Name), clock(last.At, f.Now))
}

// pauseButtons are what can be done about a pause that runs.
func pauseButtons(f Facts) []button {
	target, carried := f.target().Name+" in "+f.target().Cluster, f.value("")
	return []button{
		{action: ActionLook, text: "See what differs", value: carried, label: "See what differs in " + target},
		{action: ActionExtend, text: "Extend by 30 min", value: carried, label: "Extend the pause of " + target},
		{
			action: ActionResume, text: "Resume now", value: carried, label: "Resume the reconciliation of " + target,
			confirm: confirm("Resume now?", "Argo CD reconciles "+target+" again. If that would undo a change, somebody else is asked first.", "Resume", "Cancel"),
		},
	}
}

// resumeQuestion is the card that asks whether to resume over what differs.
func resumeQuestion(f Facts, sim book.Simulation) Message {
	standing := f.Run.Standing(sim.Digest)
	missing := max(sim.Needs.Approvals-len(standing), 0)
	s := f.sheet()
	s.title(append(f.where(), "paused")...)
	s.lines(question(f)+given(standing), pausedBy(f), fact("Stays paused", "until somebody says yes, extends it, or nothing differs any more"), stuckIn(f))
	s.lines(undoes(sim)...)
	s.lines(more(sim)...)
	n := book.Plan{Needs: sim.Needs}
	s.lines(fact("Needs", needs(n)))
	s.small(fmt.Sprintf("%s · seen %s", name(string(f.Run.Incident)), clock(sim.At, f.Now)), extended(f))
	s.buttons(resumeBallot(f, sim)...)
	return s.message(fmt.Sprintf("%s is paused. Resuming %s. Waiting for %s by %s.", f.place(), say(sim.Brief(), longPhrase), count(missing, "approval"), either(names(sim.Needs.From))))
}

func question(f Facts) string {
	if r := f.Run.Pause.Resume; r != nil {
		return fmt.Sprintf("*%s wants to resume.* Is this to be undone?", name(r.By.Name))
	}
	return fmt.Sprintf("*The pause ended %s.* Is this to be undone?", when(f.Run.Pause.Until, f.Now))
}

func stuckIn(f Facts) string {
	if w := f.Run.Wait; w != nil && w.For == runbook.ForOutage {
		return f.waiting()
	}
	return ""
}

// undoes lists what resuming undoes.
func undoes(sim book.Simulation) (lines []string) {
	if sim.Refused != "" {
		return []string{fact("Resuming", "what it does can't be foreseen, because what differs can't be judged: "+say(sim.Refused, longPhrase))}
	}
	for _, g := range grouped(sim.Undo) {
		for _, c := range g.changes {
			if len(lines) == maxChanges {
				return append(lines, fmt.Sprintf("showing %d of %d, the riskiest first", maxChanges, len(sim.Undo)))
			}
			lines = append(lines, object(c.Object)+"  "+undone1(c))
		}
	}
	if len(lines) > 0 {
		lines[0] = fact("Undoes", lines[0])
	}
	return lines
}

// undone1 is a change the way round in which resuming makes it.
func undone1(c drift.Change) string {
	switch {
	case len(c.Path) == 0 && c.Op == manifest.Remove:
		return "the whole object is created again"
	case c.Masked:
		return code(c.Path.String(), longValue) + "  is put back; its value is secret and not shown"
	case c.Op == manifest.Remove:
		return code(c.Path.String(), longValue) + "  is put back: " + code(value(c.Git), longValue)
	}
	return fmt.Sprintf("%s  %s → %s", code(c.Path.String(), longValue), code(value(c.Live), longValue), code(value(c.Git), longValue))
}

// more is what else resuming does.
func more(sim book.Simulation) []string {
	stay, landed := "", ""
	if n := len(sim.Stay); n > 0 {
		stay = count(n, "further change") + ", which this does not undo now"
	}
	if sim.Commits > 0 {
		landed = count(sim.Commits, "commit") + " landed meanwhile and will be applied"
	}
	return []string{
		fact("Deletes", both(first(names(sim.Prune), 5))), fact("Restarts", both(first(names(sim.Restart), 5))),
		fact("Stays", stay), fact("Git", landed), fact("Held back", say(sim.Window, longName)),
	}
}

func resumeBallot(f Facts, sim book.Simulation) []button {
	target := f.target().Name + " in " + f.target().Cluster
	yes := button{
		action: ActionApprove, text: "Resume and undo", value: f.value(sim.Digest), style: slack.StyleDanger,
		label:   "Resume, and let this be undone: " + target,
		confirm: confirm("Let this be undone?", "Resuming "+target+" "+sim.Brief()+".", "Resume and undo", "Cancel"),
	}
	if sim.Needs.Disown {
		yes.value = Carry(f.Run.ID, sim.Digest, FlagNotMine)
		yes.confirm = confirm("Was this change yours?", "Nobody knows who made this change, so two people have to agree. By agreeing you say that you did not make it.", "I did not make it", "Cancel")
	}
	look := pauseButtons(f)
	return []button{look[0], look[1], yes, {action: ActionDecline, text: "Keep it paused", value: f.value(sim.Digest), label: "Keep " + target + " paused"}}
}

// resuming is the card while what was there is put back.
func resuming(f Facts) Message {
	s := f.sheet()
	s.title(append(f.where(), "resuming")...)
	doing := "Putting back the sync policy that was there before."
	if _, back := book.RestoredIn(f.Run); back {
		doing = "The sync policy is what it was. Watching what Argo CD does."
	}
	s.lines(doing, f.waiting(), stuckNote(f), pausedBy(f))
	return s.message("Resuming " + f.place() + ".")
}

func stuckNote(f Facts) string {
	if w := f.Run.Wait; w != nil && w.For == runbook.ForPeople {
		return fact("Note", say(w.Why, longPhrase))
	}
	return ""
}

// pauseFailed is the card of a pause that stopped.
func pauseFailed(f Facts) Message {
	s := f.sheet()
	target := f.target().Name + " in " + f.target().Cluster
	s.title(append(f.where(), "pause stopped")...)
	s.lines(paragraphs(f.Run.Failure.Say, 1500))
	buttons := []button{{action: ActionRetry, text: "Try again", value: f.value(""), style: slack.StylePrimary, label: "Try again: pause of " + target}}
	if _, halted := book.HaltedIn(f.Run); halted {
		s.lines(fact("As it stands", "automated sync may be off; nothing puts it back until this is tried again"))
	} else {
		s.lines(fact("As it stands", "nothing was changed"))
		buttons = append(buttons, button{action: ActionLeave, text: "Leave it", value: f.value(""), label: "Leave " + target + " as it is"})
	}
	s.small(fmt.Sprintf("%s · at the step “%s”, %s", name(string(f.Run.Incident)), name(string(f.Run.Failure.Step)), when(f.Run.Failure.At, f.Now)), pausedBy(f))
	s.buttons(buttons...)
	return s.message(f.place() + ": the pause stopped. " + say(f.Run.Failure.Say, longPhrase))
}

// pausePhase says in a few words where a pause stands, for lists.
func pausePhase(f Facts) string {
	sim, simulated := book.SimulationIn(f.Run)
	_, agreed := book.ApprovalIn(f.Run)
	held, verified := book.HeldIn(f.Run)
	switch {
	case f.Run.IsClosed():
		return "pause: " + name(f.Run.Outcome) + ", " + clock(f.Run.Closed, f.Now)
	case f.Run.Failure != nil:
		return "pause stopped: " + say(f.Run.Failure.Say, longName)
	case agreed:
		return "paused, being resumed"
	case simulated && sim.Harmful():
		return "paused; asks whether to undo " + count(len(sim.Undo), "change")
	case verified && held.Undone == nil:
		return "paused by " + name(f.Run.Pause.By.Name) + ", " + left(f) + ", ends " + clock(f.Run.Pause.Until, f.Now)
	}
	return "being paused"
}

// pauses counts those that run, for the board.
func pauses(runs []state.Reconciliation, now time.Time) string {
	var list []string
	for _, r := range runs {
		if f := (Facts{Run: r, Now: now}); r.Pause != nil && !r.IsClosed() {
			list = append(list, fmt.Sprintf("%s, %s", name(f.target().Name), left(f)))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return fact("Paused", fmt.Sprintf("%d (%s)", len(list), strings.Join(first(list, 5), "; ")))
}
