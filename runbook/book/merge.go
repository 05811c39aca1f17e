package book

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"reconcilebot/runbook"
	"reconcilebot/runbook/fault"
	"reconcilebot/runbook/forge"
	"reconcilebot/state"
)

// merge follows the pull request, and merges it once the branch's own rules
// are met. It never goes round them.
type merge struct{ *systems }

func (merge) ID() state.StepID { return merged.Step }

func (s merge) Do(ctx context.Context, r state.Reconciliation) runbook.Outcome {
	plan, err := planned.From(r)
	if err != nil {
		return runbook.Fail(err)
	}
	pr, err := opened.From(r)
	if err != nil {
		return runbook.Fail(err)
	}
	now, err := s.Host.Progress(ctx, plan.Repo, pr.Number)
	if err != nil {
		return s.outcome(r, s.ID(), fmt.Sprintf("follow pull request #%d", pr.Number), err)
	}
	switch now.PR.State {
	case "merged":
		return s.merged(r, now)
	case "closed":
		return runbook.Fail(fault.New(fault.Refused, fmt.Sprintf(
			"Pull request #%d was closed without a merge, so Git stays as it is and the cluster does not match it. Start over and revert the cluster, so that both agree.", pr.Number)))
	}
	if push, err := pushed.From(r); err != nil || now.PR.HeadSHA != push.SHA {
		return runbook.Fail(fault.New(fault.Refused, fmt.Sprintf(
			"Somebody pushed to the branch of pull request #%d: it is not what was approved any more, so it will not be merged from here. Start over, or finish it in GitHub by hand.", pr.Number)))
	}
	if now.PR.Mergeable == "dirty" {
		return s.conflicts(ctx, r, plan, now.PR)
	}
	if why, what := s.awaited(plan, now); why != "" {
		return s.wait(r, what, why)
	}
	asks, err := s.bystanders(ctx, r, plan)
	if err != nil {
		return s.outcome(r, s.ID(), "look at what else follows "+plan.Branch, err)
	}
	if len(asks) > 0 {
		return s.wait(r, runbook.ForPeople, wouldErase(asks)).Asking(asks...)
	}
	if !s.Merge {
		return s.wait(r, runbook.ForPeople, "ready; waiting for somebody to merge it in GitHub")
	}
	// Days may have passed since the branch was pushed.
	if out, stop := s.recount(ctx, r, s.ID(), plan.Digest); stop {
		return out
	}
	if plan.Needs.Rules.Queue {
		return s.wait(r, runbook.ForPeople, "ready; waiting for somebody to add it to the merge queue in GitHub")
	}
	return s.merge(ctx, r, plan, now)
}

// conflicts ends the way of a pull request whose lines were changed on the base
// branch: what was approved can't be merged any more, and an edit on top of
// other people's would be another plan. The branch is left as it is.
func (s merge) conflicts(ctx context.Context, r state.Reconciliation, plan Plan, pr forge.PR) runbook.Outcome {
	said := fmt.Sprintf("%s was changed in the same place after this was planned, so that it conflicts. It is closed here and has to be planned again.", plan.Branch)
	if err := s.Host.ClosePR(ctx, plan.Repo, pr.Number, said); err != nil {
		return s.outcome(r, s.ID(), fmt.Sprintf("close pull request #%d", pr.Number), err)
	}
	return runbook.Fail(fault.New(fault.Refused, fmt.Sprintf(
		"Somebody changed %s in the same place after this was planned: pull request #%d conflicts with it, and was closed. Start over to plan on what is there now; the votes do not carry over.", plan.Branch, pr.Number)))
}

func (s merge) merge(ctx context.Context, r state.Reconciliation, plan Plan, now forge.Progress) runbook.Outcome {
	words, err := s.words(r, plan)
	if err != nil {
		return runbook.Fail(err)
	}
	_, done, why, err := s.Host.Merge(ctx, plan.Repo, now.PR.Number, forge.MergeRequest{
		HeadSHA: now.PR.HeadSHA, Method: s.method(plan.Needs.Rules), Title: words.title(), Message: words.message(),
	})
	switch {
	case err != nil:
		return s.outcome(r, s.ID(), fmt.Sprintf("merge pull request #%d", now.PR.Number), err)
	case !done:
		return s.wait(r, runbook.ForPoll, "GitHub does not merge it yet: "+why)
	}
	// What was merged, and when, is read back: ours need not be the one.
	now, err = s.Host.Progress(ctx, plan.Repo, now.PR.Number)
	if err != nil || now.PR.State != "merged" {
		return runbook.Wait(s.Timing.PollHost, runbook.ForPoll, "merged; waiting for GitHub to say so")
	}
	return s.merged(r, now)
}

