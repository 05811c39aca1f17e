package git

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/object"
)

// Diff is what changed between two commits as a unified diff, within the
// paths, which are files or directories; without any, everywhere.
func (r *Repo) Diff(ctx context.Context, from, to string, paths ...string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var trees [2]*object.Tree
	for i, sha := range []string{from, to} {
		c, err := r.commit(sha)
		if err != nil {
			return "", err
		}
		if trees[i], err = c.Tree(); err != nil {
			return "", fmt.Errorf("read the tree of commit %s of %s: %w", sha, r.config.URL, err)
		}
	}
	changes, err := object.DiffTreeContext(ctx, trees[0], trees[1])
	if err != nil {
		return "", fmt.Errorf("compare %s and %s of %s: %w", from, to, r.config.URL, err)
	}
	var wanted object.Changes
	for _, c := range changes {
		if within(c.From.Name, paths) || within(c.To.Name, paths) {
			wanted = append(wanted, c)
		}
	}
	patch, err := wanted.PatchContext(ctx)
	if err != nil {
		return "", fmt.Errorf("compare %s and %s of %s: %w", from, to, r.config.URL, err)
	}
	return patch.String(), nil
}

func within(name string, paths []string) bool {
	for _, p := range paths {
		p = strings.Trim(p, "/")
		if p == "" || p == "." || name == p || strings.HasPrefix(name, p+"/") {
			return name != ""
		}
	}
	return len(paths) == 0
}
