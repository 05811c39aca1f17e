package card

import (
	"fmt"
	"strings"
	"time"

	"reconcilebot/runbook/book"
	"reconcilebot/state"
)

// Keeper is a ticket with the systems that keep records on it.
type Keeper struct {
	Ticket  string
	Systems []string
}

// kept says whether the records go to a ticket.
func (k Keeper) kept() string {
	label := link(k.Ticket, name(ticketName(k.Ticket)))
	if len(k.Systems) == 0 {
		return label + " gets no records: no ticket system in reconcilebot's config takes that address. Its `tickets` would have to."
	}
	return "The records go to " + label + " too."
}

// Opened says that a channel is bound to an incident.
func Opened(in state.Incident, now time.Time, keepers ...Keeper) Message {
	s := &sheet{}
	s.lines(
		fmt.Sprintf("This channel is bound to *%s*%s.", name(string(in.ID)), ticket(in)),
		"Next: `/reconcile drift TARGET` shows what differs from Git; `/reconcile status` shows what is open.",
	)
	for _, k := range keepers {
		s.lines(k.kept())
	}
	s.small(fmt.Sprintf("bound by %s, %s", name(in.Commander.Name), when(in.Opened, now)))
	return s.plain()
}

func ticket(in state.Incident) string {
	if in.Ticket == "" {
		return ""
	}
	if len(in.Also) == 0 {
		return " · " + link(in.Ticket, "ticket")
	}
	var all []string
	for _, address := range in.Tickets() {
		all = append(all, link(address, name(ticketName(address))))
	}
	return " · tickets " + strings.Join(all, ", ")
}

// Closed says that an incident ended, and what is still open.
func Closed(in state.Incident, runs []state.Reconciliation, now time.Time) Message {
	s := &sheet{}
	s.lines(fmt.Sprintf("*%s* is closed%s. This channel is free again.", name(string(in.ID)), ticket(in)))
	s.lines(totals(runs), stillOpen(runs, now))
	s.lines(unreviewed(runs, Facts{Now: now}))
	s.small(fmt.Sprintf("closed by %s after %s", name(in.ClosedBy.Name), span(in.Closed.Sub(in.Opened))))
	return s.plain()
}

func stillOpen(runs []state.Reconciliation, now time.Time) string {
	var lines []string
	for _, r := range runs {
		if !r.IsClosed() {
			lines = append(lines, "• "+runLine(r, now))
		}
	}
	if len(lines) == 0 {
		return fact("Left open", "nothing")
	}
	return fact("Left open", "these go on to their end") + "\n" + strings.Join(lines, "\n")
}

// maxRows is how many lines a list in a card has.
const maxRows = 12

// Board draws an incident's state on one page.
func Board(in state.Incident, runs []state.Reconciliation, now time.Time) Message {
	s := &sheet{}
	s.title(string(in.ID))
	s.lines(fmt.Sprintf("open %s · commander %s%s", span(now.Sub(in.Opened)), name(in.Commander.Name), ticket(in)), totals(runs))
	s.lines(pauses(runs, now))
	s.lines(unreviewed(runs, Facts{Now: now}))
	var lines []string
	for i, r := range runs {
		if i == maxRows {
			lines = append(lines, fmt.Sprintf("showing %d of %d", maxRows, len(runs)))
			break
		}
		lines = append(lines, "• "+runLine(r, now))
	}
	if len(lines) == 0 {
		lines = []string{"Nothing was looked at yet. `/reconcile drift TARGET` shows what differs from Git."}
	}
	s.lines(lines...)
	s.small("`/reconcile summary` has the records · as of " + clock(now, now))
	return s.message(name(string(in.ID)) + ":")
}

func totals(runs []state.Reconciliation) string {
	changes, open, ended := 0, 0, map[string]int{}
	for _, r := range runs {
		if r.Pause != nil {
			continue
		}
		if r.IsClosed() {
			ended[r.Outcome]++
			continue
		}
		open++
		if seen, ok := book.SeenIn(r); ok {
			changes += len(seen.Drift.Changes)
		}
	}
	parts := []string{count(open, "open reconciliation")}
	if changes > 0 {
		parts[0] = count(open, "target") + " open with " + count(changes, "change") + " made by hand"
	}
	if open == 0 {
		parts[0] = "none open"
	}
	for _, outcome := range []string{"adopted", "reverted", "adopted and reverted", "changed", "rolled back", "left", "nothing to do"} {
		if n := ended[outcome]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, outcome))
		}
	}
	return fact("Reconciliations", strings.Join(parts, ", "))
}

// runLine is a reconciliation in one line.
func runLine(r state.Reconciliation, now time.Time) string {
	f := Facts{Run: r, Now: now}
	return "*" + f.place() + "*  " + phase(f)
}

// phase says in a few words where a reconciliation stands.
func phase(f Facts) string {
	r := f.Run
	if r.Pause != nil {
		return pausePhase(f)
	}
	seen, looked := book.SeenIn(r)
	plan, planned := book.PlanIn(r)
	_, approved := book.ApprovalIn(r)
	switch {
	case r.IsClosed():
		return name(r.Outcome) + ", " + clock(r.Closed, f.Now)
	case r.Failure != nil:
		return failedHead(f, plan, planned) + ": " + say(r.Failure.Say, longName)
	case approved:
		doing := string(r.Book) + " under way"
		if r.Wait != nil {
			doing += ": " + say(r.Wait.Why, longName)
		}
		return doing
	case planned:
		return string(r.Book) + " waits for " + count(max(plan.Needs.Approvals-len(r.Standing(plan.Digest)), 0), "approval") + " by " + either(names(plan.Needs.From))
	case r.Decided():
		return string(r.Book) + ": making the plan"
	case !looked:
		return "looking"
	case seen.Drift.Refused != "":
		return "can't be judged"
	case len(seen.Drift.Changes) == 0:
		return "nothing differs"
	}
	return count(len(seen.Drift.Changes), "change") + " made by hand, undecided"
}

// Summary is all records of an incident so far, shortened to what one message
// holds.
func Summary(in state.Incident, runs []state.Reconciliation, now time.Time, links Links) Message {
	s := &sheet{}
	s.title(string(in.ID), "summary")
	s.lines(fmt.Sprintf("opened %s by %s%s", when(in.Opened, now), name(in.Commander.Name), ticket(in)), totals(runs))
	size := 0
	for i, r := range runs {
		f := Facts{Run: r, Now: now, Links: links}
		lines := []string{runLine(r, now)}
		for _, l := range record(f) {
			if l.label == "What" || l.label == "Who" || l.label == "Why not Git" || l.label == "Git" {
				lines = append(lines, fact(l.label, l.mrkdwn()))
			}
		}
		if size += len([]rune(strings.Join(lines, "\n"))); size > 6000 || i == 20 {
			s.small(fmt.Sprintf("showing %d of %d; each card's thread has its record", i, len(runs)))
			break
		}
		s.lines(lines...)
	}
	return s.message(name(string(in.ID)) + ", summary:")
}
