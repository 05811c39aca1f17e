package ticketsim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// jira answers as Jira does, Cloud or Data Center.
// https://developer.atlassian.com/cloud/jira/platform/rest/v3/api-group-issue-comments/
func (s *Sim) jira(c call) reply {
	if !s.jiraKnows(c.Request) {
		return jiraSaid(http.StatusUnauthorized, "Client must be authenticated to access this resource.")
	}
	switch {
	case strings.HasSuffix(c.op.Path, "/myself"):
		return reply{status: http.StatusOK, body: s.jiraUser(Me)}
	case strings.HasSuffix(c.op.Path, "/serverInfo"):
		kind := "Server"
		if s.kind == JiraCloud {
			kind = "Cloud"
		}
		return reply{status: http.StatusOK, body: object{"baseUrl": s.url, "version": "9.17.0", "deploymentType": kind}}
	case strings.HasSuffix(c.op.Path, "/mypermissions"):
		all := object{}
		for _, p := range strings.Split(c.URL.Query().Get("permissions"), ",") {
			all[p] = object{"key": p, "havePermission": true}
		}
		return reply{status: http.StatusOK, body: object{"permissions": all}}
	}
	t := s.tickets[number(strings.TrimPrefix(c.names["issueIdOrKey"], "OPS-"))]
	writes := c.Method != http.MethodGet
	switch {
	case t == nil, t.condition == Hidden, t.condition == Deleted:
		return jiraSaid(http.StatusNotFound, "Issue does not exist or you do not have permission to see it.")
	case writes && t.condition == Forbidden:
		return jiraSaid(http.StatusForbidden, "You do not have the permission to comment on this issue.")
	case writes && t.condition == Locked:
		return jiraSaid(http.StatusForbidden, "The workflow does not let you comment on this issue.")
	}
	return s.jiraIssue(c, t)
}

func (s *Sim) jiraKnows(r *http.Request) bool {
	user, token, basic := r.BasicAuth()
	if s.kind == JiraCloud {
		return basic && user == Email && token == Token
	}
	return r.Header.Get("Authorization") == "Bearer "+Token
}

func (s *Sim) jiraIssue(c call, t *ticket) reply {
	var sent struct{ Body json.RawMessage }
	if len(c.body) > 0 {
		if err := json.Unmarshal(c.body, &sent); err != nil {
			return jiraSaid(http.StatusBadRequest, "There was an error parsing JSON.")
		}
		if len([]rune(s.jiraText(sent.Body))) > 32767 {
			return jiraSaid(http.StatusBadRequest, "The entered text is too long.")
		}
	}
	switch {
	case c.Method == http.MethodPut:
		of, comment := s.comment(number(c.names["id"]))
		if of != t {
			return jiraSaid(http.StatusNotFound, "Can not find a comment for the id: "+c.names["id"])
		}
		if comment.By != Me {
			return jiraSaid(http.StatusForbidden, "You do not have the permission to edit this comment.")
		}
		comment.Text, comment.Edited = s.jiraText(sent.Body), comment.Edited+1
		return reply{status: http.StatusOK, body: s.jiraComment(*comment)}
	case c.Method == http.MethodPost:
		return reply{status: http.StatusCreated, body: s.jiraComment(*s.add(t, Me, s.jiraText(sent.Body)))}
	case strings.HasSuffix(c.URL.Path, "/comment"):
		return s.jiraPage(c, t)
	}
	n, category := t.number, "indeterminate"
	if t.condition == Moved {
		n++
	}
	if t.condition == Closed || t.condition == Locked {
		category = "done"
	}
	return reply{status: http.StatusOK, body: object{
		"id": strconv.Itoa(10000 + n), "key": fmt.Sprintf("OPS-%d", n), "self": s.url + "/rest/api/2/issue/10000",
		"fields": object{"status": object{"name": "In Progress", "statusCategory": object{"id": 4, "key": category}}},
	}}
}

// jiraText is a body as it is kept: a string in version 2, JSON in version 3.
func (s *Sim) jiraText(body json.RawMessage) string {
	if s.kind == JiraCloud {
		return string(body)
	}
	var text string
	_ = json.Unmarshal(body, &text) // the schema has checked it
	return text
}

func (s *Sim) jiraPage(c call, t *ticket) reply {
	q := c.URL.Query()
	list := slices.Clone(t.comments)
	if q.Get("orderBy") == "-created" {
		slices.Reverse(list)
	}
	// Servers give fewer than they are asked for.
	start, most := number(q.Get("startAt")), min(number(q.Get("maxResults")), 50)
	out := []object{}
	for _, one := range list[min(start, len(list)):min(start+most, len(list))] {
		out = append(out, s.jiraComment(one))
	}
	return reply{status: http.StatusOK, body: object{"startAt": start, "maxResults": most, "total": len(list), "comments": out}}
}

func jiraSaid(status int, message string) reply {
	return reply{status: status, body: object{"errorMessages": []string{message}, "errors": object{}}}
}

func (s *Sim) jiraUser(name string) object {
	if s.kind == JiraCloud {
		return object{"accountId": "5b10ac8d82e05b22cc7d:" + name, "displayName": name, "active": true, "self": s.url + "/rest/api/3/user?accountId=" + name}
	}
	return object{"key": "JIRAUSER" + name, "name": name, "displayName": name, "active": true}
}

func (s *Sim) jiraComment(c Comment) object {
	at := c.At.UTC().Format("2006-01-02T15:04:05.000-0700")
	out := object{"id": strconv.Itoa(c.ID), "author": s.jiraUser(c.By), "updateAuthor": s.jiraUser(c.By), "created": at, "updated": at, "body": any(c.Text)}
	if s.kind == JiraCloud {
		out["body"] = json.RawMessage(document(c.Text))
	}
	return out
}

// document is a comment's text as a document: people's is made into one.
func document(text string) string {
	if json.Valid([]byte(text)) {
		return text
	}
	content := []object{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			content = append(content, object{"type": "paragraph", "content": []object{{"type": "text", "text": line}}})
		}
	}
	raw, _ := json.Marshal(object{"type": "doc", "version": 1, "content": content}) // maps of strings encode
	return string(raw)
}

// stampOf is for people.
func stampOf(t time.Time) string { return t.UTC().Format("15:04:05 UTC") }
