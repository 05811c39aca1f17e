package forge

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/google/go-github/v62/github"
)

// rulesets adds what the branch's rulesets ask for; everybody who can read
// the repository may see them.
// https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
func (g *GitHub) rulesets(ctx context.Context, repo Repo, branch string, rules *Rules) error {
	list, _, err := g.api.Repositories.GetRulesForBranch(ctx, repo.Owner, repo.Name, branch)
	if status(err) == http.StatusNotFound {
		// A server from before there were rulesets.
		return nil
	}
	if err != nil {
		return err
	}
	for _, rule := range list {
		rules.Protected = true
		if err := rules.add(rule); err != nil {
			return fmt.Errorf("rule %s: %w", rule.Type, err)
		}
	}
	return nil
}

func (r *Rules) add(rule *github.RepositoryRule) error {
	parameters := json.RawMessage(`{}`)
	if rule.Parameters != nil {
		parameters = *rule.Parameters
	}
	switch rule.Type {
	case "pull_request":
		var p github.PullRequestRuleParameters
		if err := json.Unmarshal(parameters, &p); err != nil {
			return err
		}
		r.Reviews = max(r.Reviews, p.RequiredApprovingReviewCount)
		r.CodeOwnerReviews = r.CodeOwnerReviews || p.RequireCodeOwnerReview
	case "required_status_checks":
		var p github.RequiredStatusChecksRuleParameters
		if err := json.Unmarshal(parameters, &p); err != nil {
			return err
		}
		for _, check := range p.RequiredStatusChecks {
			r.addChecks(check.Context)
		}
	case "required_linear_history":
		r.linear()
	}
	return nil
}
