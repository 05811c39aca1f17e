package card

import (
	"fmt"

	"github.com/slack-go/slack"

	"reconcilebot/runbook/book"
	"reconcilebot/state"
)

// overrides are the votes that went on without the others.
func overrides(votes []state.Vote) (list []state.Vote) {
	for _, v := range votes {
		if v.Override {
			list = append(list, v)
		}
	}
	return list
}

// overrider is who overrode last; nobody if nobody did.
func (f Facts) overrider() state.Vote {
	list := overrides(f.Run.Votes)
	if len(list) == 0 {
		return state.Vote{}
	}
	return list[len(list)-1]
}

// withoutApproval says who let it go on, and why.
func withoutApproval(f Facts, v state.Vote) string {
	return fmt.Sprintf("%s, %s: “%s”", name(v.By.Name), clock(v.At, f.Now), say(v.Reason, longPhrase))
}

// lost says whose yes counts no more though the plan is the same, and why.
func lost(f Facts, plan book.Plan) string {
	last := ""
	for _, v := range f.Run.Votes {
		if v.Void != "" && !v.VoidAt.IsZero() && v.Digest == plan.Digest {
			last = voided(v)
		}
	}
	return last
}

func voided(v state.Vote) string {
	what := "approval"
	if v.Override {
		what = "override"
	}
	return fmt.Sprintf("*The %s by %s does not count any more*: %s %s.", what, name(v.By.Name), name(v.By.Name), say(v.Void, longPhrase))
}

// overriding says on a card that it went on without the approval, and how it
// stands with the review.
func overriding(f Facts) []string {
	v := f.overrider()
	if f.Run.Review == nil || v.By.Name == "" {
		return nil
	}
	return []string{fact("Override", "without the approval that is asked for, by "+withoutApproval(f, v)), fact("Review", reviewing(f))}
}

// reviewing is how the review stands.
func reviewing(f Facts) string {
	r := f.Run.Review
	if r.Open() {
		return fmt.Sprintf("open since %s: somebody other than %s who may approve has to look at it", clock(r.Since, f.Now), name(f.overrider().By.Name))
	}
	return fmt.Sprintf("%s, %s: “%s”", name(r.By.Name), clock(r.Done, f.Now), say(r.Finding, longPhrase))
}

// review is the button that closes the review.
func review(f Facts) []button {
	if !f.Run.Review.Open() {
		return nil
	}
	t := f.target()
	plan, _ := book.PlanIn(f.Run)
	return []button{{action: ActionReview, text: "Review the override", value: f.value(plan.Digest), label: "Review the override: " + t.Name + " in " + t.Cluster}}
}

// overrideButton goes on without the approval, where the policy knows that.
func overrideButton(f Facts, plan book.Plan, target string) []button {
	if !f.Overridable {
		return nil
	}
	return []button{{action: ActionOverride, text: "Override", value: f.value(plan.Digest), style: slack.StyleDanger, label: "Override the approval: " + target}}
}

// overrideNotice tells the channel of the last override.
func overrideNotice(f Facts) string {
	v := f.overrider()
	plan, _ := book.PlanIn(f.Run)
	if v.By.Name == "" {
		return ""
	}
	return fmt.Sprintf("*Override*: %s goes on without the approval that is asked for (%s by %s), for exactly this plan (%s).\nReason: “%s”\nA review stays open until somebody other than %s who may approve has done it.",
		name(v.By.Name), count(plan.Needs.Approvals, "approval"), either(names(plan.Needs.From)), code(short(v.Digest), longName), say(v.Reason, longPhrase), name(v.By.Name))
}

// reviewNotice tells of the review: that it is done, or that it is not.
func reviewNotice(f Facts) string {
	switch {
	case f.Run.Review == nil:
		return ""
	case f.Run.Review.Open():
		return "The override is not reviewed yet: " + reviewing(f) + "."
	}
	return "The override is reviewed by " + reviewing(f)
}

// unreviewed lists the overrides of an incident that nobody has reviewed.
func unreviewed(runs []state.Reconciliation, f Facts) string {
	var list []string
	for _, r := range runs {
		if r.Review.Open() {
			one := f
			one.Run = r
			list = append(list, "• "+one.place()+": "+reviewing(one))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return fact("Reviews to be done", count(len(list), "override")) + "\n" + paragraph(first(list, maxRows))
}
