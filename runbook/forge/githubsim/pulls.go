package githubsim

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// pull is a pull request.
type pull struct {
	number                 int
	id                     int64
	title, body, author    string
	head, base             string // branches
	headSHA                string // the last known; the branch may be gone
	draft                  bool
	closed, merged         time.Time
	created, updated       time.Time
	mergedBy, mergeSHA     string
	baseSHA                string
	pusher                 string // who pushed to the head last
	labels                 []string
	askedUsers, askedTeams []string
	reviews                []*review
	comments               []*comment
	looked                 bool // mergeability is computed after the first look
}

// follow moves a pull request with its branch.
func (r *repo) follow(p *pull) {
	if !p.closed.IsZero() {
		return
	}
	sha := r.head(p.head)
	if sha == "" {
		p.closed = r.sim.now()
		return
	}
	if sha != p.headSHA {
		p.headSHA, p.updated, p.looked, p.pusher = sha, r.sim.now(), false, r.pusher
	}
	p.baseSHA = r.head(p.base)
}

func (r *repo) pullJSON(p *pull, full bool) map[string]any {
	r.follow(p)
	state := "open"
	if !p.closed.IsZero() {
		state = "closed"
	}
	side := func(branch, sha string) map[string]any {
		return map[string]any{"ref": branch, "sha": sha, "label": r.owner + ":" + branch, "repo": map[string]any{"id": r.id, "name": r.name, "full_name": r.fullName()}}
	}
	labels, users, teams := []map[string]any{}, []map[string]any{}, []map[string]any{}
	for _, name := range p.labels {
		labels = append(labels, map[string]any{"name": name})
	}
	for _, login := range p.askedUsers {
		users = append(users, r.sim.userJSON(login))
	}
	for _, team := range p.askedTeams {
		teams = append(teams, r.sim.teamJSON(r.owner+"/"+team))
	}
	body := map[string]any{
		"id": p.id, "number": p.number, "state": state, "title": p.title, "body": p.body, "draft": p.draft,
		"user": r.sim.userJSON(p.author), "head": side(p.head, p.headSHA), "base": side(p.base, p.baseSHA),
		"html_url":   fmt.Sprintf("%s/%s/pull/%d", r.sim.url, r.fullName(), p.number),
		"url":        r.sim.apiURL("repos", r.fullName(), "pulls", fmt.Sprint(p.number)),
		"created_at": stamp(p.created), "updated_at": stamp(p.updated), "closed_at": stamp(p.closed), "merged_at": stamp(p.merged),
		"labels": labels, "requested_reviewers": users, "requested_teams": teams, "merge_commit_sha": nil,
	}
	if p.mergeSHA != "" {
		body["merge_commit_sha"] = p.mergeSHA
	}
	if full {
		body["merged"] = !p.merged.IsZero()
		if p.mergedBy != "" {
			body["merged_by"] = r.sim.userJSON(p.mergedBy)
		}
		mergeable, state := r.mergeability(p)
		body["mergeable"], body["mergeable_state"] = mergeable, state
		body["comments"] = len(p.comments)
	}
	return body
}

func (s *Sim) getPulls(a *asked) (int, any, error) {
	r, err := a.repo(Read)
	if err != nil {
		return 0, nil, err
	}
	q := a.URL.Query()
	state := q.Get("state")
	if state == "" {
		state = "open"
	}
	list := []map[string]any{}
	for _, p := range slices.Backward(r.pulls) {
		r.follow(p)
		open := p.closed.IsZero()
		if state == "open" && !open || state == "closed" && open ||
			q.Get("head") != "" && q.Get("head") != r.owner+":"+p.head || q.Get("base") != "" && q.Get("base") != p.base {
			continue
		}
		list = append(list, r.pullJSON(p, false))
	}
	return http.StatusOK, page(a, list), nil
}

func (s *Sim) getPull(a *asked) (int, any, error) {
	r, p, err := a.pull(Read)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, r.pullJSON(p, true), nil
}

// Pull is a pull request as a test sees it.
type Pull struct {
	Number                             int
	Title, Body, Author, Head, Base    string
	HeadSHA, MergeSHA, MergedBy, State string // State is open, closed or merged
	Labels, AskedUsers, AskedTeams     []string
}

// Pulls lists a repository's pull requests, oldest first.
func (s *Sim) Pulls(fullName string) []Pull {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.repo(fullName)
	if err != nil {
		return nil
	}
	var list []Pull
	for _, p := range r.pulls {
		r.follow(p)
		one := Pull{p.number, p.title, p.body, p.author, p.head, p.base, p.headSHA, p.mergeSHA, p.mergedBy, "open", p.labels, p.askedUsers, p.askedTeams}
		if !p.closed.IsZero() {
			one.State = "closed"
		}
		if !p.merged.IsZero() {
			one.State = "merged"
		}
		list = append(list, one)
	}
	return list
}
