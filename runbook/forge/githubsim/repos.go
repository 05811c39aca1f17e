package githubsim

import (
	"net/http"
)

func (s *Sim) getRepo(a *asked) (int, any, error) {
	r, err := a.repo(Read)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, r.json(a.login), nil
}

// json is the repository as an account sees it: only who administers it is
// told its merge settings.
func (r *repo) json(login string) map[string]any {
	may := r.may(login)
	body := map[string]any{
		"id": r.id, "name": r.name, "full_name": r.fullName(), "private": true, "default_branch": "main",
		"owner":       map[string]any{"login": r.owner, "type": "Organization"},
		"url":         r.sim.apiURL("repos", r.fullName()),
		"html_url":    r.sim.url + "/" + r.fullName(),
		"clone_url":   r.sim.url + "/" + r.fullName() + ".git",
		"permissions": r.rights(login),
	}
	if may >= Write {
		body["allow_merge_commit"] = r.allows("merge")
		body["allow_squash_merge"] = r.allows("squash")
		body["allow_rebase_merge"] = r.allows("rebase")
		body["delete_branch_on_merge"] = r.options.DeleteBranches
	}
	return body
}

func (p *Protection) json() map[string]any {
	body := map[string]any{
		"enforce_admins":          map[string]any{"enabled": true},
		"required_linear_history": map[string]any{"enabled": p.Linear},
		"allow_force_pushes":      map[string]any{"enabled": false},
		"allow_deletions":         map[string]any{"enabled": false},
	}
	if p.Reviews > 0 || p.CodeOwners {
		body["required_pull_request_reviews"] = map[string]any{
			"dismiss_stale_reviews": p.DismissStale, "require_code_owner_reviews": p.CodeOwners,
			"required_approving_review_count": p.Reviews,
		}
	}
	if len(p.Checks) > 0 {
		body["required_status_checks"] = map[string]any{"strict": p.Strict, "contexts": p.Checks, "checks": contexts(p.Checks)}
	}
	return body
}
