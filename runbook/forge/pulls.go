package forge

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-github/v62/github"
)

// FindPR finds the newest pull request, in any state, whose head is that
// branch of that repository.
func (g *GitHub) FindPR(ctx context.Context, repo Repo, branch string) (PR, bool, error) {
	return g.find(ctx, repo, branch, "all")
}

func (g *GitHub) find(ctx context.Context, repo Repo, branch, state string) (PR, bool, error) {
	list, _, err := g.api.PullRequests.List(ctx, repo.Owner, repo.Name, &github.PullRequestListOptions{
		State: state, Head: repo.Owner + ":" + branch, Sort: "created", Direction: "desc",
		ListOptions: github.ListOptions{PerPage: 100},
	})
	if err != nil {
		return PR{}, false, fmt.Errorf("look for a pull request of branch %s in %s: %w", branch, repo, g.sort(err))
	}
	for _, p := range list {
		// A server that does not know the filter answers with all of them.
		if p.GetHead().GetRef() == branch {
			return fromAPI(p), true, nil
		}
	}
	return PR{}, false, nil
}

// OpenPR opens a pull request, or adopts the open one that the branch has for
// the same base. Labels and reviewers are added in both cases, so that a call
// that was cut off can be made again. Reviewers that GitHub refuses (the
// author himself, someone without access) do not stop the rest.
func (g *GitHub) OpenPR(ctx context.Context, p Proposal) (PR, error) {
	pr, err := g.openOrAdopt(ctx, p)
	if err != nil {
		return PR{}, err
	}
	if len(p.Labels) > 0 {
		if err := g.addTo(ctx, p.Repo, pr.Number, "labels", p.Labels); err != nil {
			return PR{}, fmt.Errorf("label pull request %s#%d: %w", p.Repo, pr.Number, err)
		}
	}
	if len(p.Assignees) > 0 {
		if err := g.addTo(ctx, p.Repo, pr.Number, "assignees", p.Assignees); err != nil {
			return PR{}, fmt.Errorf("assign pull request %s#%d: %w", p.Repo, pr.Number, err)
		}
	}
	if err := g.requestReviews(ctx, p, pr.Number); err != nil {
		return PR{}, err
	}
	return pr, nil
}

// addTo adds labels or assignees. GitHub leaves out assignees who may not be
// any, without an error.
func (g *GitHub) addTo(ctx context.Context, repo Repo, number int, what string, names []string) error {
	// Not by the client library: it sends a form of labels that GitHub takes and
	// does not describe.
	req, err := g.api.NewRequest(http.MethodPost, fmt.Sprintf("repos/%s/issues/%d/%s", repo, number, what), map[string][]string{what: names})
	if err == nil {
		_, err = g.api.Do(ctx, req, nil)
	}
	return g.sort(err)
}

func (g *GitHub) openOrAdopt(ctx context.Context, p Proposal) (PR, error) {
	if pr, found, err := g.openFor(ctx, p); err != nil || found {
		return pr, err
	}
	made, _, err := g.api.PullRequests.Create(ctx, p.Repo.Owner, p.Repo.Name, &github.NewPullRequest{
		Title: github.String(p.Title), Head: github.String(p.Branch), Base: github.String(p.Base), Body: github.String(p.Body),
	})
	if err == nil {
		return fromAPI(made), nil
	}
	// Someone, or an earlier call whose answer was lost, was faster.
	if status(err) == http.StatusUnprocessableEntity && strings.Contains(said(err), "already exists") {
		if pr, found, err := g.openFor(ctx, p); err == nil && found {
			return pr, nil
		}
	}
	return PR{}, fmt.Errorf("open pull request for %s into %s of %s: %w", p.Branch, p.Base, p.Repo, g.sort(err))
}

func (g *GitHub) openFor(ctx context.Context, p Proposal) (PR, bool, error) {
	pr, found, err := g.find(ctx, p.Repo, p.Branch, "open")
	return pr, found && pr.BaseRef == p.Base, err
}

