package githubsim

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// mergeability is GitHub's mergeable and mergeable_state. The first look at a
// new head says that it is not known yet, as GitHub's does.
func (r *repo) mergeability(p *pull) (mergeable any, state string) {
	switch {
	case !p.closed.IsZero():
		return false, "unknown"
	case !p.looked:
		p.looked = true
		return nil, "unknown"
	}
	if _, err := r.git("merge-tree", "--write-tree", p.baseSHA, p.headSHA); err != nil {
		return false, "dirty"
	}
	unmet := r.unmet(p)
	switch {
	case p.draft:
		return true, "draft"
	case len(unmet) == 1 && unmet[0] == outdated:
		return true, "behind"
	case len(unmet) > 0:
		return true, "blocked"
	case r.unstable(p.headSHA):
		return true, "unstable"
	}
	return true, "clean"
}

// unstable tells whether a check that nobody requires runs or failed.
func (r *repo) unstable(sha string) bool {
	for _, c := range r.runs[sha] {
		if end := c.ended(r.sim.now()); end != "success" && end != "neutral" && end != "skipped" {
			return true
		}
	}
	return false
}

func (s *Sim) putMerge(a *asked) (int, any, error) {
	r, p, err := a.pull(Write)
	if err != nil {
		return 0, nil, err
	}
	var want struct {
		Title   string `json:"commit_title"`
		Message string `json:"commit_message"`
		SHA     string
		Method  string `json:"merge_method"`
	}
	if err := a.body(&want); err != nil {
		return 0, nil, err
	}
	if want.Method == "" {
		want.Method = "merge"
	}
	sha, err := r.merge(p, a.login, want.Method, want.Title, want.Message, want.SHA, false)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, map[string]any{"sha": sha, "merged": true, "message": "Pull Request successfully merged"}, nil
}

// MergePull merges as somebody, by the same rules as the API.
func (s *Sim) MergePull(fullName string, number int, login, method string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.repo(fullName)
	if err != nil {
		return err
	}
	if number < 1 || number > len(r.pulls) {
		return fmt.Errorf("there is no pull request #%d in %s", number, fullName)
	}
	if r.may(login) < Write {
		return notFound()
	}
	_, err = r.merge(r.pulls[number-1], login, method, "", "", "", false)
	return err
}

func (r *repo) merge(p *pull, login, method, title, message, expect string, queued bool) (string, error) {
	r.follow(p)
	notAllowed := func(text string) error { return &failure{status: http.StatusMethodNotAllowed, message: text} }
	switch {
	case !p.closed.IsZero():
		return "", notAllowed("Pull Request is not mergeable")
	case p.draft:
		return "", notAllowed("Pull Request is still a draft")
	case expect != "" && expect != p.headSHA:
		return "", &failure{status: http.StatusConflict, message: "Head branch was modified. Review and try the merge again."}
	case !r.allows(method):
		return "", notAllowed(map[string]string{"merge": "Merge commits", "squash": "Squash merges", "rebase": "Rebase merges"}[method] + " are not allowed on this repository.")
	}
	if unmet := r.unmet(p); len(unmet) > 0 {
		return "", notAllowed(strings.Join(unmet, " "))
	}
	if rules := r.rules(p.base); rules != nil {
		switch {
		case rules.Linear && method == "merge":
			return "", notAllowed("This branch must not contain merge commits.")
		case !r.mayPush(rules, login):
			return "", notAllowed("You're not authorized to push to this branch. Visit https://docs.github.com/articles/about-protected-branches/ for more information.")
		case rules.Queue != nil && !queued:
			return "", notAllowed("Changes must be made through the merge queue")
		}
	}
	sha, err := r.join(p, login, method, title, message)
	if err != nil {
		return "", err
	}
	r.ours[sha] = true // GitHub signs what it merges
	base := p.baseSHA
	if err := r.move(p.base, sha); err != nil {
		return "", err
	}
	// What was merged is shown against the base as it was.
	p.baseSHA = base
	now := r.sim.now()
	p.merged, p.closed, p.updated, p.mergedBy, p.mergeSHA = now, now, now, login, sha
	if r.options.DeleteBranches {
		if _, err := r.git("update-ref", "-d", "refs/heads/"+p.head); err != nil {
			return "", err
		}
	}
	return sha, nil
}

// join makes the commit that the base moves to.
func (r *repo) join(p *pull, login, method, title, message string) (string, error) {
	if method == "rebase" {
		return r.rebase(p, login)
	}
	out, err := r.git("merge-tree", "--write-tree", p.baseSHA, p.headSHA)
	if err != nil {
		return "", &failure{status: http.StatusMethodNotAllowed, message: "Merge conflict"}
	}
	tree, _, _ := strings.Cut(out, "\n")
	if method == "squash" {
		if title == "" {
			title = fmt.Sprintf("%s (#%d)", p.title, p.number)
		}
		return r.commitTree(tree, Change{Author: login, Message: text(title, message)}, p.baseSHA)
	}
	if title == "" {
		title = fmt.Sprintf("Merge pull request #%d from %s/%s", p.number, r.owner, p.head)
		message = p.title
	}
	return r.commitTree(tree, Change{Author: login, Message: text(title, message)}, p.baseSHA, p.headSHA)
}

func text(title, message string) string {
	return strings.TrimSpace(title+"\n\n"+message) + "\n"
}

// rebase puts the branch's commits on the base one by one, in a work tree
// that is thrown away.
func (r *repo) rebase(p *pull, login string) (string, error) {
	dir, err := os.MkdirTemp("", "githubsim-rebase-")
	if err != nil {
		return "", fmt.Errorf("rebase #%d: %w", p.number, err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	tree := filepath.Join(dir, "tree")
	if _, err := r.git("worktree", "add", "--quiet", "--detach", tree, p.headSHA); err != nil {
		return "", err
	}
	defer func() { _, _ = r.git("worktree", "remove", "--force", tree) }()
	name, email := r.sim.identity(login)
	work := call{dir: tree, env: signature("COMMITTER", name, email, r.sim.now())}
	if _, err := work.git("rebase", "--quiet", "--no-ff", p.baseSHA); err != nil {
		return "", &failure{status: http.StatusMethodNotAllowed, message: "This branch can't be rebased"}
	}
	return work.git("rev-parse", "HEAD")
}
