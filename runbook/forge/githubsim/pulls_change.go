package githubsim

import (
	"fmt"
	"net/http"
	"time"
)

func (s *Sim) patchPull(a *asked) (int, any, error) {
	r, p, err := a.pull(Write)
	if err != nil {
		return 0, nil, err
	}
	var want struct {
		Title, Body, State *string
	}
	if err := a.body(&want); err != nil {
		return 0, nil, err
	}
	if want.Title != nil {
		p.title = *want.Title
	}
	if want.Body != nil {
		p.body = *want.Body
	}
	if want.State != nil {
		if err := r.setState(p, *want.State); err != nil {
			return 0, nil, err
		}
	}
	p.updated = s.now()
	return http.StatusOK, r.pullJSON(p, true), nil
}

func (r *repo) setState(p *pull, state string) error {
	switch {
	case state == "closed" && p.closed.IsZero():
		p.closed = r.sim.now()
	case state == "open" && !p.merged.IsZero():
		return invalid("PullRequest", "state cannot be changed. The pull request was merged.")
	case state == "open" && !p.closed.IsZero():
		if r.head(p.head) == "" {
			return invalid("PullRequest", "state cannot be changed. The "+p.head+" branch has been deleted.")
		}
		p.closed = time.Time{}
	}
	return nil
}

// ClosePull closes a pull request without a merge.
func (s *Sim) ClosePull(fullName string, number int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.repo(fullName)
	if err != nil {
		return err
	}
	if number < 1 || number > len(r.pulls) {
		return fmt.Errorf("there is no pull request #%d in %s", number, fullName)
	}
	return r.setState(r.pulls[number-1], "closed")
}
