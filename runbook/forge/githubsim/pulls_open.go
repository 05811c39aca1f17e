package githubsim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

func (s *Sim) postPull(a *asked) (int, any, error) {
	r, err := a.repo(Read)
	if err != nil {
		return 0, nil, err
	}
	var want struct {
		Title, Head, Base, Body string
		Draft                   bool
	}
	if err := a.body(&want); err != nil {
		return 0, nil, err
	}
	want.Head = strings.TrimPrefix(want.Head, r.owner+":")
	head, base := r.head(want.Head), r.head(want.Base)
	switch {
	case head == "":
		return 0, nil, &failure{status: 422, message: "Validation Failed", errors: []map[string]string{{"resource": "PullRequest", "field": "head", "code": "invalid"}}}
	case base == "":
		return 0, nil, &failure{status: 422, message: "Validation Failed", errors: []map[string]string{{"resource": "PullRequest", "field": "base", "code": "invalid"}}}
	case slices.ContainsFunc(r.pulls, func(p *pull) bool { return p.closed.IsZero() && p.head == want.Head && p.base == want.Base }):
		return 0, nil, invalid("PullRequest", fmt.Sprintf("A pull request already exists for %s:%s.", r.owner, want.Head))
	}
	if out, err := r.git("rev-list", "--count", base+".."+head); err != nil || out == "0" {
		return 0, nil, invalid("PullRequest", fmt.Sprintf("No commits between %s and %s", want.Base, want.Head))
	}
	now := s.now()
	p := &pull{
		number: len(r.pulls) + 1, id: s.id(), title: want.Title, body: want.Body, author: a.login, draft: want.Draft,
		head: want.Head, base: want.Base, headSHA: head, baseSHA: base, pusher: a.login, created: now, updated: now,
	}
	r.pulls = append(r.pulls, p)
	r.askOwners(p)
	return http.StatusCreated, r.pullJSON(p, true), nil
}

// askOwners asks the code owners for a review, as GitHub does by itself.
func (r *repo) askOwners(p *pull) {
	changes, err := r.changes(p.baseSHA, p.headSHA)
	if err != nil {
		return
	}
	for _, c := range changes {
		for _, owner := range r.owners(p.baseSHA, c.path) {
			if org, team, ok := strings.Cut(strings.TrimPrefix(owner, "@"), "/"); ok && org == r.owner {
				p.askedTeams = appendNew(p.askedTeams, team)
			} else if login := strings.TrimPrefix(owner, "@"); login != p.author && r.sim.users[login] != nil {
				p.askedUsers = appendNew(p.askedUsers, login)
			}
		}
	}
}

func appendNew(list []string, item string) []string {
	if slices.Contains(list, item) {
		return list
	}
	return append(list, item)
}

func (s *Sim) postReviewers(a *asked) (int, any, error) {
	r, p, err := a.pull(Write)
	if err != nil {
		return 0, nil, err
	}
	var want struct {
		Reviewers []string
		Teams     []string `json:"team_reviewers"`
	}
	if err := a.body(&want); err != nil {
		return 0, nil, err
	}
	for _, login := range want.Reviewers {
		if login == p.author {
			return 0, nil, &failure{status: 422, message: "Review cannot be requested from pull request author."}
		}
		if r.may(login) < Read {
			return 0, nil, &failure{status: 422, message: "Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the " + r.fullName() + " repository."}
		}
		p.askedUsers = appendNew(p.askedUsers, login)
	}
	for _, team := range want.Teams {
		if _, ok := s.teams[r.owner+"/"+team]; !ok {
			return 0, nil, &failure{status: 422, message: "Could not resolve to a node with the global id of '" + team + "'."}
		}
		p.askedTeams = appendNew(p.askedTeams, team)
	}
	return http.StatusCreated, r.pullJSON(p, false), nil
}
