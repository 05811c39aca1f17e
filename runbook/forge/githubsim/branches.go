package githubsim

import (
	"net/http"
	"net/url"
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
	p := r.rules(name)
	if p == nil || p.Ruleset {
		return 0, nil, &failure{status: http.StatusNotFound, message: "Branch not protected"}
	}
	return http.StatusOK, r.protectionJSON(name, p), nil
}

func (r *repo) branchJSON(name string) map[string]any {
	sha := r.head(name)
	p := r.rules(name)
	protected := p != nil
	summary := map[string]any{"enabled": protected && !p.Ruleset, "required_status_checks": map[string]any{"enforcement_level": "off", "contexts": []string{}, "checks": []any{}}}
	if protected && !p.Ruleset && len(p.Checks) > 0 {
		summary["required_status_checks"] = map[string]any{"enforcement_level": "everyone", "contexts": p.Checks, "checks": contexts(p.Checks)}
	}
	at, page := r.sim.apiURL("repos", r.fullName(), "branches", url.PathEscape(name)), r.sim.url+"/"+r.fullName()+"/tree/"+name
	return map[string]any{
		"name": name, "protected": protected, "protection": summary, "protection_url": at + "/protection", "commit": r.commitJSON(sha),
		"_links": map[string]any{"self": at, "html": page},
	}
}

func contexts(names []string) []map[string]any {
	list := []map[string]any{}
	for _, name := range names {
		list = append(list, map[string]any{"context": name, "app_id": nil})
	}
	return list
}

// getRules lists the rules of rulesets. Everybody who can read may see them,
// also for a branch that is not there.
// https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
func (s *Sim) getRules(a *asked) (int, any, error) {
	r, err := a.repo(Read)
	if err != nil {
		return 0, nil, err
	}
	branch := a.PathValue("branch")
	list := []map[string]any{}
	if p := r.rules(branch); p != nil && p.Ruleset {
		list = r.rulesJSON(p)
	}
	for start, d := range r.demands {
		if strings.HasPrefix(branch, start) {
			list = append(list, r.demandsJSON(d)...)
		}
	}
	return http.StatusOK, page(a, list), nil
}

// rule is one rule of a ruleset.
func (r *repo) rule(kind string, parameters map[string]any) map[string]any {
	body := map[string]any{"type": kind, "ruleset_source_type": "Repository", "ruleset_source": r.fullName(), "ruleset_id": 1}
	if parameters != nil {
		body["parameters"] = parameters
	}
	return body
}

func (r *repo) demandsJSON(d Demand) (list []map[string]any) {
	for _, p := range d.Patterns {
		list = append(list, r.rule(p.Type, map[string]any{"name": "", "operator": p.Operator, "pattern": p.Pattern, "negate": p.Negate}))
	}
	if d.Signed {
		list = append(list, r.rule("required_signatures", nil))
	}
	if d.NoCreate {
		list = append(list, r.rule("creation", nil))
	}
	return list
}

func (r *repo) rulesJSON(p *Protection) []map[string]any {
	rule := r.rule
	var list []map[string]any
	if p.Signed {
		list = append(list, rule("required_signatures", nil))
	}
	list = append(list, rule("deletion", nil), rule("non_fast_forward", nil), rule("pull_request", map[string]any{
		"required_approving_review_count": p.Reviews, "require_code_owner_review": p.CodeOwners,
		"dismiss_stale_reviews_on_push": p.DismissStale, "require_last_push_approval": p.LastPush, "required_review_thread_resolution": false,
	}))
	if len(p.Checks) > 0 {
		checks := []map[string]any{}
		for _, name := range p.Checks {
			checks = append(checks, map[string]any{"context": name})
		}
		list = append(list, rule("required_status_checks", map[string]any{"required_status_checks": checks, "strict_required_status_checks_policy": p.Strict}))
	}
	if p.Linear {
		list = append(list, rule("required_linear_history", nil))
	}
	if p.Locked || p.Pushers != nil {
		list = append(list, rule("update", map[string]any{"update_allows_fetch_and_merge": false}))
	}
	if p.Queue != nil {
		list = append(list, rule("merge_queue", map[string]any{
			"check_response_timeout_minutes": 60, "grouping_strategy": "ALLGREEN", "max_entries_to_build": 5, "max_entries_to_merge": 5,
			"merge_method": "MERGE", "min_entries_to_merge": 1, "min_entries_to_merge_wait_minutes": 0,
		}))
	}
	return list
}
