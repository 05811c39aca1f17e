package githubsim

import (
	"net/http"
	"strconv"
	"strings"
)

// getCompare tells how two commits stand to each other.
// https://docs.github.com/en/rest/commits/commits#compare-two-commits
func (s *Sim) getCompare(a *asked) (int, any, error) {
	r, err := a.repo(Read)
	if err != nil {
		return 0, nil, err
	}
	left, right, ok := strings.Cut(a.PathValue("basehead"), "...")
	base, haveBase := r.commitOf(strings.TrimPrefix(left, r.owner+":"))
	head, haveHead := r.commitOf(strings.TrimPrefix(right, r.owner+":"))
	if !ok || !haveBase || !haveHead {
		return 0, nil, notFound()
	}
	fork, err := r.git("merge-base", base, head)
	if err != nil {
		return 0, nil, &failure{status: http.StatusNotFound, message: "No common ancestor between " + left + " and " + right + "."}
	}
	behind, ahead, err := r.apart(base, head)
	if err != nil {
		return 0, nil, err
	}
	commits, err := r.between(base, head)
	if err != nil {
		return 0, nil, err
	}
	files, err := r.filesJSON(base, head)
	if err != nil {
		return 0, nil, err
	}
	at := r.sim.url + "/" + r.fullName() + "/compare/" + left + "..." + right
	return http.StatusOK, map[string]any{
		"status": relation(behind, ahead), "ahead_by": ahead, "behind_by": behind, "total_commits": len(commits),
		"base_commit": r.commitJSON(base), "merge_base_commit": r.commitJSON(fork), "commits": page(a, commits), "files": files,
		"url":      r.sim.apiURL("repos", r.fullName(), "compare", left+"..."+right),
		"html_url": at, "permalink_url": at, "diff_url": at + ".diff", "patch_url": at + ".patch",
	}, nil
}

func relation(behind, ahead int) string {
	switch {
	case behind > 0 && ahead > 0:
		return "diverged"
	case behind > 0:
		return "behind"
	case ahead > 0:
		return "ahead"
	}
	return "identical"
}

// apart counts the commits that only the base has, and those that only the
// head has.
func (r *repo) apart(base, head string) (behind, ahead int, err error) {
	out, err := r.git("rev-list", "--left-right", "--count", base+"..."+head)
	if err != nil {
		return 0, 0, err
	}
	left, right, _ := strings.Cut(out, "\t")
	if behind, err = strconv.Atoi(left); err != nil {
		return 0, 0, err
	}
	ahead, err = strconv.Atoi(right)
	return behind, ahead, err
}

// between are the commits that a head has and a base has not, oldest first.
func (r *repo) between(base, head string) ([]map[string]any, error) {
	out, err := r.git("rev-list", "--reverse", base+".."+head)
	if err != nil {
		return nil, err
	}
	list := []map[string]any{}
	for sha := range strings.FieldsSeq(out) {
		list = append(list, r.commitJSON(sha))
	}
	return list, nil
}
