package githubsim

import (
	"net/http"
	"time"
)

// status is a commit status.
type status struct {
	id                                  int64
	url                                 string
	context, state, description, target string
	at                                  time.Time
}

func (s *Sim) postStatus(a *asked) (int, any, error) {
	r, err := a.repo(Write)
	if err != nil {
		return 0, nil, err
	}
	var want struct {
		State, Context, Description string
		Target                      string `json:"target_url"`
	}
	if err := a.body(&want); err != nil {
		return 0, nil, err
	}
	sha, ok := r.commitOf(a.PathValue("sha"))
	if !ok {
		return 0, nil, notFound()
	}
	if want.Context == "" {
		want.Context = "default"
	}
	st := &status{id: s.id(), url: s.apiURL("repos", r.fullName(), "statuses", sha), context: want.Context, state: want.State, description: want.Description, target: want.Target, at: s.now()}
	r.statuses[sha] = append(r.statuses[sha], st)
	return http.StatusCreated, st.json(), nil
}

func (st *status) json() map[string]any {
	return map[string]any{"id": st.id, "node_id": node("StatusContext", st.id), "url": st.url, "avatar_url": nil, "creator": nil, "state": st.state, "context": st.context, "description": orNull(st.description), "target_url": orNull(st.target), "created_at": stamp(st.at), "updated_at": stamp(st.at)}
}

// latest is the newest status of each context.
func (r *repo) latest(sha string) map[string]*status {
	last := map[string]*status{}
	for _, st := range r.statuses[sha] {
		last[st.context] = st
	}
	return last
}

func (s *Sim) getStatus(a *asked) (int, any, error) {
	r, err := a.repo(Read)
	if err != nil {
		return 0, nil, err
	}
	sha, ok := r.commitOf(a.PathValue("sha"))
	if !ok {
		return 0, nil, notFound()
	}
	state, list := "pending", []map[string]any{}
	last := r.latest(sha)
	if len(last) > 0 {
		state = "success"
	}
	for _, st := range r.statuses[sha] {
		if last[st.context] != st {
			continue
		}
		list = append(list, st.json())
		switch {
		case st.state == "failure" || st.state == "error":
			state = "failure"
		case st.state == "pending" && state == "success":
			state = "pending"
		}
	}
	return http.StatusOK, map[string]any{
		"repository": r.described(), "commit_url": s.apiURL("repos", r.fullName(), "commits", sha), "url": s.apiURL("repos", r.fullName(), "commits", sha, "status"),
		"state": state, "sha": sha, "total_count": len(list), "statuses": page(a, list),
	}, nil
}
