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
		text := count(max(r.Reviews, 1), "review")
		if len(plan.Needs.Owners) > 0 {
			text += " by code owner " + either(names(plan.Needs.Owners))
		}
		parts = append(parts, text)
	}
	if len(r.Checks) > 0 {
		parts = append(parts, "checks: "+strings.Join(names(r.Checks), ", "))
	}
	switch {
	case !r.Readable && r.Why != "":
		parts = append(parts, "its rules can't be read ("+say(r.Why, longName)+"), so it may ask for more")
	case len(parts) == 0:
		parts = append(parts, "nothing more")
	}
	return "in GitHub: " + strings.Join(parts, "; ")
}
