package forge

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/google/go-github/v62/github"
)

// Rules reads what a branch demands. GitHub keeps rules in two places, branch
// protection and rulesets, and both hold. Rulesets are shown to everyone who
// can read; branch protection only to administrators, so that without that
// right the number of reviews may stay unknown: then Readable is false.
func (g *GitHub) Rules(ctx context.Context, repo Repo, branch string) (Rules, error) {
	r, err := g.repository(ctx, repo)
	if err != nil {
		return Rules{}, err
	}
	b, err := g.branch(ctx, repo, branch)
	if err != nil {
		return Rules{}, err
	}
	rules := Rules{Readable: true, Protected: b.GetProtected(), Checks: summaryChecks(b)}
	methods := []string{"merge", "squash", "rebase"}
	set, err := g.ruleset(ctx, repo, branch)
	if err != nil {
		return Rules{}, err
	}
	methods = set.apply(&rules, methods)
	// Protected by a ruleset only: there is no branch protection to read.
	if b.GetProtected() && !(set.any() && b.Protection == nil) {
		if err := g.protection(ctx, repo, branch, &rules); err != nil {
			return Rules{}, err
		}
	}
	rules.Checks = distinct(rules.Checks)
	rules.Methods = allowedMethods(r, rules.Linear, methods)
	return rules, nil
}

func (g *GitHub) branch(ctx context.Context, repo Repo, branch string) (*github.Branch, error) {
	b, _, err := g.api.Repositories.GetBranch(ctx, repo.Owner, repo.Name, branch, 1)
	if err != nil {
		return nil, fmt.Errorf("read branch %s of %s: %w", branch, repo, g.sort(err))
	}
	return b, nil
}

// summaryChecks reads the short form of branch protection that everyone who
// can read sees in the branch: it names the required checks and no more.
func summaryChecks(b *github.Branch) []string {
	required := b.GetProtection().GetRequiredStatusChecks()
	names := []string{}
	if required != nil && required.Contexts != nil {
		names = append(names, *required.Contexts...)
	}
	if required != nil && required.Checks != nil {
		for _, c := range *required.Checks {
			names = append(names, c.Context)
		}
	}
	return names
}

// protection adds the rules of branch protection.
func (g *GitHub) protection(ctx context.Context, repo Repo, branch string, rules *Rules) error {
	p, _, err := g.api.Repositories.GetBranchProtection(ctx, repo.Owner, repo.Name, branch)
	if err == github.ErrBranchNotProtected {
		return nil
	}
	if code := status(err); code == http.StatusForbidden || code == http.StatusNotFound {
		if sorted := g.sort(err); sorted != err {
			return fmt.Errorf("read protection of %s in %s: %w", branch, repo, sorted)
		}
		rules.Readable = false
		rules.Why = "the branch is protected, and how many reviews it needs is shown only to a token with the right Administration: read"
		return nil
	}
	if err != nil {
		return fmt.Errorf("read protection of %s in %s: %w", branch, repo, g.sort(err))
	}
	if reviews := p.RequiredPullRequestReviews; reviews != nil {
		rules.Reviews = max(rules.Reviews, reviews.RequiredApprovingReviewCount)
		rules.CodeOwnerReviews = rules.CodeOwnerReviews || reviews.RequireCodeOwnerReviews
	}
	rules.Checks = append(rules.Checks, summaryChecks(&github.Branch{Protection: p})...)
	rules.Linear = rules.Linear || (p.RequireLinearHistory != nil && p.RequireLinearHistory.Enabled)
	return nil
}

// ruleset is the answer of /rules/branches/{branch}. It is read here and not
// by the client library, whose version does not know every kind of rule and
// refuses the whole list for one that it does not know.
// https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
type ruleset []struct {
	Type       string `json:"type"`
	Parameters struct {
		Reviews    int      `json:"required_approving_review_count"`
		CodeOwners bool     `json:"require_code_owner_review"`
		Methods    []string `json:"allowed_merge_methods"`
		Checks     []struct {
			Context string `json:"context"`
		} `json:"required_status_checks"`
	} `json:"parameters"`
}

func (s ruleset) any() bool { return len(s) > 0 }

// apply adds the rulesets' demands and gives the methods that remain.
func (s ruleset) apply(rules *Rules, methods []string) []string {
	for _, r := range s {
		rules.Protected = true
		p := r.Parameters
		rules.Reviews = max(rules.Reviews, p.Reviews)
		rules.CodeOwnerReviews = rules.CodeOwnerReviews || p.CodeOwners
		rules.Linear = rules.Linear || r.Type == "required_linear_history"
		for _, c := range p.Checks {
			rules.Checks = append(rules.Checks, c.Context)
		}
		if len(p.Methods) > 0 {
			methods = slices.DeleteFunc(slices.Clone(methods), func(m string) bool { return !slices.Contains(p.Methods, m) })
		}
	}
	return methods
}

func (g *GitHub) ruleset(ctx context.Context, repo Repo, branch string) (ruleset, error) {
	path := fmt.Sprintf("repos/%s/%s/rules/branches/%s?per_page=100", repo.Owner, repo.Name, url.PathEscape(branch))
	req, err := g.api.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return nil, fmt.Errorf("read rules of %s in %s: %w", branch, repo, err)
	}
	var raw json.RawMessage
	_, err = g.api.Do(ctx, req, &raw)
	if status(err) == http.StatusNotFound { // a server from before rulesets
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read rules of %s in %s: %w", branch, repo, g.sort(err))
	}
	var set ruleset
	if err := json.Unmarshal(raw, &set); err != nil {
		return nil, fmt.Errorf("read rules of %s in %s: %w", branch, repo, err)
	}
	return set, nil
}

// requiredChecks reads only what a poll needs.
func (g *GitHub) requiredChecks(ctx context.Context, repo Repo, branch string) ([]string, error) {
	b, err := g.branch(ctx, repo, branch)
	if err != nil {
		return nil, err
	}
	set, err := g.ruleset(ctx, repo, branch)
	if err != nil {
		return nil, err
	}
	rules := Rules{Checks: summaryChecks(b)}
	set.apply(&rules, nil)
	return distinct(rules.Checks), nil
}

// allowedMethods narrows the methods by the repository's settings, which are
// shown only to those who may push; what is not shown is taken as allowed,
// and GitHub has the last word.
func allowedMethods(r *github.Repository, linear bool, methods []string) []string {
	settings := map[string]*bool{"merge": r.AllowMergeCommit, "squash": r.AllowSquashMerge, "rebase": r.AllowRebaseMerge}
	return slices.DeleteFunc(slices.Clone(methods), func(m string) bool {
		return (settings[m] != nil && !*settings[m]) || (linear && m == "merge")
	})
}

func distinct(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
