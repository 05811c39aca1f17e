package githubsim

import (
	"net/http"
	"net/url"
	"strings"
)

func (s *Sim) getPullFiles(a *asked) (int, any, error) {
	r, p, err := a.pull(Read)
	if err != nil {
		return 0, nil, err
	}
	r.follow(p)
	list, err := r.filesJSON(p.baseSHA, p.headSHA)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, page(a, list), nil
}

func (s *Sim) getPullCommits(a *asked) (int, any, error) {
	r, p, err := a.pull(Read)
	if err != nil {
		return 0, nil, err
	}
	r.follow(p)
	list, err := r.between(p.baseSHA, p.headSHA)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, page(a, list), nil
}

// change is what happened to a file: git's letter for it, and its path.
type change struct{ letter, path string }

// changes are those that a head makes since it left a base. A rename is a
// removal and an addition, so that the owners of both paths have a say.
func (r *repo) changes(base, head string) ([]change, error) {
	out, err := r.git("diff", "--name-status", "--no-renames", "-z", base+"..."+head)
	if err != nil {
		return nil, err
	}
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	var list []change
	for i := 0; i+1 < len(fields); i += 2 {
		list = append(list, change{fields[i], fields[i+1]})
	}
	return list, nil
}

func (r *repo) filesJSON(base, head string) ([]map[string]any, error) {
	changes, err := r.changes(base, head)
	if err != nil {
		return nil, err
	}
	words := map[string]string{"A": "added", "D": "removed", "M": "modified", "T": "changed"}
	list := []map[string]any{}
	for _, c := range changes {
		patch, err := r.git("diff", "--no-renames", base+"..."+head, "--", ":(literal)"+c.path)
		if err != nil {
			return nil, err
		}
		added, removed := 0, 0
		for _, f := range parseDiff(patch) {
			added, removed = added+f.Added, removed+f.Removed
		}
		blob, err := r.git("rev-parse", "--verify", "--quiet", head+":"+c.path)
		if err != nil {
			blob = strings.Repeat("0", 40)
		}
		path := (&url.URL{Path: c.path}).EscapedPath()
		one := map[string]any{"sha": blob, "blob_url": r.sim.url + "/" + r.fullName() + "/blob/" + head + "/" + path, "raw_url": r.sim.url + "/" + r.fullName() + "/raw/" + head + "/" + path,
			"contents_url": r.sim.apiURL("repos", r.fullName(), "contents", path) + "?ref=" + head, "filename": c.path, "status": words[c.letter], "additions": added, "deletions": removed, "changes": added + removed}
		// A binary file has no patch.
		if _, hunks, ok := strings.Cut(patch, "\n@@"); ok {
			one["patch"] = "@@" + hunks
		}
		list = append(list, one)
	}
	return list, nil
}