func (s merge) merged(r state.Reconciliation, now forge.Progress) runbook.Outcome {
	m := Merged{SHA: now.PR.MergeSHA, By: now.PR.MergedBy, At: now.PR.MergedAt, Checks: now.Checks}
	for _, review := range now.Reviews {
		if strings.EqualFold(review.State, "APPROVED") && !slices.Contains(m.Reviewers, review.User) {
			m.Reviewers = append(m.Reviewers, review.User)
		}
	}
	return merged.Done(m).Saying(state.Said{Notice: "merged", Kind: "merged", Data: m})
}

// method is the configured way to merge if the branch allows it, else the
// branch's own first choice.
func (s merge) method(rules forge.Rules) string {
	if s.MergeMethod != "" && (len(rules.Methods) == 0 || slices.Contains(rules.Methods, s.MergeMethod)) {
		return s.MergeMethod
	}
	if len(rules.Methods) > 0 {
		return rules.Methods[0]
	}
	return "merge"
}

// awaited says what the pull request still lacks, and whether people or
// machines have to give it.
func (s merge) awaited(plan Plan, now forge.Progress) (why, what string) {
	var failed, running []string
	for _, c := range now.Checks {
		switch c.State {
		case "failure":
			failed = append(failed, strings.TrimSpace(c.Name+" "+c.URL))
		case "pending":
			running = append(running, c.Name)
		}
	}
	for _, name := range plan.Needs.Rules.Checks {
		if !slices.ContainsFunc(now.Checks, func(c forge.Check) bool { return c.Name == name }) {
			running = append(running, name)
		}
	}
	switch {
	case len(failed) > 0:
		return "a check failed: " + strings.Join(failed, ", ") + "; it goes on when it passes", runbook.ForPeople
	case len(running) > 0:
		return "waiting for checks: " + strings.Join(running, ", "), runbook.ForPoll
	}
	return s.review(plan, now), runbook.ForPeople
}

// review says whose review is missing; empty when none is.
func (s merge) review(plan Plan, now forge.Progress) string {
	last := map[string]string{}
	for _, review := range now.Reviews {
		if state := strings.ToUpper(review.State); state == "APPROVED" || state == "CHANGES_REQUESTED" || state == "DISMISSED" {
			last[review.User] = state
		}
	}
	yes := 0
	for user, state := range last {
		if state == "CHANGES_REQUESTED" {
			return user + " asked for changes in GitHub"
		}
		if state == "APPROVED" {
			yes++
		}
	}
	from := "a reviewer"
	if len(plan.Needs.Owners) > 0 {
		from = strings.Join(plan.Needs.Owners, " or ")
	}
	if yes < plan.Needs.Rules.Reviews || now.PR.Mergeable == "blocked" && plan.Needs.Rules.CodeOwnerReviews {
		return "waiting for a review in GitHub by " + from
	}
	return ""
}

// deadline is how long a pull request may take to its merge.
func (s *systems) deadline(r state.Reconciliation) time.Duration {
	if expedited(r.Book) {
		return s.Timing.Expedited
	}
	return s.Timing.Merge
}

func (s merge) wait(r state.Reconciliation, what, why string) runbook.Outcome {
	since := s.Now()
	if r.Wait != nil && r.Wait.Step == s.ID() {
		since = r.Wait.Since
	}
	deadline := s.deadline(r)
	if s.Now().Sub(since) > deadline {
		return runbook.Fail(fault.New(fault.Refused, "The pull request was not merged in time ("+deadline.String()+"): "+why+". Try again to go on waiting, or start over."))
	}
	if expedited(r.Book) {
		why += ", by " + since.Add(deadline).UTC().Format("15:04 UTC")
	}
	return runbook.Wait(runbook.Poll(since, s.Now(), s.Timing.PollHost, 12*time.Second), what, why)
}
