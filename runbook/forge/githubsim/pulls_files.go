package githubsim

import (
	"net/http"
	"strings"
)

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
