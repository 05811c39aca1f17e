package githubsim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
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
	labels                 []string
	askedUsers, askedTeams []string
	reviews                []*review
	comments               []*comment
	looked                 bool // mergeability is computed after the first look
}

type comment struct {
	id           int64
	author, body string
	at           time.Time
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
		p.headSHA, p.updated, p.looked = sha, r.sim.now(), false
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
		teams = append(teams, map[string]any{"slug": team, "name": team})
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
		head: want.Head, base: want.Base, headSHA: head, baseSHA: base, created: now, updated: now,
	}
	r.pulls = append(r.pulls, p)
	r.askOwners(p)
	return http.StatusCreated, r.pullJSON(p, true), nil
}

// askOwners asks the code owners for a review, as GitHub does by itself.
func (r *repo) askOwners(p *pull) {
	for _, file := range r.files(p.baseSHA, p.headSHA) {
		for _, owner := range r.owners(p.baseSHA, file) {
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

func (s *Sim) getPull(a *asked) (int, any, error) {
	r, p, err := a.pull(Read)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, r.pullJSON(p, true), nil
}

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

func (s *Sim) getPullFiles(a *asked) (int, any, error) {
	r, p, err := a.pull(Read)
	if err != nil {
		return 0, nil, err
	}
	r.follow(p)
	list := []map[string]any{}
	for _, file := range r.files(p.baseSHA, p.headSHA) {
		patch, err := r.git("diff", p.baseSHA+"..."+p.headSHA, "--", file)
		if err != nil {
			return 0, nil, err
		}
		if _, hunks, ok := strings.Cut(patch, "\n@@"); ok {
			patch = "@@" + hunks
		}
		list = append(list, map[string]any{"filename": file, "status": "modified", "patch": patch})
	}
	return http.StatusOK, page(a, list), nil
}

func (s *Sim) getPullCommits(a *asked) (int, any, error) {
	r, p, err := a.pull(Read)
	if err != nil {
		return 0, nil, err
	}
	r.follow(p)
	out, err := r.git("rev-list", "--reverse", p.baseSHA+".."+p.headSHA)
	if err != nil {
		return 0, nil, err
	}
	list := []map[string]any{}
	for sha := range strings.FieldsSeq(out) {
		list = append(list, r.commitJSON(sha))
	}
	return http.StatusOK, page(a, list), nil
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
	return map[string]any{"id": c.id, "body": c.body, "user": s.userJSON(c.author), "created_at": stamp(c.at), "updated_at": stamp(c.at)}
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
	c := &comment{id: s.id(), author: a.login, body: want.Body, at: s.now()}
	p.comments = append(p.comments, c)
	return http.StatusCreated, s.commentJSON(c), nil
}

func (s *Sim) postLabels(a *asked) (int, any, error) {
	r, p, err := a.pull(Write)
	if err != nil {
		return 0, nil, err
	}
	var want struct{ Labels []string }
	if err := a.body(&want); err != nil {
		return 0, nil, err
	}
	for _, name := range want.Labels {
		p.labels = appendNew(p.labels, name)
	}
	return http.StatusOK, r.pullJSON(p, false)["labels"], nil
}
