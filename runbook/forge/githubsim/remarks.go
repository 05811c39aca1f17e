package githubsim

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// remark is a comment on a line of the diff.
type remark struct {
	id                 int64
	author, path, body string
	line               int
	sha                string
	at                 time.Time
}

// Remark has somebody comment on a line of a pull request's diff.
func (s *Sim) Remark(fullName string, number int, login, path string, line int, body string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.repo(fullName)
	if err != nil {
		return err
	}
	if number < 1 || number > len(r.pulls) || r.may(login) < Read {
		return fmt.Errorf("there is no pull request #%d in %s that %s sees", number, fullName, login)
	}
	p := r.pulls[number-1]
	p.remarks = append(p.remarks, &remark{s.id(), login, path, body, line, p.headSHA, s.now()})
	p.updated = s.now()
	return nil
}

// getRemarks lists them. With since, only those that are new since then.
// https://docs.github.com/en/rest/pulls/comments#list-review-comments-on-a-pull-request
func (s *Sim) getRemarks(a *asked) (int, any, error) {
	r, p, err := a.pull(Read)
	if err != nil {
		return 0, nil, err
	}
	list := []map[string]any{}
	for _, m := range p.remarks {
		at := s.apiURL("repos", r.fullName(), "pulls/comments", strconv.FormatInt(m.id, 10))
		pull := s.apiURL("repos", r.fullName(), "pulls", strconv.Itoa(p.number))
		page := fmt.Sprintf("%s/%s/pull/%d#discussion_r%d", s.url, r.fullName(), p.number, m.id)
		href := func(url string) map[string]any { return map[string]any{"href": url} }
		list = append(list, map[string]any{
			"id": m.id, "node_id": node("PullRequestReviewComment", m.id), "pull_request_review_id": nil, "diff_hunk": "@@", "path": m.path, "line": m.line,
			"original_line": m.line, "position": m.line, "original_position": m.line, "side": "RIGHT", "subject_type": "line", "commit_id": m.sha,
			"original_commit_id": m.sha, "user": s.userJSON(m.author), "body": m.body, "created_at": stamp(m.at), "updated_at": stamp(m.at),
			"html_url": page, "pull_request_url": pull, "url": at, "author_association": "MEMBER",
			"_links": map[string]any{"self": href(at), "html": href(page), "pull_request": href(pull)},
		})
	}
	return http.StatusOK, page(a, list), nil
}
