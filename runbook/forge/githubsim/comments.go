package githubsim

import (
	"encoding/json"
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
	_, p, err := a.pull(Read)
	if err != nil {
		return 0, nil, err
	}
	list := []map[string]any{}
	for _, c := range p.comments {
		list = append(list, s.commentJSON(c))
	}
	return http.StatusOK, page(a, list), nil
}

func (s *Sim) commentJSON(c *comment) map[string]any {
	return map[string]any{"id": c.id, "body": c.body, "user": s.userJSON(c.author), "created_at": stamp(c.at), "updated_at": stamp(c.updated)}
}

func (s *Sim) postComment(a *asked) (int, any, error) {
	_, p, err := a.pull(Read)
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
	return http.StatusCreated, s.commentJSON(c), nil
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
			return http.StatusOK, s.commentJSON(c), nil
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
