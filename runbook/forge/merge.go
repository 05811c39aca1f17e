package forge

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/go-github/v62/github"
)

// Merge merges when the rules are met. It has three answers: merged, with the
// commit on the base branch; not yet, with why, which is not an error; and an
// error. A pull request that is merged already counts as merged.
//
// The state is read first and a blocked pull request is not tried: an
// administrator's token would merge it past its rules.
func (g *GitHub) Merge(ctx context.Context, repo Repo, number int, m MergeRequest) (sha string, merged bool, why string, err error) {
	pr, err := g.read(ctx, repo, number)
	if err != nil {
		return "", false, "", err
	}
	if pr.State == Merged {
		return pr.MergeSHA, true, "", nil
	}
	if why, err := g.notYet(ctx, repo, pr, m); why != "" || err != nil {
		return "", false, why, err
	}
	done, _, err := g.api.PullRequests.Merge(ctx, repo.Owner, repo.Name, number, m.Message, &github.PullRequestOptions{
		CommitTitle: m.Title, SHA: m.HeadSHA, MergeMethod: m.Method,
	})
	if err == nil {
		return done.GetSHA(), done.GetMerged(), done.GetMessage(), nil
	}
	switch status(err) {
	case http.StatusMethodNotAllowed, http.StatusConflict:
		return g.refused(ctx, repo, number, err)
	}
	return "", false, "", fmt.Errorf("merge pull request %s#%d: %w", repo, number, g.sort(err))
}

// refused tells a rule that is not met from a merge that someone else made
// between our two requests.
func (g *GitHub) refused(ctx context.Context, repo Repo, number int, refusal error) (string, bool, string, error) {
	pr, err := g.read(ctx, repo, number)
	if err != nil {
		return "", false, "", err
	}
	if pr.State == Merged {
		return pr.MergeSHA, true, "", nil
	}
	return "", false, said(refusal), nil
}

// notYet says in a person's words why the merge has to wait, or nothing when
// it can be tried.
func (g *GitHub) notYet(ctx context.Context, repo Repo, pr PR, m MergeRequest) (string, error) {
	switch {
	case pr.State == Closed:
		return "the pull request was closed without a merge", nil
	case m.HeadSHA != "" && pr.HeadSHA != m.HeadSHA:
		return fmt.Sprintf("the branch has moved: %s was approved, its head is %s now", short(m.HeadSHA), short(pr.HeadSHA)), nil
	case pr.Draft:
		return "the pull request is a draft", nil
	}
	switch pr.Mergeable {
	case "dirty":
		return fmt.Sprintf("%s conflicts with %s", pr.HeadRef, pr.BaseRef), nil
	case "behind":
		return fmt.Sprintf("%s must be brought up to date with %s first", pr.HeadRef, pr.BaseRef), nil
	case "blocked":
		return g.blocked(ctx, repo, pr)
	case "clean", "unstable", "has_hooks":
		return "", nil
	}
	return "GitHub is still working out whether it can be merged", nil
}

// blocked looks for the rules that are not met.
func (g *GitHub) blocked(ctx context.Context, repo Repo, pr PR) (string, error) {
	rules, err := g.Rules(ctx, repo, pr.BaseRef)
	if err != nil {
		return "", err
	}
	reviews, err := g.reviews(ctx, repo, pr.Number)
	if err != nil {
		return "", err
	}
	checks, err := g.checks(ctx, repo, pr.HeadSHA)
	if err != nil {
		return "", err
	}
	words := append(missingReviews(rules, reviews), missingChecks(markRequired(checks, rules.Checks))...)
	switch {
	case len(words) > 0:
		return strings.Join(words, "; "), nil
	case rules.CodeOwnerReviews:
		return "waiting for a review by a code owner", nil
	case !rules.Readable:
		return "the branch's rules are not met yet: " + rules.Why, nil
	}
	return "the branch's rules are not met yet", nil
}

func missingReviews(rules Rules, reviews []Review) (words []string) {
	approvals := 0
	for _, r := range reviews {
		switch r.State {
		case "APPROVED":
			approvals++
		case "CHANGES_REQUESTED":
			words = append(words, r.User+" asks for changes")
		}
	}
	if approvals < rules.Reviews {
		words = append(words, fmt.Sprintf("%d of %d approving reviews", approvals, rules.Reviews))
	}
	return words
}

func missingChecks(checks []Check) (words []string) {
	says := map[string]string{Pending: "has not finished", Failure: "failed"}
	for _, c := range checks {
		if c.Required && c.State != Success {
			words = append(words, fmt.Sprintf("required check %s %s", c.Name, says[c.State]))
		}
	}
	return slices.Compact(words)
}

func short(sha string) string { return sha[:min(len(sha), 7)] }
