package githubsim

import (
	"net/http"
	"strings"
)

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
	return map[string]any{"ref": "refs/heads/" + branch, "node_id": "REF_" + branch, "url": r.sim.apiURL("repos", r.fullName(), "git/refs/heads", branch),
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
	if why := r.demanded(branch, sha); why != "" {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Repository rule violations found\n\n" + why + "\n\n"}
	}
	r.pusher = a.login
	if err := r.move(branch, sha); err != nil {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Reference name is invalid"}
	}
	return http.StatusCreated, r.refJSON(branch, sha), nil
}

// demanded is what a ruleset has against a new branch; "" if nothing.
func (r *repo) demanded(branch, sha string) string {
	for start, d := range r.demands {
		if !strings.HasPrefix(branch, start) {
			continue
		}
		if d.NoCreate {
			return "Cannot create ref due to creations being restricted."
		}
		if out, err := r.git("rev-list", sha, "--not", "--branches"); d.Signed && err == nil {
			for commit := range strings.FieldsSeq(out) {
				if good, _ := r.verified(commit); !good {
					return "Commits must have verified signatures."
				}
			}
		}
	}
	return ""
}

// patchRef moves a branch. Only forward, if it is not forced.
func (s *Sim) patchRef(a *asked) (int, any, error) {
	r, err := a.repo(Write)
	if err != nil {
		return 0, nil, err
	}
	var want struct {
		SHA   string
		Force bool
	}
	if err := a.body(&want); err != nil {
		return 0, nil, err
	}
	refuse := func(text string) (int, any, error) {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: text}
	}
	branch, ok := strings.CutPrefix(a.PathValue("ref"), "heads/")
	old := r.head(branch)
	sha, known := r.commitOf(want.SHA)
	switch {
	case !ok || old == "":
		return refuse("Reference does not exist")
	case !known:
		return refuse("Object does not exist")
	case r.rules(branch) != nil:
		return refuse("Changes must be made through a pull request.")
	}
	if _, err := r.git("merge-base", "--is-ancestor", old, sha); err != nil && !want.Force {
		return refuse("Update is not a fast forward")
	}
	if err := r.move(branch, sha); err != nil {
		return 0, nil, err
	}
	return http.StatusOK, r.refJSON(branch, sha), nil
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
	if r.rules(branch) != nil {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Cannot delete a protected branch"}
	}
	if _, err := r.git("update-ref", "-d", "refs/heads/"+branch); err != nil {
		return 0, nil, err
	}
	r.arrived()
	return http.StatusNoContent, nil, nil
}

// DeleteBranch deletes a branch, as somebody may who can write.
func (s *Sim) DeleteBranch(fullName, branch string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.repo(fullName)
	if err != nil {
		return err
	}
	if _, err := r.git("update-ref", "-d", "refs/heads/"+branch); err != nil {
		return err
	}
	r.arrived()
	return nil
}
