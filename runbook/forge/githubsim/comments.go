package githubsim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

type comment struct {
	id           int64
	author, body string
	at, updated  time.Time
}

func (s *Sim) getComments(a *asked) (int, any, error) {
	r, p, err := a.pull(Read)
	if err != nil {
		return 0, nil, err
	}
	list := []map[string]any{}
	for _, c := range p.comments {
		list = append(list, r.commentJSON(p, c))
	}
	return http.StatusOK, page(a, list), nil
}

func (r *repo) commentJSON(p *pull, c *comment) map[string]any {
	id := strconv.FormatInt(c.id, 10)
	return map[string]any{
		"id": c.id, "node_id": node("IssueComment", c.id), "body": c.body, "user": r.sim.userJSON(c.author), "created_at": stamp(c.at), "updated_at": stamp(c.updated),
		"url": r.sim.apiURL("repos", r.fullName(), "issues/comments", id), "issue_url": r.sim.apiURL("repos", r.fullName(), "issues", strconv.Itoa(p.number)),
		"html_url": fmt.Sprintf("%s/%s/pull/%d#issuecomment-%s", r.sim.url, r.fullName(), p.number, id), "author_association": "MEMBER",
	}
}

func (s *Sim) postComment(a *asked) (int, any, error) {
	r, p, err := a.pull(Read)
	if err != nil {
		return 0, nil, err
	}
	var want struct{ Body string }
	if err := a.body(&want); err != nil {
		return 0, nil, err
	}
	if strings.TrimSpace(want.Body) == "" {
		return 0, nil, invalid("IssueComment", "body cannot be blank")
	}
	c := &comment{id: s.id(), author: a.login, body: want.Body, at: s.now(), updated: s.now()}
	p.comments = append(p.comments, c)
	return http.StatusCreated, r.commentJSON(p, c), nil
}

// patchComment changes a comment: its author may, and who may write.
func (s *Sim) patchComment(a *asked) (int, any, error) {
	r, err := a.repo(Read)
	if err != nil {
		return 0, nil, err
	}
	var want struct{ Body string }
	if err := a.body(&want); err != nil {
		return 0, nil, err
	}
	for _, p := range r.pulls {
		for _, c := range p.comments {
			if strconv.FormatInt(c.id, 10) != a.PathValue("id") {
				continue
			}
			switch {
			case c.author != a.login && r.may(a.login) < Write:
				return 0, nil, &failure{status: http.StatusForbidden, message: "Must have write rights to Repository."}
			case strings.TrimSpace(want.Body) == "":
				return 0, nil, invalid("IssueComment", "body cannot be blank")
			}
			c.body, c.updated = want.Body, s.now()
			return http.StatusOK, r.commentJSON(p, c), nil
		}
	}
	return 0, nil, notFound()
}

// labels come as a list, or as an object that holds one.
// https://docs.github.com/en/rest/issues/labels#add-labels-to-an-issue
type labels []string

func (l *labels) UnmarshalJSON(raw []byte) error {
	var list []string
	if err := json.Unmarshal(raw, &list); err == nil {
		*l = list
		return nil
	}
	var object struct{ Labels []string }
	err := json.Unmarshal(raw, &object)
	*l = object.Labels
	return err
}

func (s *Sim) postLabels(a *asked) (int, any, error) {
	r, p, err := a.pull(Write)
	if err != nil {
		return 0, nil, err
	}
	var want labels
	if err := a.body(&want); err != nil {
		return 0, nil, err
	}
	for _, name := range want {
		p.labels = appendNew(p.labels, name)
	}
	return http.StatusOK, r.pullJSON(p, false)["labels"], nil
}

// postAssignees leaves out who can't be assigned, without a word.
// https://docs.github.com/en/rest/issues/assignees#add-assignees-to-an-issue
func (s *Sim) postAssignees(a *asked) (int, any, error) {
	r, p, err := a.pull(Write)
	if err != nil {
		return 0, nil, err
	}
	var want struct{ Assignees []string }
	if err := a.body(&want); err != nil {
		return 0, nil, err
	}
	for _, login := range want.Assignees {
		if r.may(login) >= Read {
			p.assigned = appendNew(p.assigned, login)
		}
	}
	return http.StatusCreated, r.issueJSON(p), nil
}

// issueJSON is a pull request as an issue, which it is besides.
func (r *repo) issueJSON(p *pull) map[string]any {
	full := r.pullJSON(p, false)
	at, page := full["issue_url"], full["html_url"]
	body := map[string]any{
		"repository_url": r.sim.apiURL("repos", r.fullName()), "labels_url": fmt.Sprint(at, "/labels{/name}"), "events_url": fmt.Sprint(at, "/events"),
		"comments": len(p.comments), "state_reason": nil, "url": at, "html_url": page,
		"pull_request": map[string]any{"url": full["url"], "html_url": page, "diff_url": full["diff_url"], "patch_url": full["patch_url"]},
	}
	for _, key := range []string{"id", "node_id", "number", "state", "title", "body", "user", "labels", "assignee", "assignees", "milestone", "locked", "comments_url", "created_at", "updated_at", "closed_at", "author_association"} {
		body[key] = full[key]
	}
	return body
}
