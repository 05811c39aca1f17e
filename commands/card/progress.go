package card

import (
	"fmt"
	"slices"
	"strings"

	"reconcilebot/runbook"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/state"
)

// stage is a step as people follow it. Steps that are over before anybody
// could read about them have none.
type stage struct {
	step state.StepID
	// todo names it while it is still to come, done once it is over.
	todo, done string
	// left says what it left behind.
	left func(f Facts, plan book.Plan) string
}

// stages are those of all books; a book's own steps choose among them.
func stages() []stage {
	return []stage{
		{"recheck", "look again", "looked again", leftRecheck},
		{"push", "branch", "branch pushed", leftPush},
		{"render", "Argo CD's own render", "rendered by Argo CD", leftRender},
		{"pull-request", "pull request", "pull request opened", leftPR},
		{"merge", "merge", "merged", leftMerge},
		{"refresh", "refresh", "refreshed", nil},
		{"sync", "sync", "synced", leftSync},
		{"verify", "verify", "verified", leftVerify},
		{"settle", "check that it stays so", "checked again: no difference", nil},
		{"record", "record", "recorded", nil},
	}
}

// progress is the card of a plan that is being carried out.
func progress(f Facts) Message {
	plan, _ := book.PlanIn(f.Run)
	s := f.sheet()
	doing := doing(f.Run.Book)
	s.title(append(f.where(), doing)...)
	lines, done, all, now := steps(f, plan)
	s.lines(append([]string{fmt.Sprintf("*%d of %d done*", done, all)}, lines...)...)
	s.lines(dealtWith(f.Run.Book, plan)...)
	s.lines(asked(f)...)
	s.lines(overriding(f)...)
	s.small(approvedBy(f, plan), fmt.Sprintf("%s · %s", name(string(f.Run.Incident)), reason(f.Run.Decision)))
	s.buttons(append(acceptances(f), review(f)...)...)
	return s.message(fmt.Sprintf("%s: %s, %d of %d done. Now: %s.", f.place(), doing, done, all, now))
}

// doing is a book under way, in a word.
func doing(b state.BookName) string {
	switch b {
	case book.Revert:
		return "reverting"
	case book.Change:
		return "changing"
	case book.Mixed:
		return "adopting and reverting"
	case book.Rollback:
		return "rolling back"
	}
	return "adopting"
}

// maxAsks is how many effects on others a card asks about at once.
const maxAsks = 5

// asked lists what going on would do to others.
func asked(f Facts) (lines []string) {
	if f.Run.Wait == nil {
		return nil
	}
	for i, a := range f.Run.Wait.Asks {
		if i == maxAsks {
			return append(lines, fmt.Sprintf("showing %d of %d", maxAsks, len(f.Run.Wait.Asks)))
		}
		lines = append(lines, "• "+say(a.Text, longPhrase))
	}
	if len(lines) > 0 {
		lines[0] = fact("Would undo elsewhere", "\n"+lines[0])
	}
	return lines
}

// acceptances are the buttons that agree to that, each by the target's name.
func acceptances(f Facts) (list []button) {
	if f.Run.Wait == nil {
		return nil
	}
	for i, a := range f.Run.Wait.Asks {
		t, err := drift.ParseTarget(a.Target)
		if i == maxAsks || err != nil {
			break
		}
		list = append(list, button{
			action: ActionAccept + "/" + fmt.Sprint(i), text: cut("Accept: "+visible(t.Name), 30), value: Carry(f.Run.ID, a.Digest, a.Target),
			label:   "Accept that changes made by hand in " + t.Name + " are undone",
			confirm: confirm("Let this be undone?", a.Text+". Who is at work there should know.", "Accept", "Cancel"),
		})
	}
	return list
}

// steps draws what is done, what is under way, and what comes.
func steps(f Facts, plan book.Plan) (lines []string, done, all int, now string) {
	var todo []string
	for _, st := range stages() {
		if !slices.Contains(f.Steps, st.step) {
			continue
		}
		all++
		switch {
		case f.Run.Done(st.step):
			done++
			lines = append(lines, "✓ "+st.done+leftBy(st, f, plan))
		case now == "":
			now = st.todo + waitingFor(f, st.step)
			lines = append(lines, "▸ *"+st.todo+"*"+waitingFor(f, st.step))
		default:
			todo = append(todo, st.todo)
		}
	}
	if len(todo) > 0 {
		lines = append(lines, "then: "+strings.Join(todo, " · "))
	}
	return lines, done, all, now
}

func leftBy(st stage, f Facts, plan book.Plan) string {
	if st.left == nil {
		return ""
	}
	if text := st.left(f, plan); text != "" {
		return "  " + text
	}
	return ""
}

func waitingFor(f Facts, id state.StepID) string {
	w := f.Run.Wait
	if w == nil || w.Step != id || w.Why == "" {
		return ""
	}
	if w.For == runbook.ForOutage {
		return fmt.Sprintf("  on hold since %s: %s", clock(w.Since, f.Now), say(w.Why, longPhrase))
	}
	return fmt.Sprintf("  %s (since %s)", say(w.Why, longPhrase), clock(w.Since, f.Now))
}

func leftRecheck(f Facts, _ book.Plan) string {
	checked := runbook.Result[book.Checked]{Step: "recheck"}
	if c, ok := checked.If(f.Run); ok && c.Rebased {
		return "Git moved on without touching this; proven again"
	}
	return "nothing moved since the approval"
}

func leftPush(f Facts, plan book.Plan) string {
	p, _ := book.PushedIn(f.Run)
	return code(p.Branch, longName) + " " + f.Links.commit(plan.Repo, p.SHA)
}

func leftRender(f Facts, _ book.Plan) string {
	r, _ := book.RenderedIn(f.Run)
	return count(r.Objects, "object") + ", only the planned change"
}

func leftPR(f Facts, _ book.Plan) string {
	pr, _ := book.PRIn(f.Run)
	return link(pr.URL, fmt.Sprintf("#%d", pr.Number))
}

func leftMerge(f Facts, plan book.Plan) string {
	m, _ := book.MergedIn(f.Run)
	return "as " + f.Links.commit(plan.Repo, m.SHA) + by(m.By)
}

func by(who string) string {
	if who == "" {
		return ""
	}
	return " by " + name(who)
}

func leftSync(f Facts, _ book.Plan) string {
	if s, ok := book.SyncedIn(f.Run); ok && !s.Needed {
		return "not needed: the cluster had it already"
	}
	return ""
}

func leftVerify(f Facts, _ book.Plan) string {
	v, _ := book.VerifiedIn(f.Run)
	return name(strings.Trim(v.Sync+", "+v.Health, ", "))
}

// approvedBy names the votes that let this go on.
func approvedBy(f Facts, plan book.Plan) string {
	a, ok := book.ApprovalIn(f.Run)
	if !ok {
		return ""
	}
	var by []string
	for _, v := range a.Votes {
		if v.Yes && !v.Override {
			by = append(by, name(v.By.Name)+", "+clock(v.At, f.Now))
		}
	}
	if len(by) == 0 {
		return "Approved by nobody else (" + code(short(plan.Digest), longName) + ")"
	}
	return "Approved by " + both(by) + ", for exactly this plan (" + code(short(plan.Digest), longName) + ")"
}
