package githubsim

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
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
		"owner":     map[string]any{"login": r.owner, "type": "Organization"},
		"url":       r.sim.apiURL("repos", r.fullName()),
		"html_url":  r.sim.url + "/" + r.fullName(),
		"clone_url": r.sim.url + "/" + r.fullName() + ".git",
		"permissions": map[string]bool{
			"pull": may >= Read, "triage": may >= Write, "push": may >= Write, "maintain": may >= Admin, "admin": may >= Admin,
		},
	}
	if may >= Write {
		body["allow_merge_commit"] = r.allows("merge")
		body["allow_squash_merge"] = r.allows("squash")
		body["allow_rebase_merge"] = r.allows("rebase")
		body["delete_branch_on_merge"] = r.options.DeleteBranches
	}
	return body
}

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
	if r.may(a.login) < Admin {
		return 0, nil, notFound()
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
		body["required_status_checks"] = map[string]any{"strict": false, "contexts": p.Checks, "checks": contexts(p.Checks)}
	}
	return body
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
		list = append(list, rule("required_status_checks", map[string]any{"required_status_checks": checks, "strict_required_status_checks_policy": false}))
	}
	if p.Linear {
		list = append(list, rule("required_linear_history", nil))
	}
	return http.StatusOK, list, nil
}

func (s *Sim) getRef(a *asked) (int, any, error) {
	r, err := a.repo(Read)
	if err != nil {
		return 0, nil, err
	}
	branch, ok := strings.CutPrefix(a.PathValue("ref"), "heads/")
	if sha := r.head(branch); ok && sha != "" {
		return http.StatusOK, r.refJSON(branch, sha), nil
	}
	return 0, nil, notFound()
}

func (r *repo) refJSON(branch, sha string) map[string]any {
	return map[string]any{"ref": "refs/heads/" + branch, "url": r.sim.apiURL("repos", r.fullName(), "git/refs/heads", branch),
		"object": map[string]any{"type": "commit", "sha": sha, "url": r.sim.apiURL("repos", r.fullName(), "git/commits", sha)}}
}

func (s *Sim) postRef(a *asked) (int, any, error) {
	r, err := a.repo(Write)
	if err != nil {
		return 0, nil, err
	}
	var want struct{ Ref, SHA string }
	if err := a.body(&want); err != nil {
		return 0, nil, err
	}
	branch, ok := strings.CutPrefix(want.Ref, "refs/heads/")
	sha, known := r.commitOf(want.SHA)
	switch {
	case !ok || !known:
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Object does not exist"}
	case r.head(branch) != "":
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Reference already exists"}
	}
	if err := r.move(branch, sha); err != nil {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Reference name is invalid"}
	}
	return http.StatusCreated, r.refJSON(branch, sha), nil
}

func (s *Sim) deleteRef(a *asked) (int, any, error) {
	r, err := a.repo(Write)
	if err != nil {
		return 0, nil, err
	}
	branch, ok := strings.CutPrefix(a.PathValue("ref"), "heads/")
	if !ok || r.head(branch) == "" {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Reference does not exist"}
	}
	if _, ok := r.protected[branch]; ok {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Cannot delete a protected branch"}
	}
	if _, err := r.git("update-ref", "-d", "refs/heads/"+branch); err != nil {
		return 0, nil, err
	}
	return http.StatusNoContent, nil, nil
}

func (s *Sim) getContents(a *asked) (int, any, error) {
	r, err := a.repo(Read)
	if err != nil {
		return 0, nil, err
	}
	revision := a.URL.Query().Get("ref")
	if revision == "" {
		revision = "main"
	}
	sha, ok := r.commitOf(revision)
	if !ok {
		return 0, nil, notFound()
	}
	path := a.PathValue("path")
	content, err := r.git("cat-file", "blob", sha+":"+path)
	if err != nil {
		return 0, nil, notFound()
	}
	return http.StatusOK, map[string]any{
		"type": "file", "encoding": "base64", "path": path, "name": path[strings.LastIndexByte(path, '/')+1:],
		"size": len(content), "content": base64.StdEncoding.EncodeToString([]byte(content)),
		"html_url": r.sim.url + "/" + r.fullName() + "/blob/" + revision + "/" + path,
	}, nil
}

func (s *Sim) getCommits(a *asked) (int, any, error) {
	r, err := a.repo(Read)
	if err != nil {
		return 0, nil, err
	}
	from := a.URL.Query().Get("sha")
	if from == "" {
		from = "main"
	}
	sha, ok := r.commitOf(from)
	if !ok {
		return 0, nil, notFound()
	}
	args := []string{"log", "--format=%H", "--max-count=500", sha}
	if path := a.URL.Query().Get("path"); path != "" {
		args = append(args, "--", path)
	}
	out, err := r.git(args...)
	if err != nil {
		return 0, nil, err
	}
	list := []map[string]any{}
	for _, sha := range page(a, strings.Fields(out)) {
		list = append(list, r.commitJSON(sha))
	}
	return http.StatusOK, list, nil
}

func (s *Sim) getCommit(a *asked) (int, any, error) {
	r, err := a.repo(Read)
	if err != nil {
		return 0, nil, err
	}
	sha, ok := r.commitOf(a.PathValue("sha"))
	if !ok {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "No commit found for SHA: " + a.PathValue("sha")}
	}
	return http.StatusOK, r.commitJSON(sha), nil
}

func (r *repo) commitJSON(sha string) map[string]any {
	out, err := r.git("show", "--no-patch", "--format=%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%P%x00%T%x00%B", sha)
	f := strings.SplitN(out, "\x00", 9)
	if err != nil || len(f) < 9 {
		return nil
	}
	parents := []map[string]any{}
	for p := range strings.FieldsSeq(f[6]) {
		parents = append(parents, map[string]any{"sha": p})
	}
	return map[string]any{
		"sha": sha, "html_url": r.sim.url + "/" + r.fullName() + "/commit/" + sha, "parents": parents,
		"commit": map[string]any{
			"message": strings.TrimRight(f[8], "\n"), "tree": map[string]any{"sha": f[7]},
			"author":    map[string]any{"name": f[0], "email": f[1], "date": f[2]},
			"committer": map[string]any{"name": f[3], "email": f[4], "date": f[5]},
		},
	}
}

// files are those that a head changes since it left a base.
func (r *repo) files(base, head string) []string {
	out, err := r.git("diff", "--name-only", base+"..."+head)
	if err != nil {
		return nil
	}
	return slices.Collect(strings.FieldsSeq(out))
}
