package githubsim

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// run is a check run. It ends by itself at a time, if it has one.
type run struct {
	id            int64
	name          string
	started, ends time.Time
	conclusion    string
}

// ended gives a run's conclusion; "" while it runs.
func (c *run) ended(now time.Time) string {
	if c.ends.IsZero() || now.Before(c.ends) {
		return ""
	}
	if c.conclusion == "" {
		return "success"
	}
	return c.conclusion
}

func (r *repo) runJSON(sha string, c *run) map[string]any {
	body := map[string]any{
		"id": c.id, "name": c.name, "head_sha": sha, "started_at": stamp(c.started), "status": "in_progress", "conclusion": nil, "completed_at": nil,
		"html_url": fmt.Sprintf("%s/%s/commit/%s#check-%d", r.sim.url, r.fullName(), sha, c.id),
		"url":      r.sim.apiURL("repos", r.fullName(), "check-runs", strconv.FormatInt(c.id, 10)),
		"node_id":  node("CheckRun", c.id), "details_url": nil, "external_id": "", "check_suite": nil, "pull_requests": []any{},
		"app":    r.sim.appJSON(&app{App: App{Slug: "ci", Name: "CI", Owner: r.owner}, id: 1, created: r.created}),
		"output": map[string]any{"title": nil, "summary": nil, "text": nil, "annotations_count": 0, "annotations_url": r.sim.apiURL("repos", r.fullName(), "check-runs", strconv.FormatInt(c.id, 10), "annotations")},
	}
	if conclusion := c.ended(r.sim.now()); conclusion != "" {
		body["status"], body["conclusion"], body["completed_at"] = "completed", conclusion, stamp(c.ends)
	}
	return body
}

func (s *Sim) getRuns(a *asked) (int, any, error) {
	r, err := a.repo(Read)
	if err != nil {
		return 0, nil, err
	}
	sha, ok := r.commitOf(a.PathValue("sha"))
	if !ok {
		return 0, nil, notFound()
	}
	list := []map[string]any{}
	for _, c := range r.runs[sha] {
		list = append(list, r.runJSON(sha, c))
	}
	return http.StatusOK, map[string]any{"total_count": len(list), "check_runs": page(a, list)}, nil
}

func (s *Sim) postRun(a *asked) (int, any, error) {
	r, err := a.repo(Write)
	if err != nil {
		return 0, nil, err
	}
	var want struct {
		Name, Status, Conclusion string
		HeadSHA                  string `json:"head_sha"`
	}
	if err := a.body(&want); err != nil {
		return 0, nil, err
	}
	sha, ok := r.commitOf(want.HeadSHA)
	if !ok || want.Name == "" {
		return 0, nil, invalid("CheckRun", "No commit found for SHA: "+want.HeadSHA)
	}
	c := r.setRun(sha, want.Name, want.Conclusion)
	return http.StatusCreated, r.runJSON(sha, c), nil
}

func (s *Sim) patchRun(a *asked) (int, any, error) {
	r, err := a.repo(Write)
	if err != nil {
		return 0, nil, err
	}
	var want struct{ Conclusion string }
	if err := a.body(&want); err != nil {
		return 0, nil, err
	}
	for sha, list := range r.runs {
		for _, c := range list {
			if strconv.FormatInt(c.id, 10) == a.PathValue("id") {
				c.conclusion, c.ends = want.Conclusion, s.now()
				return http.StatusOK, r.runJSON(sha, c), nil
			}
		}
	}
	return 0, nil, notFound()
}

// setRun makes or changes a run; an empty conclusion leaves it running.
func (r *repo) setRun(sha, name, conclusion string) *run {
	var found *run
	for _, c := range r.runs[sha] {
		if c.name == name {
			found = c
		}
	}
	if found == nil {
		found = &run{id: r.sim.id(), name: name, started: r.sim.now()}
		r.runs[sha] = append(r.runs[sha], found)
	}
	found.conclusion, found.ends = conclusion, time.Time{}
	if conclusion != "" {
		found.ends = r.sim.now()
	}
	return found
}

// SetCheck makes or changes a check run of a commit: "success", "failure", or
// "" for one that runs.
func (s *Sim) SetCheck(fullName, sha, name, conclusion string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.repo(fullName)
	if err != nil {
		return err
	}
	r.setRun(sha, name, conclusion)
	return nil
}

// passed tells whether a required check of a commit has passed, and whether
// it has failed.
func (r *repo) passed(sha, name string) (passed, failed bool) {
	for _, c := range r.runs[sha] {
		if c.name == name {
			switch c.ended(r.sim.now()) {
			case "success", "neutral", "skipped":
				passed = true
			case "":
			default:
				failed = true
			}
		}
	}
	if st, ok := r.latest(sha)[name]; ok {
		passed = passed || st.state == "success"
		failed = failed || st.state == "failure" || st.state == "error"
	}
	return passed && !failed, failed
}
