package card

import (
	"strings"

	"reconcilebot/runbook/book"
)

// needs says whose yes counts here.
func needs(plan book.Plan) string {
	n := plan.Needs
	text := count(n.Approvals, "approval") + " here by " + either(names(n.From))
	var not []string
	for _, e := range n.Excluded {
		not = append(not, name(e.Name)+", who "+name(e.Why))
	}
	if len(not) > 0 {
		text += " (not " + strings.Join(not, "; not ") + ")"
	}
	if n.Disown {
		text += "\nNobody knows who made this change: each approver confirms that they did not."
	}
	return text
}

// hostNeeds says what the Git host asks for besides.
func hostNeeds(plan book.Plan) string {
	r := plan.Needs.Rules
	if len(plan.Edits) == 0 {
		return ""
	}
	var parts []string
	if r.Reviews > 0 || r.CodeOwnerReviews {
		parts = append(parts, reviews(plan.Needs))
	}
	if len(r.Checks) > 0 {
		parts = append(parts, "checks: "+strings.Join(names(r.Checks), ", "))
	}
	for _, also := range []struct {
		asked bool
		text  string
	}{
		{r.Strict, "the branch up to date with " + name(plan.Branch)},
		{r.Threads, "all conversations resolved"},
		{len(r.Deployments) > 0, "deployed to " + strings.Join(names(r.Deployments), ", ")},
		{r.Signed, "signed commits, which they are"},
		{r.Queue, "the merge queue"},
		{r.Restricted && len(r.Pushers) > 0, "merged by " + either(names(r.Pushers))},
		{r.Restricted && len(r.Pushers) == 0, "merged by somebody whom the ruleset exempts"},
		{len(r.Unknown) > 0, "rules that reconcilebot does not know: " + strings.Join(names(r.Unknown), ", ")},
	} {
		if also.asked {
			parts = append(parts, also.text)
		}
	}
	switch {
	case !r.Readable && r.Why != "":
		parts = append(parts, "its rules can't be read ("+say(r.Why, longName)+"), so it may ask for more")
	case len(parts) == 0:
		parts = append(parts, "nothing more")
	}
	return "in GitHub: " + strings.Join(parts, "; ")
}

// reviews says how many are needed and whose. Where files have different
// owners, one of each has to agree.
func reviews(n book.Needs) string {
	text := count(max(n.Rules.Reviews, 1), "review")
	sets := n.OwnerSets
	if len(sets) == 0 && len(n.Owners) > 0 {
		sets = [][]string{n.Owners}
	}
	var owners []string
	for _, set := range sets {
		owners = append(owners, either(names(set)))
	}
	if len(owners) > 0 {
		text += " by code owner " + strings.Join(owners, ", and by ")
	}
	if n.Rules.LastPush {
		text += ", not by who pushed last"
	}
	return text
}
