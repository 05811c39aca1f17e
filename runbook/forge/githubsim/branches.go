package githubsim

import (
	"net/http"
	"strings"
)

func (s *Sim) getBranches(a *asked) (int, any, error) {
	r, err := a.repo(Read)
	if err != nil {
		return 0, nil, err
	}
	out, err := r.git("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads")
	if err != nil {
		return 0, nil, err
	}
	list := []map[string]any{}
	for name := range strings.FieldsSeq(out) {
		list = append(list, r.branchJSON(name))
	}
	return http.StatusOK, page(a, list), nil
}

// getBranch also serves the protection, because a branch's name may hold
// slashes: /branches/NAME and /branches/NAME/protection.
func (s *Sim) getBranch(a *asked) (int, any, error) {
	r, err := a.repo(Read)
	if err != nil {
		return 0, nil, err
	}
	name, wantsProtection := strings.CutSuffix(a.PathValue("branch"), "/protection")
	if r.head(name) == "" {
		return 0, nil, &failure{status: http.StatusNotFound, message: "Branch not found"}
	}
	if !wantsProtection {
		return http.StatusOK, r.branchJSON(name), nil
	}
	if a.actor.in == nil && r.may(a.login) < Admin {
		return 0, nil, notFound()
	}
	if refusal := a.need("administration=read"); refusal != nil {
		return 0, nil, refusal
	}
	p, ok := r.protected[name]
	if !ok {
		return 0, nil, &failure{status: http.StatusNotFound, message: "Branch not protected"}
	}
	return http.StatusOK, p.json(), nil
}

func (r *repo) branchJSON(name string) map[string]any {
	sha := r.head(name)
	p, protected := r.protected[name]
	summary := map[string]any{"enabled": protected, "required_status_checks": map[string]any{"enforcement_level": "off", "contexts": []string{}, "checks": []any{}}}
	if protected && len(p.Checks) > 0 {
		summary["required_status_checks"] = map[string]any{"enforcement_level": "everyone", "contexts": p.Checks, "checks": contexts(p.Checks)}
	}
	return map[string]any{
		"name": name, "protected": protected, "protection": summary,
		"commit": map[string]any{"sha": sha, "url": r.sim.apiURL("repos", r.fullName(), "commits", sha)},
	}
}

func contexts(names []string) []map[string]any {
	list := []map[string]any{}
	for _, name := range names {
		list = append(list, map[string]any{"context": name, "app_id": nil})
	}
	return list
}

// getRules answers as rulesets do: everybody who can read may see them. The
// protections here are shown as rules too, as a company would have them whose
// bots may not administer.
func (s *Sim) getRules(a *asked) (int, any, error) {
	r, err := a.repo(Read)
	if err != nil {
		return 0, nil, err
	}
	p, ok := r.protected[a.PathValue("branch")]
	if !ok {
		return http.StatusOK, []any{}, nil
	}
	rule := func(kind string, parameters map[string]any) map[string]any {
		body := map[string]any{"type": kind, "ruleset_source_type": "Repository", "ruleset_source": r.fullName(), "ruleset_id": 1}
		if parameters != nil {
			body["parameters"] = parameters
		}
		return body
	}
	list := []map[string]any{rule("deletion", nil), rule("non_fast_forward", nil), rule("pull_request", map[string]any{
		"required_approving_review_count": p.Reviews, "require_code_owner_review": p.CodeOwners,
		"dismiss_stale_reviews_on_push": p.DismissStale, "require_last_push_approval": false, "required_review_thread_resolution": false,
	})}
	if len(p.Checks) > 0 {
		var checks []map[string]any
		for _, name := range p.Checks {
			checks = append(checks, map[string]any{"context": name})
		}
		list = append(list, rule("required_status_checks", map[string]any{"required_status_checks": checks, "strict_required_status_checks_policy": p.Strict}))
	}
	if p.Linear {
		list = append(list, rule("required_linear_history", nil))
	}
	return http.StatusOK, list, nil
}
