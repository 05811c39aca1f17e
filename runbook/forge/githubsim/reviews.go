package githubsim

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// review is somebody's word on one commit of a pull request.
type review struct {
	id                       int64
	author, state, body, sha string
	at                       time.Time
}

func (r *repo) reviewJSON(p *pull, v *review) map[string]any {
	page := fmt.Sprintf("%s/%s/pull/%d#pullrequestreview-%d", r.sim.url, r.fullName(), p.number, v.id)
	pull := r.sim.apiURL("repos", r.fullName(), "pulls", strconv.Itoa(p.number))
	return map[string]any{
		"id": v.id, "node_id": node("PullRequestReview", v.id), "user": r.sim.userJSON(v.author), "state": v.state, "body": v.body, "commit_id": v.sha,
		"submitted_at": stamp(v.at), "html_url": page, "pull_request_url": pull, "author_association": "MEMBER",
		"_links": map[string]any{"html": map[string]any{"href": page}, "pull_request": map[string]any{"href": pull}},
	}
}

func (s *Sim) getReviews(a *asked) (int, any, error) {
	r, p, err := a.pull(Read)
	if err != nil {
		return 0, nil, err
	}
	r.dismissStale(p)
	list := []map[string]any{}
	for _, v := range p.reviews {
		list = append(list, r.reviewJSON(p, v))
	}
	return http.StatusOK, page(a, list), nil
}

func (s *Sim) postReview(a *asked) (int, any, error) {
	r, p, err := a.pull(Read)
	if err != nil {
		return 0, nil, err
	}
	var want struct{ Event, Body string }
	if err := a.body(&want); err != nil {
		return 0, nil, err
	}
	if event := strings.ToUpper(want.Event); event != "APPROVE" && strings.TrimSpace(want.Body) == "" {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Unprocessable Entity: Review comments and body are missing"}
	}
	v, err := r.review(p, a.login, want.Event, want.Body)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, r.reviewJSON(p, v), nil
}

// Review gives a review as somebody: APPROVE, REQUEST_CHANGES or COMMENT.
func (s *Sim) Review(fullName string, number int, login, event string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.repo(fullName)
	if err != nil {
		return err
	}
	if number < 1 || number > len(r.pulls) {
		return fmt.Errorf("there is no pull request #%d in %s", number, fullName)
	}
	_, err = r.review(r.pulls[number-1], login, event, "")
	return err
}

func (r *repo) review(p *pull, login, event, body string) (*review, error) {
	r.follow(p)
	states := map[string]string{"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}
	state, ok := states[strings.ToUpper(event)]
	switch {
	case !ok:
		return nil, invalid("PullRequestReview", "event is not one of APPROVE, REQUEST_CHANGES, COMMENT")
	case r.may(login) < Read:
		return nil, notFound()
	case login == p.author && state == "APPROVED":
		return nil, &failure{status: 422, message: "Unprocessable Entity: Can not approve your own pull request"}
	case login == p.author && state == "CHANGES_REQUESTED":
		return nil, &failure{status: 422, message: "Unprocessable Entity: Can not request changes on your own pull request"}
	}
	v := &review{id: r.sim.id(), author: login, state: state, body: body, sha: p.headSHA, at: r.sim.now()}
	p.reviews = append(p.reviews, v)
	p.updated = r.sim.now()
	return v, nil
}

// standing is each reviewer's last word that counts.
func (r *repo) standing(p *pull) map[string]string {
	r.dismissStale(p)
	last := map[string]string{}
	for _, v := range p.reviews {
		if v.state != "COMMENTED" {
			last[v.author] = v.state
		}
	}
	return last
}

// outdated is what a strict branch says to a head that lacks its commits.
const outdated = "The head branch is not up to date with the base branch."

// unmet lists what the base branch still asks of a pull request.
func (r *repo) unmet(p *pull) []string {
	rules := r.rules(p.base)
	if rules == nil {
		return nil
	}
	var list []string
	if rules.Locked {
		list = append(list, "Cannot change this locked branch")
	}
	if rules.Signed && !r.allVerified(p) {
		list = append(list, "Commits must have verified signatures.")
	}
	words := r.standing(p)
	approvals, changes := 0, false
	for login, state := range words {
		// Only the word of those who may write counts.
		if r.may(login) < Write || rules.LastPush && login == p.pusher {
			continue
		}
		approvals += map[bool]int{true: 1}[state == "APPROVED"]
		changes = changes || state == "CHANGES_REQUESTED"
	}
	if changes {
		list = append(list, "Changes have been requested by a reviewer with write access.")
	}
	if approvals < rules.Reviews {
		word := "review is"
		if rules.Reviews > 1 {
			word = "reviews are"
		}
		list = append(list, fmt.Sprintf("At least %d approving %s required by reviewers with write access.", rules.Reviews, word))
	}
	if rules.CodeOwners && !r.ownersAgree(p, words) {
		list = append(list, "Waiting on code owner review.")
	}
	for _, name := range rules.Checks {
		if passed, failed := r.passed(p.headSHA, name); failed {
			list = append(list, fmt.Sprintf("Required status check %q is failing.", name))
		} else if !passed {
			list = append(list, fmt.Sprintf("Required status check %q is expected.", name))
		}
	}
	if rules.Strict && r.isBehind(p) {
		list = append(list, outdated)
	}
	return list
}
