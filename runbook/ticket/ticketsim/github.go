package ticketsim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

type object = map[string]any

// github answers as GitHub's REST API does.
// https://docs.github.com/en/rest/issues/comments
func (s *Sim) github(c call) reply {
	if c.Header.Get("Authorization") != "Bearer "+Token {
		return said(http.StatusUnauthorized, "Bad credentials")
	}
	if c.op.Path == "/user" {
		return reply{status: http.StatusOK, body: s.githubMe()}
	}
	var t *ticket
	var of *Comment
	if id := c.names["comment_id"]; id != "" {
		t, of = s.comment(number(id))
	} else if c.names["owner"] == "acme" && c.names["repo"] == "ops" {
		t = s.tickets[number(c.names["issue_number"])]
	}
	if t == nil {
		return said(http.StatusNotFound, "Not Found")
	}
	writes := c.Method != http.MethodGet
	switch {
	case t.condition == Hidden:
		return said(http.StatusNotFound, "Not Found")
	case t.condition == Deleted:
		return said(http.StatusGone, "This issue was deleted")
	case t.condition == Moved:
		to := fmt.Sprintf("%s/api/v3/repos/acme/ops/issues/%d", s.url, t.number+1)
		return reply{status: http.StatusMovedPermanently, header: map[string]string{"Location": to}, body: object{"message": "Moved Permanently", "url": to}}
	case writes && t.condition == Forbidden:
		return said(http.StatusForbidden, "Resource not accessible by personal access token")
	case writes && t.condition == Locked:
		return said(http.StatusForbidden, "Unable to create comment because issue is locked.")
	}
	return s.githubIssue(c, t, of)
}

func (s *Sim) githubIssue(c call, t *ticket, of *Comment) reply {
	var sent struct{ Body string }
	if len(c.body) > 0 {
		if err := json.Unmarshal(c.body, &sent); err != nil {
			return said(http.StatusBadRequest, "Problems parsing JSON")
		}
		if len([]rune(sent.Body)) > 65536 {
			return said(http.StatusUnprocessableEntity, "body is too long (maximum is 65536 characters)")
		}
	}
	switch {
	case of != nil && of.By != Me:
		return said(http.StatusForbidden, "Must have admin rights to Repository.")
	case of != nil:
		of.Text, of.Edited = sent.Body, of.Edited+1
		return reply{status: http.StatusOK, body: s.githubComment(t, *of)}
	case c.Method == http.MethodPost:
		return reply{status: http.StatusCreated, body: s.githubComment(t, *s.add(t, Me, sent.Body))}
	case strings.HasSuffix(c.URL.Path, "/comments"):
		return s.githubPage(c, t)
	}
	return reply{status: http.StatusOK, body: s.githubTicket(t)}
}

// githubPage lists comments in pages, with the Link header that leads on.
// https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api
func (s *Sim) githubPage(c call, t *ticket) reply {
	q := c.URL.Query()
	per, page := number(q.Get("per_page")), max(number(q.Get("page")), 1)
	if per < 1 || per > 100 {
		per = 30
	}
	since, _ := time.Parse(time.RFC3339, q.Get("since")) // the schema has checked it
	list := []object{}
	for _, one := range t.comments {
		if !one.At.Before(since) {
			list = append(list, s.githubComment(t, one))
		}
	}
	from := min((page-1)*per, len(list))
	to := min(from+per, len(list))
	out := reply{status: http.StatusOK, body: list[from:to]}
	if to < len(list) {
		q.Set("page", fmt.Sprint(page+1))
		out.header = map[string]string{"Link": fmt.Sprintf(`<%s%s?%s>; rel="next"`, s.url, c.URL.Path, q.Encode())}
	}
	return out
}

func said(status int, message string) reply {
	return reply{status: status, body: object{"message": message, "documentation_url": "https://docs.github.com/rest"}}
}

func (s *Sim) githubUser(login string) object {
	u := object{
		"login": login, "id": 1 + len(login), "node_id": "U_" + login, "type": "User", "site_admin": false,
		"gravatar_id": "", "avatar_url": s.url + "/avatars/" + login, "url": s.url + "/api/v3/users/" + login, "html_url": s.url + "/" + login,
	}
	for _, rel := range []string{"followers", "following", "gists", "starred", "subscriptions", "organizations", "repos", "events", "received_events"} {
		u[rel+"_url"] = s.url + "/api/v3/users/" + login + "/" + rel
	}
	return u
}

func (s *Sim) githubMe() object {
	u := s.githubUser(Me)
	for key, value := range (object{
		"name": Me, "company": nil, "blog": nil, "location": nil, "email": nil, "hireable": nil, "bio": nil, "public_repos": 0, "public_gists": 0,
		"followers": 0, "following": 0, "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
		"private_gists": 0, "total_private_repos": 0, "owned_private_repos": 0, "disk_usage": 0, "collaborators": 0, "two_factor_authentication": true,
	}) {
		u[key] = value
	}
	return u
}

func (s *Sim) githubComment(t *ticket, c Comment) object {
	at := c.At.UTC().Format(time.RFC3339)
	return object{
		"id": c.ID, "node_id": fmt.Sprintf("IC_%d", c.ID), "url": fmt.Sprintf("%s/api/v3/repos/acme/ops/issues/comments/%d", s.url, c.ID),
		"html_url":  fmt.Sprintf("%s#issuecomment-%d", s.Address(t.number), c.ID),
		"issue_url": fmt.Sprintf("%s/api/v3/repos/acme/ops/issues/%d", s.url, t.number),
		"body":      c.Text, "user": s.githubUser(c.By), "created_at": at, "updated_at": at, "author_association": "MEMBER",
	}
}

func (s *Sim) githubTicket(t *ticket) object {
	api := fmt.Sprintf("%s/api/v3/repos/acme/ops/issues/%d", s.url, t.number)
	state, closed := "open", any(nil)
	if t.condition == Closed || t.condition == Locked {
		state, closed = "closed", "2026-01-02T00:00:00Z"
	}
	return object{
		"id": t.number, "node_id": fmt.Sprintf("I_%d", t.number), "number": t.number, "title": fmt.Sprintf("Incident %d", t.number), "state": state,
		"locked": t.condition == Locked, "html_url": s.Address(t.number), "url": api, "repository_url": s.url + "/api/v3/repos/acme/ops",
		"labels_url": api + "/labels{/name}", "comments_url": api + "/comments", "events_url": api + "/events", "labels": []any{},
		"user": s.githubUser("alice"), "assignee": nil, "assignees": []any{}, "milestone": nil, "comments": len(t.comments),
		"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "closed_at": closed, "author_association": "MEMBER",
	}
}
