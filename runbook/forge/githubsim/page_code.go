package githubsim

import (
	"html/template"
	"net/http"
	"strings"
	"time"
)

// maxShown bounds how much of a file a page shows.
const maxShown = 1 << 20

// commitLine is a commit in a list.
type commitLine struct {
	SHA, Author, Subject string
	At                   time.Time
}

// log lists commits, newest first.
func (r *repo) log(args ...string) ([]commitLine, error) {
	out, err := r.git(append([]string{"log", "--format=%H%x00%an%x00%cI%x00%s"}, args...)...)
	if err != nil || out == "" {
		return nil, err
	}
	var list []commitLine
	for line := range strings.SplitSeq(out, "\n") {
		f := strings.SplitN(line, "\x00", 4)
		if len(f) < 4 {
			continue
		}
		at, _ := time.Parse(time.RFC3339, f[2])
		list = append(list, commitLine{SHA: f[0], Author: f[1], At: at, Subject: f[3]})
	}
	return list, nil
}

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
		_, protected := r.protected[name]
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

type blobData struct {
	Ref, SHA, Path string
	Lines          []string
	Binary, Cut    bool
	Size           int
}

func (s *Sim) blobPage(w http.ResponseWriter, req *http.Request) {
	as := req.URL.Query().Get("as")
	s.mu.Lock()
	r, err := s.visible(req, as)
	var data blobData
	if err == nil {
		data, err = r.blob(req.PathValue("ref") + "/" + req.PathValue("path"))
	}
	s.mu.Unlock()
	if err != nil {
		s.refuse(w, as, err)
		return
	}
	s.show(w, http.StatusOK, "blob", view{Title: data.Path + " at " + data.Ref, As: as, Repo: r.fullName(), Data: data})
}

// blob finds a file by REF/PATH. A branch's name may hold slashes, so that
// every one of them may be where the path begins.
func (r *repo) blob(refAndPath string) (blobData, error) {
	for i, c := range refAndPath {
		if c != '/' {
			continue
		}
		ref, path := refAndPath[:i], refAndPath[i+1:]
		sha, ok := r.commitOf(ref)
		if !ok {
			continue
		}
		content, err := r.git("cat-file", "blob", sha+":"+path)
		if err != nil {
			continue
		}
		data := blobData{Ref: ref, SHA: sha, Path: path, Size: len(content), Binary: strings.ContainsRune(content, 0)}
		if data.Binary {
			return data, nil
		}
		if data.Cut = len(content) > maxShown; data.Cut {
			content = content[:maxShown]
		}
		data.Lines = strings.Split(content, "\n")
		return data, nil
	}
	return blobData{}, notFound()
}

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
