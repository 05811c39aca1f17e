package card

import (
	"fmt"
	"strings"

	"github.com/slack-go/slack"

	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// approval is the card that asks for a yes: what will change, what shows that
// nothing else will, why, and whose yes counts.
func approval(f Facts) Message {
	plan, _ := book.PlanIn(f.Run)
	standing := f.Run.Standing(plan.Digest)
	missing := max(plan.Needs.Approvals-len(standing), 0)
	s := f.sheet()
	s.title(append([]string{verb(f.Run.Book)}, f.where()...)...)
	s.lines("*Waiting for "+count(missing, "approval")+"*"+given(standing), replanned(f, plan), lost(f, plan), f.waiting())
	s.lines(dealtWith(f.Run.Book, plan)...)
	edits(s, plan)
	s.lines(actions(plan), proof(f.Run.Book, plan), fact("Reason", reason(f.Run.Decision)+alsoMade(f, plan)))
	s.lines(fact("Needs", needs(plan)), hostNeeds(plan), fact("Expires", when(book.ExpiryIn(f.Run), f.Now)+", with nothing changed"))
	s.small(fmt.Sprintf("%s · plan %s · made %s", name(string(f.Run.Incident)), code(short(plan.Digest), longName), clock(plan.Made, f.Now)))
	s.buttons(ballot(f, plan)...)
	return s.message(fmt.Sprintf("%s: %s (%s) waits for %s by %s.", verb(f.Run.Book), f.place(), one(plan.Seen.Drift.Changes), count(missing, "approval"), either(names(plan.Needs.From))))
}

func given(votes []state.Vote) string {
	var by []string
	for _, v := range votes {
		if v.Yes {
			by = append(by, name(v.By.Name))
		}
	}
	if len(by) == 0 {
		return ""
	}
	return " · approved by " + both(by)
}

// replanned says that votes were given for another plan, and what moved.
func replanned(f Facts, plan book.Plan) string {
	n := len(f.Run.Past)
	if n == 0 || f.Run.Past[n-1].Book != f.Run.Book || f.Run.Past[n-1].Failure != nil {
		return ""
	}
	why := f.Run.Past[n-1].Why
	var by []string
	for _, v := range f.Run.Votes {
		if v.Void == why && v.Digest != plan.Digest {
			by = append(by, name(v.By.Name))
		}
	}
	if len(by) == 0 {
		return "The plan changed: " + say(why, longPhrase) + "."
	}
	return fmt.Sprintf("The plan changed since %s voted: %s. Votes given before are void.", both(by), say(why, longPhrase))
}

// dealtWith lists what a plan does with each change, and what it leaves.
func dealtWith(b state.BookName, plan book.Plan) (lines []string) {
	d := plan.Seen.Drift
	if len(plan.Do) == 0 {
		return append(commitUndone(plan), changed(b, d)...)
	}
	for _, part := range []struct {
		book    state.BookName
		changes []drift.Change
	}{{book.Adopt, plan.Adopts()}, {book.Revert, plan.Reverts()}} {
		d.Changes = part.changes
		some := changed(part.book, d)
		if len(some) > 0 && part.book == book.Adopt {
			some[0] = strings.Replace(some[0], "*Change*", "*Adopts*", 1)
		}
		lines = append(lines, some...)
	}
	return append(lines, stays(plan))
}

// commitUndone names the commit that a rollback undoes.
func commitUndone(plan book.Plan) []string {
	if plan.Of == nil {
		return nil
	}
	return []string{fact("Undoes", fmt.Sprintf("commit %s “%s” by %s", code(short(plan.Of.SHA), longName), say(plan.Of.Subject, longName), name(plan.Of.AuthorName)))}
}

// stays says what a plan does not deal with.
func stays(plan book.Plan) string {
	if len(plan.Open) == 0 {
		return ""
	}
	var list []string
	for i, c := range plan.Open {
		if i == maxChanges {
			list = append(list, fmt.Sprintf("and %d more", len(plan.Open)-maxChanges))
			break
		}
		list = append(list, object(c.Object)+"  "+differs(c))
	}
	return fact("Stays as it is", strings.Join(list, "\n"))
}

// changed lists the changes, each with its object. What a revert undoes is
// called that: as a "change", 3 → 6 would read as what the yes brings about.
func changed(b state.BookName, d drift.Drift) (lines []string) {
	for _, g := range grouped(d.Changes) {
		for _, c := range g.changes {
			lines = append(lines, object(c.Object)+"  "+differs(c))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	key := "Change"
	switch b {
	case book.Revert:
		key = "Undoes"
	case book.Change:
		key = "Wanted"
	case book.Rollback:
		key = "Puts back"
	}
	lines[0] = fact(key, lines[0])
	if n := len(lines); n > maxChanges {
		lines = append(lines[:maxChanges], link(d.URL, fmt.Sprintf("showing %d of %d, the riskiest first", maxChanges, n)))
	}
	return lines
}

// Bounds on the diff in a card; the pull request has all of it.
const (
	maxEdits     = 5
	maxDiffLines = 40
)

// edits shows each edit as the lines that go and the lines that come.
func edits(s *sheet, plan book.Plan) {
	if len(plan.Edits) == 0 {
		return
	}
	var where, diff []string
	for i, e := range plan.Edits {
		if i == maxEdits {
			where = append(where, fmt.Sprintf("showing %d of %d files", maxEdits, len(plan.Edits)))
			break
		}
		where = append(where, link(urlOf(plan, e), code(fmt.Sprintf("%s:%d", e.File, e.Line), longValue)))
		if len(plan.Edits) > 1 {
			diff = append(diff, e.File)
		}
		diff = append(diff, marked("-", e.Before)...)
		diff = append(diff, marked("+", e.After)...)
	}
	if n := len(diff); n > maxDiffLines {
		diff = append(diff[:maxDiffLines], fmt.Sprintf("showing %d of %d lines; Full diff has all", maxDiffLines, n))
	}
	s.lines(fact("Edit", strings.Join(where, "\n")))
	s.literal(strings.Join(diff, "\n"))
}

// urlOf is the address of the line that an edit changes, as the look found it.
func urlOf(plan book.Plan, e manifest.Edit) string {
	for _, p := range plan.Seen.Places {
		if p.File == e.File && p.Line == e.Line {
			return p.URL
		}
	}
	return ""
}

func marked(mark, text string) (lines []string) {
	for line := range strings.Lines(text) {
		lines = append(lines, mark+cut(strings.TrimRight(line, "\r\n"), 200))
	}
	return lines
}

func actions(plan book.Plan) string {
	var lines []string
	for _, a := range plan.Actions {
		lines = append(lines, say(a.Text, longPhrase))
	}
	return fact("Action", strings.Join(lines, "\n"))
}

// proof says what rendering showed.
func proof(b state.BookName, plan book.Plan) string {
	if len(plan.Edits) == 0 {
		return ""
	}
	return fact("Proof", "after the merge: "+proven(plan.Proof)) + tried(plan)
}

// tried says what the API server makes of it.
func tried(plan book.Plan) string {
	if plan.Tried == "" {
		return ""
	}
	return "\n" + fact("API server", say(plan.Tried, longPhrase))
}

func proven(p manifest.Proof) string {
	text := count(p.Target.Differences, "difference") + " here; " + others(p.Consumers)
	if len(p.Consumers.Unbuildable) > 0 {
		var list []string
		for _, u := range p.Consumers.Unbuildable {
			list = append(list, name(u.Name))
		}
		text += "; not provable: " + both(first(list, 3))
	}
	return text
}

func others(c manifest.Consumers) string {
	if len(c.Changed) > 0 {
		return count(len(c.Changed), "other render") + " changed: " + both(first(names(c.Changed), 3))
	}
	if c.Checked == 0 {
		return "nothing else renders from these files"
	}
	return count(c.Checked, "other render") + " unchanged"
}

func first(list []string, n int) []string {
	if len(list) <= n {
		return list
	}
	return append(append([]string{}, list[:n]...), fmt.Sprintf("%d more", len(list)-n))
}

// alsoMade says that who asked is who made the change.
func alsoMade(f Facts, plan book.Plan) string {
	for _, c := range plan.Seen.Drift.Changes {
		if f.Run.Decision.By.Writes(c.Evidence.Person) {
			return ", who also made the change"
		}
	}
	return ""
}

func names(list []string) []string {
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = name(n)
	}
	return out
}

// ballot is the buttons to vote with. When nobody knows who made the change,
// yes is given with the word that it was not the voter.
func ballot(f Facts, plan book.Plan) []button {
	target := f.target().Name + " in " + f.target().Cluster
	yes := button{
		action: ActionApprove, text: "Approve", value: f.value(plan.Digest), style: slack.StylePrimary,
		label: fmt.Sprintf("Approve: %s, %s", verb(f.Run.Book), target),
	}
	if plan.Needs.Disown {
		yes.value = Carry(f.Run.ID, plan.Digest, FlagNotMine)
		yes.confirm = confirm("Was this change yours?", "Nobody knows who made this change, so two people have to approve it. By approving you say that you did not make it.", "I did not make it", "Cancel")
	}
	list := []button{yes, {
		action: ActionDecline, text: "Decline", value: f.value(plan.Digest),
		label: fmt.Sprintf("Decline: %s, %s", verb(f.Run.Book), target),
	}}
	if len(plan.Edits) > 0 {
		list = append(list, button{action: ActionDiff, text: "Full diff", value: Carry(f.Run.ID, plan.Digest, "0"), label: "Full diff of the plan for " + target})
	}
	return append(list, overrideButton(f, plan, target)...)
}
