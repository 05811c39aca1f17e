package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-github/v62/github"
)

// FindPR finds the newest pull request of a branch, in any state.
func (g *GitHub) FindPR(ctx context.Context, repo Repo, branch string) (PR, bool, error) {
	list, _, err := g.api.PullRequests.List(ctx, repo.Owner, repo.Name, &github.PullRequestListOptions{
		State: "all", Head: repo.Owner + ":" + branch, Sort: "created", Direction: "desc",
	})
	if err != nil {
		return PR{}, false, classify(fmt.Sprintf("look for a pull request of %s in %s", branch, repo), err)
	}
	for _, pr := range list {
		// A host that does not know the filter lists all of them.
		if pr.GetHead().GetRef() == branch {
			return pull(pr), true, nil
		}
	}
	return PR{}, false, nil
}

// OpenPR opens a pull request, or takes over the one that the branch has,
// whatever became of it: the branch is the reconciliation's own. Reviewers
// and labels that the host refuses are left out; they are a courtesy.
func (g *GitHub) OpenPR(ctx context.Context, p Proposal) (PR, error) {
	found, ok, err := g.FindPR(ctx, p.Repo, p.Branch)
	if err != nil || ok {
		return found, err
	}
	pr, _, err := g.api.PullRequests.Create(ctx, p.Repo.Owner, p.Repo.Name, &github.NewPullRequest{
		Title: &p.Title, Head: &p.Branch, Base: &p.Base, Body: &p.Body, MaintainerCanModify: github.Bool(false),
	})
	if err != nil {
		return PR{}, classify(fmt.Sprintf("open a pull request for %s in %s", p.Branch, p.Repo), err)
	}
	opened := pull(pr)
	if len(p.Labels) > 0 {
		_, _, err := g.api.Issues.AddLabelsToIssue(ctx, p.Repo.Owner, p.Repo.Name, opened.Number, p.Labels)
		if isDown(err) {
			return opened, nil
		}
	}
	g.askForReview(ctx, p, opened.Number)
	return opened, nil
}

func isDown(err error) bool {
	_, down := errors.AsType[*Unavailable](meaning(err))
	return down
}

// askForReview asks people and teams one by one: GitHub refuses the whole
// list for one name that it does not know. Code owners are asked by GitHub
// itself in any case.
func (g *GitHub) askForReview(ctx context.Context, p Proposal, number int) {
	ask := func(r github.ReviewersRequest) {
		_, _, _ = g.api.PullRequests.RequestReviewers(ctx, p.Repo.Owner, p.Repo.Name, number, r)
	}
	for _, login := range p.Reviewers {
		ask(github.ReviewersRequest{Reviewers: []string{login}})
	}
	for _, team := range p.TeamReviewers {
		ask(github.ReviewersRequest{TeamReviewers: []string{team}})
	}
}

// UpdateBody replaces the text of a pull request.
func (g *GitHub) UpdateBody(ctx context.Context, repo Repo, number int, body string) error {
	_, _, err := g.api.PullRequests.Edit(ctx, repo.Owner, repo.Name, number, &github.PullRequest{Body: &body})
	return classify(fmt.Sprintf("update pull request #%d of %s", number, repo), err)
}

// ClosePR closes a pull request, saying why in a comment.
func (g *GitHub) ClosePR(ctx context.Context, repo Repo, number int, comment string) error {
	if comment != "" {
		_, _, err := g.api.Issues.CreateComment(ctx, repo.Owner, repo.Name, number, &github.IssueComment{Body: &comment})
		if err != nil {
			return classify(fmt.Sprintf("comment on pull request #%d of %s", number, repo), err)
		}
	}
	_, _, err := g.api.PullRequests.Edit(ctx, repo.Owner, repo.Name, number, &github.PullRequest{State: github.String("closed")})
	return classify(fmt.Sprintf("close pull request #%d of %s", number, repo), err)
}

// Merge asks for a merge. merged is false, with the reason, when the host
// does not allow it yet: rules that are not met, or a branch that moved. A
// pull request that is merged already counts as merged.
func (g *GitHub) Merge(ctx context.Context, repo Repo, number int, m MergeRequest) (sha string, merged bool, why string, err error) {
	result, _, err := g.api.PullRequests.Merge(ctx, repo.Owner, repo.Name, number, m.Message, &github.PullRequestOptions{
		CommitTitle: m.Title, SHA: m.HeadSHA, MergeMethod: m.Method,
	})
	switch {
	case err == nil:
		return result.GetSHA(), result.GetMerged(), result.GetMessage(), nil
	case status(err) == http.StatusMethodNotAllowed || status(err) == http.StatusConflict:
		pr, _, getErr := g.api.PullRequests.Get(ctx, repo.Owner, repo.Name, number)
		if getErr == nil && pr.GetMerged() {
			return pr.GetMergeCommitSHA(), true, "", nil
		}
		return "", false, refusal(err), nil
	}
	return "", false, "", classify(fmt.Sprintf("merge pull request #%d of %s", number, repo), err)
}

// refusal is the host's own reason.
func refusal(err error) string {
	if e, ok := errors.AsType[*github.ErrorResponse](err); ok && e.Message != "" {
		return strings.TrimSpace(e.Message)
	}
	return "its rules are not met"
}

func pull(pr *github.PullRequest) PR {
	p := PR{
		Number: pr.GetNumber(), URL: pr.GetHTMLURL(), Title: pr.GetTitle(), Body: pr.GetBody(),
		HeadRef: pr.GetHead().GetRef(), HeadSHA: pr.GetHead().GetSHA(),
		BaseRef: pr.GetBase().GetRef(), BaseSHA: pr.GetBase().GetSHA(),
		State: pr.GetState(), Draft: pr.GetDraft(), Mergeable: pr.GetMergeableState(),
		MergedBy: pr.GetMergedBy().GetLogin(), MergedAt: pr.GetMergedAt().Time, ClosedAt: pr.GetClosedAt().Time,
	}
	// A list says only when it was merged, not that it was.
	if pr.GetMerged() || !p.MergedAt.IsZero() {
		p.State, p.MergeSHA = "merged", pr.GetMergeCommitSHA()
	}
	return p
}
