package card

import (
	"fmt"
	"time"

	"reconcilebot/runbook"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/forge"
	"reconcilebot/state"
)

// Facts is all that a reconciliation's card is drawn from.
type Facts struct {
	Run state.Reconciliation
	Now time.Time
	// Steps are the steps of its book, in their order.
	Steps []state.StepID
	Links Links
	// By is who left it: for the notice of that, which the record has no place
	// for.
	By string
	// Beside are the other targets on the same branch that have open drift, as
	// far as it is known.
	Beside []Beside
	// Filings are where the record stands on tickets.
	Filings []state.Filing
	// Overridable tells whether the policy lets anybody go on without the
	// approval.
	Overridable bool
}

// Links makes addresses for people; a nil one, or one that answers "", makes
// no link.
type Links struct {
	Commit func(repo forge.Repo, sha string) string
	Audit  func(auditID string) string
}

// audit is what leads to a request in the audit log.
func (l Links) audit(id, label string) string {
	return link(l.request(id), label)
}

func (l Links) request(auditID string) string {
	if l.Audit == nil || auditID == "" {
		return ""
	}
	return l.Audit(auditID)
}

func (l Links) address(repo forge.Repo, sha string) string {
	if l.Commit == nil || sha == "" {
		return ""
	}
	return l.Commit(repo, sha)
}

// commit is a commit's short name, leading to it.
func (l Links) commit(repo forge.Repo, sha string) string {
	return link(l.address(repo, sha), code(short(sha), longName))
}

// Reconciliation draws the one card that a reconciliation has in its channel,
// as its record stands.
func Reconciliation(f Facts) Message {
	if f.Run.Pause != nil {
		return paused(f)
	}
	seen, looked := book.SeenIn(f.Run)
	_, planned := book.PlanIn(f.Run)
	_, approved := book.ApprovalIn(f.Run)
	switch {
	case f.Run.IsClosed():
		return drawRecord(f, afterwards(f))
	case f.Run.Failure != nil:
		return failed(f)
	case f.Run.Decided() && approved:
		return progress(f)
	case f.Run.Decided() && planned:
		return approval(f)
	case f.Run.Decided():
		return planning(f)
	case !looked:
		return looking(f)
	case seen.Drift.Refused != "":
		return unjudged(f, seen)
	case len(seen.Drift.Changes) == 0:
		return noDrift(f, seen)
	}
	return found(f, seen)
}

// target is the record's target; the name alone if it can't be read.
func (f Facts) target() drift.Target {
	t, err := drift.ParseTarget(f.Run.Target)
	if err != nil {
		return drift.Target{Name: f.Run.Target}
	}
	return t
}

// where is the target's name with its cluster, for headlines.
func (f Facts) where() []string {
	t := f.target()
	if t.Cluster == "" {
		return []string{t.Name}
	}
	return []string{t.Name, t.Cluster}
}

// place is the same within a sentence.
func (f Facts) place() string {
	t := f.target()
	if t.Cluster == "" {
		return name(t.Name)
	}
	return name(t.Name) + " in " + name(t.Cluster)
}

// sheet begins a drawing of this revision of the card.
func (f Facts) sheet() *sheet {
	return &sheet{unique: fmt.Sprintf("%s/%d", f.Run.ID, f.Run.Rev)}
}

// value is what a button carries: whose it is, and what was shown.
func (f Facts) value(digest string) string { return Carry(f.Run.ID, digest) }

// waiting is what the reconciliation waits for, when it is a system or a
// machine; people are named where they are asked.
func (f Facts) waiting() string {
	w := f.Run.Wait
	if w == nil || w.For == runbook.ForPeople {
		return ""
	}
	if w.For == runbook.ForOutage {
		return fmt.Sprintf("*On hold since %s*  %s.", clock(w.Since, f.Now), say(w.Why, longPhrase))
	}
	return fmt.Sprintf("%s (since %s)", say(w.Why, longPhrase), clock(w.Since, f.Now))
}

// looking is the card until the first look is done.
func looking(f Facts) Message {
	s := f.sheet()
	s.title(f.where()...)
	s.lines("Looking at what differs from Git.", f.waiting())
	s.small(fmt.Sprintf("%s · asked by %s, %s", name(string(f.Run.Incident)), name(f.Run.OpenedBy.Name), clock(f.Run.Opened, f.Now)))
	return s.message("Looking at " + f.place() + ".")
}

// planning is the card between a decision and its plan.
func planning(f Facts) Message {
	s := f.sheet()
	s.title(append([]string{verb(f.Run.Book)}, f.where()...)...)
	s.lines(
		planningText(f.Run.Book),
		f.waiting(),
		fact("Reason", reason(f.Run.Decision)),
	)
	s.small(name(string(f.Run.Incident)))
	return s.message(verb(f.Run.Book) + ": making the plan for " + f.place() + ".")
}

func planningText(b state.BookName) string {
	if b == book.Revert {
		return "Making the plan: which objects to sync, and whose approval it needs."
	}
	return "Making the plan: finding the lines in Git, proving the edit, and whose approval it needs."
}

// verb is a book's name as people choose it.
func verb(b state.BookName) string {
	switch b {
	case book.Adopt:
		return "Adopt into Git"
	case book.Revert:
		return "Revert cluster"
	case book.Change:
		return "Change through Git"
	case book.Mixed:
		return "Adopt and revert"
	case book.Rollback:
		return "Roll back"
	}
	return "Look"
}

// reason quotes why somebody decided.
func reason(d state.Decision) string {
	if d.Reason == "" {
		return "none given — " + name(d.By.Name)
	}
	return fmt.Sprintf("“%s” — %s", say(d.Reason, longPhrase), name(d.By.Name))
}
