package git

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/utils/diff"
	"github.com/sergi/go-diff/diffmatchpatch"
)

// LastTouched finds the commit that gave a line of a file its present text;
// line counts from 1 in the file as it is at sha.
//
// It follows the line through one chain of parents: at each commit to a
// parent that has the line, until none has it.
func (r *Repo) LastTouched(ctx context.Context, sha, path string, line int) (Commit, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, err := r.commit(sha)
	if err != nil {
		return Commit{}, err
	}
	if v, err := at(c, path); err != nil || v.blob.IsZero() {
		return Commit{}, &Missing{path}
	}
	for range maxWalk {
		if err := ctx.Err(); err != nil {
			return Commit{}, err
		}
		now, before, err := r.versions(c, path)
		if err != nil {
			return Commit{}, fmt.Errorf("read the history of %s in %s: %w", path, r.config.URL, err)
		}
		from, was, err := r.origin(now, before, line)
		if err != nil {
			return Commit{}, fmt.Errorf("compare versions of %s in %s: %w", path, r.config.URL, err)
		}
		if from == nil {
			return described(c), nil
		}
		c, line = from.commit, was
	}
	return Commit{}, fmt.Errorf("line %d of %s is older than %d commits", line, path, maxWalk)
}

// origin finds a parent that has the line, and where; nil if none has.
func (r *Repo) origin(now version, before []version, line int) (*version, int, error) {
	if same := sameBlob(now, before); same != nil {
		return same, line, nil
	}
	for i := range before {
		was, err := r.lineIn(before[i], now, line)
		if err != nil || was > 0 {
			return &before[i], was, err
		}
	}
	return nil, 0, nil
}

// lineIn finds where a line of one version stands in an older one; 0 if it
// does not.
func (r *Repo) lineIn(old, now version, line int) (int, error) {
	if old.blob.IsZero() {
		return 0, nil
	}
	texts := [2]string{}
	for i, hash := range []plumbing.Hash{old.blob, now.blob} {
		data, err := (&treeFS{repo: r}).content(hash)
		if err != nil {
			return 0, err
		}
		texts[i] = string(data)
	}
	before, after := 0, 0
	for _, d := range diff.Do(texts[0], texts[1]) {
		n := strings.Count(d.Text, "\n")
		if !strings.HasSuffix(d.Text, "\n") {
			n++
		}
		switch d.Type {
		case diffmatchpatch.DiffDelete:
			before += n
		case diffmatchpatch.DiffInsert:
			if after += n; line <= after {
				return 0, nil
			}
		default:
			if line <= after+n {
				return before + line - after, nil
			}
			before, after = before+n, after+n
		}
	}
	return 0, nil
}
