package githubsim

import (
	"fmt"
	"net/http"
	"net/url"
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
	assigned               []string
	askedUsers, askedTeams []string
	reviews                []*review
	comments               []*comment
	remarks                []*remark // on lines of the diff
	looked                 bool      // mergeability is computed after the first look
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
	owner, described := r.sim.ownerJSON(r.owner), r.described()
	side := func(branch, sha string) map[string]any {
		return map[string]any{"ref": branch, "sha": sha, "label": r.owner + ":" + branch, "user": owner, "repo": described}
	}
	labels, users, teams, assignees := []map[string]any{}, []map[string]any{}, []map[string]any{}, []map[string]any{}
	for i, name := range p.labels {
		labels = append(labels, r.labelJSON(int64(i+1), name))
	}
	for _, login := range p.askedUsers {
		users = append(users, r.sim.userJSON(login))
	}
	for _, team := range p.askedTeams {
		teams = append(teams, r.sim.teamJSON(r.owner+"/"+team))
	}
	for _, login := range p.assigned {
		assignees = append(assignees, r.sim.userJSON(login))
	}
	number := fmt.Sprint(p.number)
	page := r.sim.url + "/" + r.fullName() + "/pull/" + number
	at, issue := r.sim.apiURL("repos", r.fullName(), "pulls", number), r.sim.apiURL("repos", r.fullName(), "issues", number)
	statuses := r.sim.apiURL("repos", r.fullName(), "statuses", p.headSHA)
	href := func(url string) map[string]any { return map[string]any{"href": url} }
	body := map[string]any{
		"id": p.id, "node_id": node("PullRequest", p.id), "number": p.number, "state": state, "title": p.title, "body": orNull(p.body), "draft": p.draft,
		"locked": false, "user": r.sim.userJSON(p.author), "head": side(p.head, p.headSHA), "base": side(p.base, p.baseSHA),
		"html_url": page, "diff_url": page + ".diff", "patch_url": page + ".patch", "url": at, "issue_url": issue, "commits_url": at + "/commits",
		"review_comments_url": at + "/comments", "review_comment_url": at + "/comments{/number}", "comments_url": issue + "/comments", "statuses_url": statuses,
		"created_at": stamp(p.created), "updated_at": stamp(p.updated), "closed_at": stamp(p.closed), "merged_at": stamp(p.merged),
		"labels": labels, "requested_reviewers": users, "requested_teams": teams, "assignees": assignees, "assignee": nil, "milestone": nil,
		"author_association": "MEMBER", "auto_merge": nil, "merge_commit_sha": nil,
		"_links": map[string]any{
			"self": href(at), "html": href(page), "issue": href(issue), "comments": href(issue + "/comments"), "commits": href(at + "/commits"),
			"review_comments": href(at + "/comments"), "review_comment": href(at + "/comments{/number}"), "statuses": href(statuses),
		},
	}
	if len(assignees) > 0 {
		body["assignee"] = assignees[0]
	}
	if p.mergeSHA != "" {
		body["merge_commit_sha"] = p.mergeSHA
	}
	if full {
		r.pullDetails(p, body)
	}
	return body
}

// pullDetails are what only the answer for one pull request has.
func (r *repo) pullDetails(p *pull, body map[string]any) {
	body["merged"], body["merged_by"] = !p.merged.IsZero(), nil
	if p.mergedBy != "" {
		body["merged_by"] = r.sim.userJSON(p.mergedBy)
	}
	body["mergeable"], body["mergeable_state"] = r.mergeability(p)
	body["comments"], body["review_comments"], body["maintainer_can_modify"] = len(p.comments), len(p.remarks), false
	added, removed := 0, 0
	files, err := r.filesJSON(p.baseSHA, p.headSHA)
	if err != nil {
		files = nil
	}
	for _, f := range files {
		plus, _ := f["additions"].(int)
		minus, _ := f["deletions"].(int)
		added, removed = added+plus, removed+minus
	}
	body["additions"], body["deletions"], body["changed_files"], body["commits"] = added, removed, len(files), 0
	if _, ahead, err := r.apart(p.baseSHA, p.headSHA); err == nil {
		body["commits"] = ahead
	}
}

func (r *repo) labelJSON(id int64, name string) map[string]any {
	return map[string]any{
		"id": id, "node_id": node("Label", id), "url": r.sim.apiURL("repos", r.fullName(), "labels", url.PathEscape(name)), "name": name,
		"description": "", "color": "ededed", "default": false,
	}
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
