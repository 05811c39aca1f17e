package githubsim

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

func (s *Sim) getUser(a *asked) (int, any, error) {
	body := s.userJSON(a.login)
	since := stamp(time.Unix(0, 0))
	for key, value := range map[string]any{
		"bio": nil, "blog": nil, "company": nil, "hireable": nil, "location": nil, "created_at": since, "updated_at": since, "two_factor_authentication": true,
		"followers": 0, "following": 0, "public_gists": 0, "public_repos": 0, "collaborators": 0, "disk_usage": 0, "owned_private_repos": 0,
		"private_gists": 0, "total_private_repos": 0,
	} {
		body[key] = value
	}
	return http.StatusOK, body, nil
}

func (s *Sim) getNamedUser(a *asked) (int, any, error) {
	if _, ok := s.users[a.PathValue("login")]; !ok {
		return 0, nil, notFound()
	}
	return s.getAccount(a.PathValue("login"))
}

// getAccount is an account as others see it.
func (s *Sim) getAccount(login string) (int, any, error) {
	body := s.userJSON(login)
	since := stamp(time.Unix(0, 0))
	for key, value := range map[string]any{
		"bio": nil, "blog": nil, "company": nil, "hireable": nil, "location": nil, "created_at": since, "updated_at": since,
		"followers": 0, "following": 0, "public_gists": 0, "public_repos": 0,
	} {
		body[key] = value
	}
	return http.StatusOK, body, nil
}

func (s *Sim) userJSON(login string) map[string]any {
	u, ok := s.users[login]
	if !ok {
		return nil
	}
	kind, page := "User", s.url+"/"+login
	if u.bot {
		kind, page = "Bot", s.url+"/apps/"+strings.TrimSuffix(login, "[bot]")
	}
	body := s.accountJSON(login, u.id, kind)
	body["html_url"], body["name"], body["email"] = page, orNull(u.Name), orNull(u.Email)
	return body
}

// ownerJSON is a person or, if there is none of that name, an organisation.
func (s *Sim) ownerJSON(login string) map[string]any {
	if body := s.userJSON(login); body != nil {
		return body
	}
	var id int64 = 1 << 20
	for _, c := range login {
		id = id*31%(1<<30) + int64(c)
	}
	return s.accountJSON(login, id, "Organization")
}

func (s *Sim) isPerson(login string) bool { return s.users[login] != nil }

// accountJSON is what all accounts have in common.
func (s *Sim) accountJSON(login string, id int64, kind string) map[string]any {
	at := s.apiURL("users", url.PathEscape(login))
	return map[string]any{
		"login": login, "id": id, "node_id": node(kind, id), "avatar_url": s.url + "/avatars/u/" + strconv.FormatInt(id, 10), "gravatar_id": "",
		"url": at, "html_url": s.url + "/" + login, "followers_url": at + "/followers", "following_url": at + "/following{/other_user}",
		"gists_url": at + "/gists{/gist_id}", "starred_url": at + "/starred{/owner}{/repo}", "subscriptions_url": at + "/subscriptions",
		"organizations_url": at + "/orgs", "repos_url": at + "/repos", "events_url": at + "/events{/privacy}",
		"received_events_url": at + "/received_events", "type": kind, "site_admin": false, "user_view_type": "public",
	}
}

// node is a global id, which GraphQL goes by.
func node(kind string, id int64) string {
	return base64.RawURLEncoding.EncodeToString([]byte(kind + ":" + strconv.FormatInt(id, 10)))
}

// orNull is null where GitHub has nothing to say.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func (s *Sim) getMeta(*asked) (int, any, error) {
	return http.StatusOK, map[string]any{"installed_version": version, "verifiable_password_authentication": false}, nil
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
