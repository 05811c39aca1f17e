package githubsim

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// asked is the revision that a request names, the default branch if it names
// none, and its commit.
func (r *repo) asked(a *asked) (revision, sha string, err error) {
	revision = a.URL.Query().Get("ref")
	if revision == "" {
		revision = "main"
	}
	sha, ok := r.commitOf(revision)
	if !ok {
		return "", "", notFound()
	}
	return revision, sha, nil
}

func (s *Sim) getContents(a *asked) (int, any, error) {
	r, err := a.repo(Read)
	if err != nil {
		return 0, nil, err
	}
	revision, sha, err := r.asked(a)
	if err != nil {
		return 0, nil, err
	}
	path := a.PathValue("path")
	blob, err := r.git("rev-parse", "--verify", "--quiet", sha+":"+path)
	if err != nil {
		return 0, nil, notFound()
	}
	content, err := call{dir: r.dir}.raw("cat-file", "blob", blob)
	if err != nil {
		return 0, nil, notFound()
	}
	at := s.apiURL("repos", r.fullName(), "contents", (&url.URL{Path: path}).EscapedPath()) + "?ref=" + url.QueryEscape(revision)
	page, object := s.url+"/"+r.fullName()+"/blob/"+revision+"/"+path, s.apiURL("repos", r.fullName(), "git/blobs", blob)
	return http.StatusOK, map[string]any{
		"type": "file", "encoding": "base64", "path": path, "name": path[strings.LastIndexByte(path, '/')+1:], "sha": blob,
		"size": len(content), "content": base64.StdEncoding.EncodeToString([]byte(content)),
		"url": at, "html_url": page, "git_url": object, "download_url": s.url + "/" + r.fullName() + "/raw/" + revision + "/" + path,
		"_links": map[string]any{"self": at, "git": object, "html": page},
	}, nil
}

func (s *Sim) getCommits(a *asked) (int, any, error) {
	r, err := a.repo(Read)
	if err != nil {
		return 0, nil, err
	}
	from := a.URL.Query().Get("sha")
	if from == "" {
		from = "main"
	}
	sha, ok := r.commitOf(from)
	if !ok {
		return 0, nil, notFound()
	}
	args := []string{"log", "--format=%H", "--max-count=500", sha}
	if path := a.URL.Query().Get("path"); path != "" {
		args = append(args, "--", path)
	}
	out, err := r.git(args...)
	if err != nil {
		return 0, nil, err
	}
	list := []map[string]any{}
	for _, sha := range page(a, strings.Fields(out)) {
		list = append(list, r.commitJSON(sha))
	}
	return http.StatusOK, list, nil
}

func (s *Sim) getCommit(a *asked) (int, any, error) {
	r, err := a.repo(Read)
	if err != nil {
		return 0, nil, err
	}
	sha, ok := r.commitOf(a.PathValue("sha"))
	if !ok {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "No commit found for SHA: " + a.PathValue("sha")}
	}
	return http.StatusOK, r.commitJSON(sha), nil
}

func (r *repo) commitJSON(sha string) map[string]any {
	out, err := r.git("show", "--no-patch", "--format=%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%P%x00%T%x00%B", sha)
	f := strings.SplitN(out, "\x00", 9)
	if err != nil || len(f) < 9 {
		return nil
	}
	at, page := r.sim.apiURL("repos", r.fullName(), "commits", sha), r.sim.url+"/"+r.fullName()+"/commit/"
	parents := []map[string]any{}
	for p := range strings.FieldsSeq(f[6]) {
		parents = append(parents, map[string]any{"sha": p, "url": r.sim.apiURL("repos", r.fullName(), "commits", p), "html_url": page + p})
	}
	return map[string]any{
		"sha": sha, "node_id": "C_" + sha, "url": at, "html_url": page + sha, "comments_url": at + "/comments", "parents": parents,
		"author": r.sim.byEmail(f[1]), "committer": r.sim.byEmail(f[4]),
		"commit": map[string]any{
			"url": r.sim.apiURL("repos", r.fullName(), "git/commits", sha), "comment_count": 0,
			"message": strings.TrimRight(f[8], "\n"), "tree": map[string]any{"sha": f[7], "url": r.sim.apiURL("repos", r.fullName(), "git/trees", f[7])},
			"author":       map[string]any{"name": f[0], "email": f[1], "date": utc(f[2])},
			"committer":    map[string]any{"name": f[3], "email": f[4], "date": utc(f[5])},
			"verification": r.verificationJSON(sha),
		},
	}
}

// utc is git's strict ISO time as GitHub writes it.
func utc(text string) any {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil
	}
	return stamp(t)
}

// byEmail finds the account that an address belongs to; nil if none.
func (s *Sim) byEmail(address string) any {
	for login := range s.users {
		if _, email := s.identity(login); email == address {
			return s.userJSON(login)
		}
	}
	return nil
}
