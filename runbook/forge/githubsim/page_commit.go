package githubsim

import (
	"net/http"
	"strings"
)

type commitData struct {
	commitLine
	Email, Message string
	Parents        []string
	Diff           []*fileDiff
	Checks         []checkLine
}

func (s *Sim) commitPage(w http.ResponseWriter, req *http.Request) {
	as := req.URL.Query().Get("as")
	s.mu.Lock()
	r, err := s.visible(req, as)
	var data commitData
	if err == nil {
		data, err = r.commitData(req.PathValue("sha"))
	}
	s.mu.Unlock()
	if err != nil {
		s.refuse(w, as, err)
		return
	}
	s.show(w, http.StatusOK, "commit", view{Title: data.Subject, As: as, Repo: r.fullName(), Data: data})
}

func (r *repo) commitData(revision string) (commitData, error) {
	sha, ok := r.commitOf(revision)
	if !ok {
		return commitData{}, notFound()
	}
	list, err := r.log("--max-count=1", sha)
	if err != nil || len(list) == 0 {
		return commitData{}, err
	}
	data := commitData{commitLine: list[0], Checks: r.checkLines(sha, nil)}
	out, err := r.git("show", "--no-patch", "--format=%ae%x00%P%x00%b", sha)
	if err != nil {
		return data, err
	}
	f := strings.SplitN(out, "\x00", 3)
	data.Email, data.Parents, data.Message = f[0], strings.Fields(f[1]), strings.TrimSpace(f[2])
	// A merge is shown as what it brought to the branch it went to.
	data.Diff, err = r.diff("show", "--format=", "--diff-merges=first-parent", sha)
	return data, err
}
