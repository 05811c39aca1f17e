package githubsim

import "net/http"

// isBehind tells whether the base has commits that the head lacks.
func (r *repo) isBehind(p *pull) bool {
	_, err := r.git("merge-base", "--is-ancestor", p.baseSHA, p.headSHA)
	return err != nil
}

// putUpdateBranch merges the base into the head.
// https://docs.github.com/en/rest/pulls/pulls#update-a-pull-request-branch
func (s *Sim) putUpdateBranch(a *asked) (int, any, error) {
	r, p, err := a.pull(Write)
	if err != nil {
		return 0, nil, err
	}
	var want struct {
		Expected string `json:"expected_head_sha"`
	}
	if err := a.body(&want); err != nil {
		return 0, nil, err
	}
	r.follow(p)
	refuse := func(text string) (int, any, error) {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: text}
	}
	switch {
	case !p.closed.IsZero():
		return refuse("Pull request is closed.")
	case want.Expected != "" && want.Expected != p.headSHA:
		return refuse("expected head sha didn't match current head ref.")
	case !r.isBehind(p):
		return refuse("There are no new commits on the base branch.")
	}
	tree, err := r.git("merge-tree", "--write-tree", p.headSHA, p.baseSHA)
	if err != nil {
		return refuse("merge conflict between base and head")
	}
	message := "Merge branch '" + p.base + "' into " + p.head
	sha, err := r.commitTree(tree, Change{Author: a.login, Message: message}, p.headSHA, p.baseSHA)
	if err != nil {
		return 0, nil, err
	}
	if err := r.move(p.head, sha); err != nil {
		return 0, nil, err
	}
	return http.StatusAccepted, map[string]any{"message": "Updating pull request branch.", "url": s.apiURL("repos", r.fullName(), "pulls", a.PathValue("number"))}, nil
}
