package githubsim

import (
	"html/template"
	"net/http"
	"strings"
)

type pullLine struct {
	Number        int
	Title, Author string
}

type repoData struct {
	CloneURL   string
	ReadmePath string
	Readme     template.HTML
	Branches   []branchLine
	Pulls      []pullLine
	Commits    []commitLine
	Files      []string
}

type branchLine struct {
	Name, SHA string
	Protected bool
}

func (s *Sim) repoPage(w http.ResponseWriter, req *http.Request) {
	as := req.URL.Query().Get("as")
	if name, ok := strings.CutSuffix(req.PathValue("repo"), ".git"); ok {
		http.Redirect(w, req, "/"+req.PathValue("owner")+"/"+name, http.StatusMovedPermanently)
		return
	}
	s.mu.Lock()
	r, err := s.visible(req, as)
	var data repoData
	if err == nil {
		data, err = r.overview()
	}
	s.mu.Unlock()
	if err != nil {
		s.refuse(w, as, err)
		return
	}
	s.show(w, http.StatusOK, "repo", view{Title: r.fullName(), As: as, Repo: r.fullName(), Data: data})
}

func (r *repo) overview() (repoData, error) {
	data := repoData{CloneURL: r.sim.url + "/" + r.fullName() + ".git"}
	for _, p := range r.openPulls() {
		data.Pulls = append(data.Pulls, pullLine{p.number, p.title, p.author})
	}
	out, err := r.git("for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/heads")
	if err != nil {
		return data, err
	}
	for line := range strings.Lines(out) {
		name, sha, _ := strings.Cut(strings.TrimSpace(line), " ")
		protected := r.rules(name) != nil
		data.Branches = append(data.Branches, branchLine{name, sha, protected})
	}
	head := r.head("main")
	if head == "" {
		return data, nil
	}
	if data.Commits, err = r.log("--max-count=15", head); err != nil {
		return data, err
	}
	files, err := r.git("-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", head)
	if err != nil {
		return data, err
	}
	for file := range strings.SplitSeq(files, "\n") {
		data.Files = append(data.Files, file)
		if strings.EqualFold(file, "README.md") {
			text, err := r.git("cat-file", "blob", head+":"+file)
			if err != nil {
				return data, err
			}
			data.ReadmePath, data.Readme = file, markdown(text)
		}
	}
	return data, nil
}
