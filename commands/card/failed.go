package card

import (
	"fmt"
	"strings"

	"github.com/slack-go/slack"

	"reconcilebot/runbook/book"
	"reconcilebot/state"
)

// failed is the card of a way that did not work: what happened, what state
// things are in now, and what can be done.
func failed(f Facts) Message {
	fail := f.Run.Failure
	plan, planned := book.PlanIn(f.Run)
	s := f.sheet()
	head := failedHead(f, plan, planned)
	s.title(append(f.where(), head)...)
	s.lines(paragraphs(fail.Say, 1500))
	s.lines(standing(f, plan))
	s.lines(overriding(f)...)
	if planned {
		s.lines(dealtWith(f.Run.Book, plan)...)
	}
	who := ""
	if f.Run.Decided() {
		who = verb(f.Run.Book) + " · " + reason(f.Run.Decision)
	}
	s.small(fmt.Sprintf("%s · at the step “%s”, %s", name(string(f.Run.Incident)), stepName(fail.Step), when(fail.At, f.Now)), who)
	target := f.target().Name + " in " + f.target().Cluster
	carried := f.value(plan.Digest)
	var list []button
	if retryable(f, plan, planned) {
		list = append(list, button{action: ActionRetry, text: "Try again", value: carried, style: slack.StylePrimary, label: "Try the failed step again: " + target})
	}
	list = append(list,
		button{action: ActionAgain, text: "Start over", value: carried, label: "Start over: " + target},
		button{action: ActionLeave, text: "Leave it", value: carried, label: "Leave " + target + " as it is now"},
	)
	s.buttons(append(list, review(f)...)...)
	text, _, _ := strings.Cut(say(fail.Say, longPhrase), "\n")
	return s.message(f.place() + ": " + head + ". " + text)
}

// failedHead is the end in two words: being declined is no fault.
func failedHead(f Facts, plan book.Plan, planned bool) string {
	switch {
	case declined(f, plan):
		return "declined"
	case expired(f, plan, planned):
		return "expired"
	case f.Run.Failure.Step == "plan":
		return "not proposed"
	}
	return "stopped"
}

func declined(f Facts, plan book.Plan) bool {
	for _, v := range f.Run.Standing(plan.Digest) {
		if !v.Yes {
			return true
		}
	}
	return false
}

func expired(f Facts, plan book.Plan, planned bool) bool {
	return planned && f.Run.Failure.Step == "approve" && !book.ExpiryIn(f.Run).After(f.Run.Failure.At)
}

// retryable tells whether the same step may end otherwise the next time. A
// plan that was declined or that expired has to be made anew.
func retryable(f Facts, plan book.Plan, planned bool) bool {
	return !declined(f, plan) && !expired(f, plan, planned)
}

// standing says what the failure leaves behind.
func standing(f Facts, plan book.Plan) string {
	has := "the cluster keeps the change"
	switch f.Run.Book {
	case book.Rollback:
		has = "the cluster keeps what was to be rolled back"
	case book.Change:
		has = "the cluster has nothing of it"
	}
	if m, ok := book.MergedIn(f.Run); ok {
		return fact("As it stands", "Git has the change, merged as "+f.Links.commit(plan.Repo, m.SHA)+"; the cluster is not shown to match yet")
	}
	if pr, ok := book.PRIn(f.Run); ok {
		return fact("As it stands", "pull request "+link(pr.URL, fmt.Sprintf("#%d", pr.Number))+" is not merged from here; "+has)
	}
	if p, ok := book.PushedIn(f.Run); ok {
		return fact("As it stands", "branch "+code(p.Branch, longName)+" is pushed; nothing is merged; "+has)
	}
	if _, ok := book.SyncedIn(f.Run); ok {
		return fact("As it stands", "the sync was asked for; the cluster is not shown to match Git yet")
	}
	if strings.Contains(f.Run.Failure.Say, "Nothing was changed") {
		return ""
	}
	return fact("As it stands", "nothing was changed, in Git or in the cluster")
}

func stepName(id state.StepID) string {
	for _, st := range stages() {
		if st.step == id {
			return st.todo
		}
	}
	return name(string(id))
}
