package githubsim

import (
	"maps"
	"net/http"
	"slices"
)

// getCollaborators lists who may read, for those who may push.
// https://docs.github.com/en/rest/collaborators/collaborators
func (s *Sim) getCollaborators(a *asked) (int, any, error) {
	r, err := a.repo(Read)
	if err != nil {
		return 0, nil, err
	}
	if r.may(a.login) < Write {
		return 0, nil, &failure{status: http.StatusForbidden, message: "Must have push access to view repository collaborators."}
	}
	list := []map[string]any{}
	for _, login := range slices.Sorted(maps.Keys(r.options.Access)) {
		user := s.userJSON(login)
		if user == nil || r.may(login) < Read {
			continue
		}
		user["permissions"], user["role_name"] = r.rights(login), r.may(login).String()
		list = append(list, user)
	}
	return http.StatusOK, page(a, list), nil
}

// getCollaborator answers 204 or 404.
func (s *Sim) getCollaborator(a *asked) (int, any, error) {
	r, err := a.repo(Read)
	if err != nil {
		return 0, nil, err
	}
	if r.may(a.PathValue("login")) < Read {
		return 0, nil, notFound()
	}
	return http.StatusNoContent, nil, nil
}

func (s *Sim) getPermission(a *asked) (int, any, error) {
	r, err := a.repo(Read)
	if err != nil {
		return 0, nil, err
	}
	login := a.PathValue("login")
	user := s.userJSON(login)
	if user == nil {
		return 0, nil, notFound()
	}
	return http.StatusOK, map[string]any{"permission": r.may(login).String(), "role_name": r.may(login).String(), "user": user}, nil
}

// rights are a permission in the words of a repository's JSON.
func (r *repo) rights(login string) map[string]bool {
	may := r.may(login)
	return map[string]bool{"pull": may >= Read, "triage": may >= Write, "push": may >= Write, "maintain": may >= Admin, "admin": may >= Admin}
}
