package forge

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/google/go-github/v62/github"
)

// Progress looks at a pull request, its reviews and its checks. Nothing of it
// costs rate limit while nothing changes.
func (g *GitHub) Progress(ctx context.Context, repo Repo, number int) (Progress, error) {
	doing := fmt.Sprintf("follow pull request #%d of %s", number, repo)
	pr, resp, err := g.api.PullRequests.Get(ctx, repo.Owner, repo.Name, number)
	if err != nil {
		return Progress{}, classify(doing, err)
	}
	now := Progress{PR: pull(pr), Changed: changed(resp)}
	reviews, resp, err := g.api.PullRequests.ListReviews(ctx, repo.Owner, repo.Name, number, &github.ListOptions{PerPage: 100})
	if err != nil {
		return now, classify(doing, err)
	}
	now.Changed = now.Changed || changed(resp)
	for _, r := range reviews {
		now.Reviews = append(now.Reviews, Review{User: r.GetUser().GetLogin(), State: r.GetState(), At: r.GetSubmittedAt().Time, SHA: r.GetCommitID()})
	}
	checks, moved, err := g.checks(ctx, repo, now.PR.HeadSHA)
	now.Checks, now.Changed = checks, now.Changed || moved
	return now, classify(doing, err)
}

func changed(resp *github.Response) bool { return resp.Header.Get(unchanged) == "" }

// checks puts check runs and commit statuses in one list: to a branch's rules
// they are the same.
func (g *GitHub) checks(ctx context.Context, repo Repo, sha string) (list []Check, moved bool, err error) {
	runs, resp, err := g.api.Checks.ListCheckRunsForRef(ctx, repo.Owner, repo.Name, sha, &github.ListCheckRunsOptions{ListOptions: github.ListOptions{PerPage: 100}})
	if err != nil {
		return nil, false, err
	}
	moved = changed(resp)
	for _, run := range runs.CheckRuns {
		list = append(list, Check{Name: run.GetName(), State: runState(run), URL: run.GetHTMLURL()})
	}
	combined, resp, err := g.api.Repositories.GetCombinedStatus(ctx, repo.Owner, repo.Name, sha, &github.ListOptions{PerPage: 100})
	if err != nil {
		return nil, false, err
	}
	moved = moved || changed(resp)
	for _, s := range combined.Statuses {
		list = append(list, Check{Name: s.GetContext(), State: statusState(s.GetState()), URL: s.GetTargetURL()})
	}
	return list, moved, nil
}

// runState follows what a required check accepts: success, skipped and
// neutral pass.
// https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/about-status-checks
func runState(run *github.CheckRun) string {
	if run.GetStatus() != "completed" {
		return "pending"
	}
	switch run.GetConclusion() {
	case "success", "skipped", "neutral":
		return "success"
	}
	return "failure"
}

func statusState(state string) string {
	switch state {
	case "success", "pending":
		return state
	}
	return "failure"
}

// Rules reads what a branch asks of a pull request: classic protection, as
// far as the token may see it, rulesets, and the repository's merge methods.
func (g *GitHub) Rules(ctx context.Context, repo Repo, branch string) (Rules, error) {
	doing := fmt.Sprintf("read the rules of %s in %s", branch, repo)
	r, _, err := g.api.Repositories.Get(ctx, repo.Owner, repo.Name)
	if err != nil {
		return Rules{}, classify(doing, err)
	}
	rules := Rules{Readable: true, Methods: methods(r)}
	b, _, err := g.api.Repositories.GetBranch(ctx, repo.Owner, repo.Name, branch, 3)
	if err != nil {
		return rules, classify(doing, err)
	}
	rules.Protected = b.GetProtected()
	if checks := b.GetProtection().GetRequiredStatusChecks(); checks != nil && checks.Contexts != nil {
		rules.addChecks(*checks.Contexts...)
	}
	if err := g.rulesets(ctx, repo, branch, &rules); err != nil {
		return rules, classify(doing, err)
	}
	if !rules.Protected {
		return rules, nil
	}
	return rules, classify(doing, g.protection(ctx, repo, branch, &rules))
}

// protection reads the classic protection, which only those may see who
// administer the repository. What is unknown is found out from the pull
// request's own state later.
func (g *GitHub) protection(ctx context.Context, repo Repo, branch string, rules *Rules) error {
	p, _, err := g.api.Repositories.GetBranchProtection(ctx, repo.Owner, repo.Name, branch)
	if code := status(err); code == http.StatusForbidden || code == http.StatusNotFound {
		rules.Readable = false
		rules.Why = "the branch is protected, and its rules can be read only with administration rights; GitHub says at the pull request what it asks for"
		return nil
	}
	if err != nil {
		return err
	}
	if reviews := p.GetRequiredPullRequestReviews(); reviews != nil {
		rules.Reviews = max(rules.Reviews, reviews.RequiredApprovingReviewCount)
		rules.CodeOwnerReviews = rules.CodeOwnerReviews || reviews.RequireCodeOwnerReviews
	}
	if checks := p.GetRequiredStatusChecks(); checks != nil {
		if checks.Contexts != nil {
			rules.addChecks(*checks.Contexts...)
		}
		if checks.Checks != nil {
			for _, c := range *checks.Checks {
				rules.addChecks(c.Context)
			}
		}
	}
	if linear := p.GetRequireLinearHistory(); linear != nil && linear.Enabled {
		rules.linear()
	}
	return nil
}

func (r *Rules) addChecks(names ...string) {
	for _, name := range names {
		if !slices.Contains(r.Checks, name) {
			r.Checks = append(r.Checks, name)
		}
	}
}

// linear forbids merge commits.
func (r *Rules) linear() {
	r.Linear = true
	r.Methods = slices.DeleteFunc(r.Methods, func(m string) bool { return m == "merge" })
}

func methods(r *github.Repository) (list []string) {
	for _, m := range []struct {
		name    string
		allowed *bool
	}{{"merge", r.AllowMergeCommit}, {"squash", r.AllowSquashMerge}, {"rebase", r.AllowRebaseMerge}} {
		// Who may not administer the repository is not told; then GitHub says
		// it at the merge.
		if m.allowed == nil || *m.allowed {
			list = append(list, m.name)
		}
	}
	return list
}
