package forge

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

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
	rules := Rules{Readable: true, Protected: b.Protected, Checks: b.checks()}
	methods := []string{"merge", "squash", "rebase"}
	set, err := g.ruleset(ctx, repo, branch)
	if err != nil {
		return Rules{}, err
	}
	methods = set.apply(&rules, methods)
	if b.hasProtection(set.any()) {
		if err := g.protection(ctx, repo, branch, &rules); err != nil {
			return Rules{}, err
		}
	}
	rules.Checks = distinct(rules.Checks)
	rules.Methods = allowedMethods(r, rules.Linear, methods)
	return rules, nil
}

// HeadRules reads what a branch that is still to be made demands of its name
// and its commits. Only rulesets can; they are shown for any name.
func (g *GitHub) HeadRules(ctx context.Context, repo Repo, branch string) (Rules, error) {
	set, err := g.ruleset(ctx, repo, branch)
	if err != nil {
		return Rules{}, err
	}
	rules := Rules{Readable: true}
	set.apply(&rules, nil)
	return rules, nil
}

// branch is what everyone who can read sees of a branch: of its protection, the
// names of the required checks and no more.
type branch struct {
	Protected  bool `json:"protected"`
	Protection *struct {
		// Enabled is false where only rulesets protect the branch.
		Enabled *bool `json:"enabled"`
		github.Protection
	} `json:"protection"`
}

func (b branch) checks() []string {
	if b.Protection == nil {
		return []string{}
	}
	return checkNames(b.Protection.RequiredStatusChecks)
}

// hasProtection tells whether there is a branch protection to read beside the
// rulesets.
func (b branch) hasProtection(rulesets bool) bool {
	switch {
	case !b.Protected:
		return false
	case b.Protection == nil:
		return !rulesets
	}
	return b.Protection.Enabled == nil || *b.Protection.Enabled
}

func (g *GitHub) branch(ctx context.Context, repo Repo, name string) (b branch, err error) {
	req, err := g.api.NewRequest(http.MethodGet, fmt.Sprintf("repos/%s/%s/branches/%s", repo.Owner, repo.Name, url.PathEscape(name)), nil)
	if err == nil {
		_, err = g.api.Do(ctx, req, &b)
	}
	if err != nil {
		return b, fmt.Errorf("read branch %s of %s: %w", name, repo, g.sort(err))
	}
	return b, nil
}

// checkNames are the required checks, in either of the forms that GitHub has.
func checkNames(required *github.RequiredStatusChecks) []string {
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
		rules.Stale = rules.Stale || reviews.DismissStaleReviews
		rules.LastPush = rules.LastPush || reviews.RequireLastPushApproval
	}
	if checks := p.RequiredStatusChecks; checks != nil {
		rules.Strict = rules.Strict || checks.Strict
	}
	if p.Restrictions != nil {
		rules.restrict(p.Restrictions)
	}
	rules.Checks = append(rules.Checks, checkNames(p.RequiredStatusChecks)...)
	rules.Linear = rules.Linear || (p.RequireLinearHistory != nil && p.RequireLinearHistory.Enabled)
	rules.Threads = rules.Threads || (p.RequiredConversationResolution != nil && p.RequiredConversationResolution.Enabled)
	rules.Signed = rules.Signed || (p.RequiredSignatures != nil && p.RequiredSignatures.GetEnabled())
	rules.Locked = rules.Locked || (p.LockBranch != nil && p.LockBranch.GetEnabled())
	return nil
}

// restrict keeps who may push to the branch, which is who may merge into it.
func (rules *Rules) restrict(r *github.BranchRestrictions) {
	rules.Restricted = true
	for _, u := range r.Users {
		rules.Pushers = append(rules.Pushers, "@"+u.GetLogin())
	}
	for _, t := range r.Teams {
		// A team's page is /orgs/ORG/teams/TEAM.
		org, _, _ := strings.Cut(strings.TrimPrefix(pathOf(t.GetHTMLURL()), "/orgs/"), "/")
		rules.Pushers = append(rules.Pushers, "@"+org+"/"+t.GetSlug())
	}
	for _, a := range r.Apps {
		rules.Pushers = append(rules.Pushers, "app "+a.GetSlug())
	}
}

func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Path
}

// ruleset is the answer of /rules/branches/{branch}. It is read here and not
// by the client library, whose version does not know every kind of rule and
// refuses the whole list for one that it does not know.
// https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
type ruleset []struct {
	Type       string `json:"type"`
	Parameters struct {
		Reviews     int      `json:"required_approving_review_count"`
		CodeOwners  bool     `json:"require_code_owner_review"`
		Stale       bool     `json:"dismiss_stale_reviews_on_push"`
		LastPush    bool     `json:"require_last_push_approval"`
		Threads     bool     `json:"required_review_thread_resolution"`
		Methods     []string `json:"allowed_merge_methods"`
		Strict      bool     `json:"strict_required_status_checks_policy"`
		QueueMethod string   `json:"merge_method"`
		Checks      []struct {
			Context string `json:"context"`
		} `json:"required_status_checks"`
		Deployments []string `json:"required_deployment_environments"`
		Pattern
	} `json:"parameters"`
}

func (s ruleset) any() bool { return len(s) > 0 }

// apply adds the rulesets' demands and gives the methods that remain.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets
func (s ruleset) apply(rules *Rules, methods []string) []string {
	for _, r := range s {
		rules.Protected = true
		p := r.Parameters
		switch r.Type {
		case "pull_request":
			rules.Reviews = max(rules.Reviews, p.Reviews)
			rules.CodeOwnerReviews = rules.CodeOwnerReviews || p.CodeOwners
			rules.Stale, rules.LastPush, rules.Threads = rules.Stale || p.Stale, rules.LastPush || p.LastPush, rules.Threads || p.Threads
			if len(p.Methods) > 0 {
				methods = slices.DeleteFunc(slices.Clone(methods), func(m string) bool { return !slices.Contains(p.Methods, m) })
			}
		case "required_status_checks":
			rules.Strict = rules.Strict || p.Strict
			for _, c := range p.Checks {
				rules.Checks = append(rules.Checks, c.Context)
			}
		case "required_linear_history":
			rules.Linear = true
		case "required_signatures":
			rules.Signed = true
		case "required_deployments":
			rules.Deployments = append(rules.Deployments, p.Deployments...)
		case "merge_queue":
			rules.Queue = true
		case "update":
			rules.Restricted = true
		case "creation":
			rules.NoCreate = true
		case "branch_name_pattern", "commit_message_pattern", "commit_author_email_pattern", "committer_email_pattern":
			p.Pattern.Of = strings.TrimSuffix(r.Type, "_pattern")
			rules.Patterns = append(rules.Patterns, p.Pattern)
		case "deletion", "non_fast_forward": // the bot does neither
		default:
			rules.Unknown = append(rules.Unknown, r.Type)
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
	rules := Rules{Checks: b.checks()}
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
