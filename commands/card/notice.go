package card

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/state"
)

// Notice draws what is said in the thread when something happened; false
// means that the card says enough.
func Notice(f Facts, kind string) (Message, bool) {
	s := f.sheet()
	switch kind {
	case "overridden", "reviewed", "review-open":
		text := reviewNotice(f)
		if kind == "overridden" {
			text = overrideNotice(f)
		}
		s.lines(text)
		m := s.message(f.place() + ":")
		m.Aloud = kind != "reviewed"
		return m, text != ""
	case "vote-void":
		text := lastVoid(f)
		s.lines(text)
		return s.message(f.place() + ":"), text != ""
	case "ticketed", "ticket-trouble":
		text := filed(f.Filings)
		if kind == "ticket-trouble" {
			text = untaken(f.Filings)
		}
		s.lines(text)
		return s.message(f.place() + ":"), text != ""
	}
	if f.Run.Pause != nil {
		if kind == "closed" {
			return pauseRecord(f), true
		}
		text := pauseNotice(f, kind)
		s.lines(text)
		return s.message(f.place() + ":"), text != ""
	}
	text := ""
	switch kind {
	case "decided":
		text = fmt.Sprintf("%s chose: %s. Reason: “%s”", name(f.Run.Decision.By.Name), verb(f.Run.Book), say(f.Run.Decision.Reason, longPhrase))
	case "accepted":
		text = accepted(f)
	case "approved":
		text = voted(f, true)
	case "declined":
		text = voted(f, false)
	case "failed":
		plan, _ := book.PlanIn(f.Run)
		if f.Run.Failure == nil || declined(f, plan) {
			return Message{}, false
		}
		text = paragraphs(f.Run.Failure.Say, 1500)
	case "replanned":
		text = lastReplan(f)
	case "merged":
		plan, _ := book.PlanIn(f.Run)
		pr, _ := book.PRIn(f.Run)
		m, ok := book.MergedIn(f.Run)
		if !ok {
			return Message{}, false
		}
		text = fmt.Sprintf("%s is merged as %s%s.", link(pr.URL, fmt.Sprintf("#%d", pr.Number)), f.Links.commit(plan.Repo, m.SHA), by(m.By))
	case "left":
		text = "Left as it is" + by(f.By) + ". The target is free to be looked at again."
	case "closed":
		return Record(f), true
	}
	if text == "" {
		return Message{}, false
	}
	s.lines(text)
	return s.message(f.place() + ":"), true
}

// accepted tells who let something elsewhere be undone.
func accepted(f Facts) string {
	n := len(f.Run.Accepted)
	if n == 0 {
		return ""
	}
	a := f.Run.Accepted[n-1]
	where := a.Target
	if t, err := drift.ParseTarget(where); err == nil {
		where = t.Name + " in " + t.Cluster
	}
	return fmt.Sprintf("%s accepted that what was changed by hand in %s is undone by this merge.", name(a.By.Name), name(where))
}

// voted tells of the last vote of that kind.
func voted(f Facts, yes bool) string {
	plan, _ := book.PlanIn(f.Run)
	var last *state.Vote
	n := 0
	for i, v := range f.Run.Votes {
		if v.Yes != yes || v.Override {
			continue
		}
		last = &f.Run.Votes[i]
		if v.Void == "" && v.Digest == plan.Digest {
			n++
		}
	}
	switch {
	case last == nil:
		return ""
	case !yes:
		return name(last.By.Name) + " declined the plan: “" + say(cmp.Or(last.Reason, "no reason given"), longPhrase) + "”"
	case last.Void != "":
		return name(last.By.Name) + " approved a plan that has changed since: the vote is void."
	}
	return fmt.Sprintf("%s approved exactly this plan (%s), %d of %d.", name(last.By.Name), code(short(last.Digest), longName), n, plan.Needs.Approvals)
}

// lastVoid tells whose yes counts no more, of those that were taken back last.
func lastVoid(f Facts) string {
	var at time.Time
	var said []string
	for _, v := range f.Run.Votes {
		switch {
		case v.Void == "" || v.VoidAt.IsZero() || v.VoidAt.Before(at):
			continue
		case v.VoidAt.After(at):
			at, said = v.VoidAt, nil
		}
		said = append(said, voided(v))
	}
	if len(said) == 0 {
		return ""
	}
	return strings.Join(append(said, "Nothing goes on until there are enough approvals again."), "\n")
}

func lastReplan(f Facts) string {
	for i := len(f.Run.Past) - 1; i >= 0; i-- {
		if f.Run.Past[i].Failure == nil {
			return "The plan changed: " + say(f.Run.Past[i].Why, longPhrase) + ". Votes given before are void; the card above has the new plan."
		}
	}
	return ""
}