// requestReviews asks one by one: GitHub refuses a whole list for one bad
// name in it.
func (g *GitHub) requestReviews(ctx context.Context, p Proposal, number int) error {
	asks := []github.ReviewersRequest{}
	for _, login := range p.Reviewers {
		asks = append(asks, github.ReviewersRequest{Reviewers: []string{login}})
	}
	for _, team := range p.TeamReviewers {
		asks = append(asks, github.ReviewersRequest{TeamReviewers: []string{team}})
	}
	for _, ask := range asks {
		_, _, err := g.api.PullRequests.RequestReviewers(ctx, p.Repo.Owner, p.Repo.Name, number, ask)
		if code := status(err); code == http.StatusUnprocessableEntity || code == http.StatusNotFound {
			continue
		}
		if err != nil {
			return fmt.Errorf("request reviews of pull request %s#%d: %w", p.Repo, number, g.sort(err))
		}
	}
	return nil
}

// UpdateBody replaces the description.
func (g *GitHub) UpdateBody(ctx context.Context, repo Repo, number int, body string) error {
	_, _, err := g.api.PullRequests.Edit(ctx, repo.Owner, repo.Name, number, &github.PullRequest{Body: github.String(body)})
	if err != nil {
		return fmt.Errorf("update description of pull request %s#%d: %w", repo, number, g.sort(err))
	}
	return nil
}

// ClosePR closes without a merge, and says why in a comment when one is
// given. One that is closed already is left as it is, without a comment, so
// that a repeated call does not say the same twice.
func (g *GitHub) ClosePR(ctx context.Context, repo Repo, number int, comment string) error {
	pr, err := g.read(ctx, repo, number)
	if err != nil {
		return err
	}
	switch pr.State {
	case Merged:
		return fmt.Errorf("close pull request %s#%d: it is merged already, undo it by a revert", repo, number)
	case Closed:
		return nil
	}
	if comment != "" {
		_, _, err := g.api.Issues.CreateComment(ctx, repo.Owner, repo.Name, number, &github.IssueComment{Body: github.String(comment)})
		if err != nil {
			return fmt.Errorf("comment on pull request %s#%d: %w", repo, number, g.sort(err))
		}
	}
	_, _, err = g.api.PullRequests.Edit(ctx, repo.Owner, repo.Name, number, &github.PullRequest{State: github.String("closed")})
	if err != nil {
		return fmt.Errorf("close pull request %s#%d: %w", repo, number, g.sort(err))
	}
	return nil
}

func (g *GitHub) read(ctx context.Context, repo Repo, number int) (PR, error) {
	p, _, err := g.api.PullRequests.Get(ctx, repo.Owner, repo.Name, number)
	if err != nil {
		return PR{}, fmt.Errorf("read pull request %s#%d: %w", repo, number, g.sort(err))
	}
	return fromAPI(p), nil
}

func fromAPI(p *github.PullRequest) PR {
	pr := PR{
		Number: p.GetNumber(), URL: p.GetHTMLURL(), Title: p.GetTitle(), Body: p.GetBody(),
		HeadRef: p.GetHead().GetRef(), HeadSHA: p.GetHead().GetSHA(),
		BaseRef: p.GetBase().GetRef(), BaseSHA: p.GetBase().GetSHA(),
		State: p.GetState(), Draft: p.GetDraft(), Mergeable: p.GetMergeableState(),
		MergedBy: p.GetMergedBy().GetLogin(), MergedAt: p.GetMergedAt().UTC(), ClosedAt: p.GetClosedAt().UTC(),
	}
	// Lists have merged_at but not merged.
	if p.GetMerged() || p.MergedAt != nil {
		pr.State = Merged
		// Before the merge this field is a trial merge's commit.
		pr.MergeSHA = p.GetMergeCommitSHA()
	}
	return pr
}
