package githubsim

import "net/http"

func (s *Sim) getUser(a *asked) (int, any, error) {
	return http.StatusOK, s.userJSON(a.login), nil
}

func (s *Sim) getNamedUser(a *asked) (int, any, error) {
	if _, ok := s.users[a.PathValue("login")]; !ok {
		return 0, nil, notFound()
	}
	return http.StatusOK, s.userJSON(a.PathValue("login")), nil
}

func (s *Sim) userJSON(login string) map[string]any {
	u, ok := s.users[login]
	if !ok {
		return nil
	}
	return map[string]any{
		"login": login, "id": u.id, "type": "User", "site_admin": false, "name": u.Name, "email": u.Email,
		"url": s.apiURL("users", login), "html_url": s.url + "/" + login,
	}
}

func (s *Sim) getMeta(*asked) (int, any, error) {
	return http.StatusOK, map[string]any{"installed_version": "3.14.0", "verifiable_password_authentication": false}, nil
}

func (s *Sim) getTeamMembers(a *asked) (int, any, error) {
	members, ok := s.teams[a.PathValue("org")+"/"+a.PathValue("team")]
	if !ok {
		return 0, nil, notFound()
	}
	list := []map[string]any{}
	for _, login := range members {
		list = append(list, s.userJSON(login))
	}
	return http.StatusOK, page(a, list), nil
}
