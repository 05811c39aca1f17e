package forge

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/go-github/v62/github"
)

// Progress reads a pull request, its reviews and its checks with conditional
// requests. Answers that did not change cost nothing of the rate limit.
func (g *GitHub) Progress(ctx context.Context, repo Repo, number int) (Progress, error) {
	ctx, w := watching(ctx, scopeOf(repo, number))
	pr, err := g.read(ctx, repo, number)
	if err != nil {
		return Progress{}, err
	}
	p := Progress{PR: pr}
	if p.Reviews, err = g.reviews(ctx, repo, number); err != nil {
		return Progress{}, err
	}
	if p.Checks, err = g.checks(ctx, repo, pr.HeadSHA); err != nil {
		return Progress{}, err
	}
	required, err := g.requiredChecks(ctx, repo, pr.BaseRef)
	if err != nil {
		return Progress{}, err
	}
	p.Checks = markRequired(p.Checks, required)
	p.Changed = w.fresh.Load() > 0
	return p, nil
}

// reviews gives each person's standing review: a later comment does not take
// back an approval or a request for changes.
func (g *GitHub) reviews(ctx context.Context, repo Repo, number int) ([]Review, error) {
	var standing []Review
	opts := &github.ListOptions{PerPage: 100}
	for {
		page, resp, err := g.api.PullRequests.ListReviews(ctx, repo.Owner, repo.Name, number, opts)
		if err != nil {
			return nil, fmt.Errorf("read reviews of pull request %s#%d: %w", repo, number, g.sort(err))
		}
		for _, r := range page {
			standing = stand(standing, Review{
				User: r.GetUser().GetLogin(), State: r.GetState(), At: r.GetSubmittedAt().UTC(), SHA: r.GetCommitID(),
			})
		}
		if resp.NextPage == 0 {
			return standing, nil
		}
		opts.Page = resp.NextPage
	}
}

// stand adds a review to the standing ones, which are in the order in which
// GitHub lists them: by time.
func stand(standing []Review, r Review) []Review {
	if r.State == "PENDING" { // written but not submitted
		return standing
	}
	i := slices.IndexFunc(standing, func(s Review) bool { return s.User == r.User })
	if i < 0 {
		return append(standing, r)
	}
	if r.State != "COMMENTED" || standing[i].State == "COMMENTED" {
		standing[i] = r
	}
	return standing
}

// checks gives statuses and check runs, which GitHub keeps apart.
func (g *GitHub) checks(ctx context.Context, repo Repo, sha string) ([]Check, error) {
	checks, err := g.statuses(ctx, repo, sha)
	if err != nil {
		return nil, err
	}
	opts := &github.ListCheckRunsOptions{ListOptions: github.ListOptions{PerPage: 100}}
	for {
		page, resp, err := g.api.Checks.ListCheckRunsForRef(ctx, repo.Owner, repo.Name, sha, opts)
		// Fine-grained tokens cannot read check runs of private repositories
		// without the right "Checks: read"; statuses still tell something.
		if code := status(err); code == http.StatusForbidden || code == http.StatusNotFound {
			if sorted := g.sort(err); sorted == err {
				return checks, nil
			}
		}
		if err != nil {
			return nil, fmt.Errorf("read checks of commit %s in %s: %w", sha, repo, g.sort(err))
		}
		for _, r := range page.CheckRuns {
			checks = append(checks, Check{Name: r.GetName(), State: runState(r), URL: r.GetHTMLURL()})
		}
		if resp.NextPage == 0 {
			return checks, nil
		}
		opts.Page = resp.NextPage
	}
}

func (g *GitHub) statuses(ctx context.Context, repo Repo, sha string) ([]Check, error) {
	var checks []Check
	opts := &github.ListOptions{PerPage: 100}
	for {
		page, resp, err := g.api.Repositories.GetCombinedStatus(ctx, repo.Owner, repo.Name, sha, opts)
		if err != nil {
			return nil, fmt.Errorf("read statuses of commit %s in %s: %w", sha, repo, g.sort(err))
		}
		for _, s := range page.Statuses {
			state := s.GetState()
			if state == "error" {
				state = Failure
			}
			checks = append(checks, Check{Name: s.GetContext(), State: state, URL: s.GetTargetURL()})
		}
		if resp.NextPage == 0 {
			return checks, nil
		}
		opts.Page = resp.NextPage
	}
}

// runState follows branch protection: skipped and neutral count as success.
// https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/about-status-checks
func runState(r *github.CheckRun) string {
	if r.GetStatus() != "completed" {
		return Pending
	}
	switch r.GetConclusion() {
	case "success", "neutral", "skipped":
		return Success
	}
	return Failure
}

// markRequired marks the required checks, and adds those that have not
// reported yet.
func markRequired(checks []Check, required []string) []Check {
	for _, name := range required {
		found := false
		for i := range checks {
			if checks[i].Name == name {
				checks[i].Required, found = true, true
			}
		}
		if !found {
			checks = append(checks, Check{Name: name, State: Pending, Required: true})
		}
	}
	slices.SortStableFunc(checks, func(a, b Check) int { return strings.Compare(a.Name, b.Name) })
	return checks
}
