package git

import (
	"container/heap"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Commit is what is known of a commit.
type Commit struct {
	SHA         string    `json:"sha"`
	AuthorName  string    `json:"authorName"`
	AuthorEmail string    `json:"authorEmail"`
	Subject     string    `json:"subject"`
	When        time.Time `json:"when"`
	// Trailers are the "Key: value" lines at the message's end; of a key
	// that is there twice, the last.
	Trailers map[string]string `json:"trailers,omitempty"`
}

func described(c *object.Commit) Commit {
	subject, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
	return Commit{
		SHA: c.Hash.String(), AuthorName: c.Author.Name, AuthorEmail: c.Author.Email,
		Subject: strings.TrimSpace(subject), When: c.Author.When.UTC(), Trailers: trailers(c.Message),
	}
}

// trailers reads the last paragraph of a message, if it is one of trailers
// from end to end and not the first.
//
// Source: https://git-scm.com/docs/git-interpret-trailers
func trailers(message string) map[string]string {
	paragraphs := strings.Split(strings.TrimSpace(strings.ReplaceAll(message, "\r\n", "\n")), "\n\n")
	if len(paragraphs) < 2 {
		return nil
	}
	found := map[string]string{}
	last := ""
	for line := range strings.SplitSeq(paragraphs[len(paragraphs)-1], "\n") {
		if last != "" && strings.HasPrefix(line, " ") {
			found[last] += " " + strings.TrimSpace(line)
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		if !ok || key == "" || strings.ContainsAny(key, " \t") {
			return nil
		}
		last = key
		found[key] = strings.TrimSpace(value)
	}
	return found
}

// maxWalk bounds the commits that are looked at in search of a file's past.
const maxWalk = 50_000

// History lists the commits that changed a file, newest first, at most that
// many. Like `git log`, it follows one parent of a merge where that one has
// the file as it is after the merge.
func (r *Repo) History(ctx context.Context, sha, path string, most int) ([]Commit, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []Commit
	err := r.walk(ctx, sha, path, func(c *object.Commit) bool {
		list = append(list, described(c))
		return len(list) < most
	})
	return list, err
}

// version is a file in one commit; the zero hash means that it is not there.
type version struct {
	commit *object.Commit
	blob   plumbing.Hash
}

// walk calls f for each commit that changed a file until it says stop. The
// caller holds mu.
func (r *Repo) walk(ctx context.Context, sha, path string, f func(*object.Commit) bool) error {
	start, err := r.commit(sha)
	if err != nil {
		return err
	}
	todo := &newest{start}
	seen := map[plumbing.Hash]bool{start.Hash: true}
	for n := 0; todo.Len() > 0 && n < maxWalk; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := heap.Pop(todo).(*object.Commit)
		now, before, err := r.versions(c, path)
		if err != nil {
			return fmt.Errorf("read the history of %s in %s: %w", path, r.config.URL, err)
		}
		follow := before
		if same := sameBlob(now, before); same != nil {
			follow = []version{*same}
		} else if (len(before) > 0 || !now.blob.IsZero()) && !f(c) {
			return nil
		}
		for _, v := range follow {
			if !seen[v.commit.Hash] {
				seen[v.commit.Hash] = true
				heap.Push(todo, v.commit)
			}
		}
	}
	return nil
}

func sameBlob(now version, before []version) *version {
	for i := range before {
		if before[i].blob == now.blob {
			return &before[i]
		}
	}
	return nil
}

// versions reads a file in a commit and in its parents.
func (r *Repo) versions(c *object.Commit, path string) (now version, before []version, err error) {
	if now, err = at(c, path); err != nil {
		return now, nil, err
	}
	for _, hash := range c.ParentHashes {
		parent, err := r.repo.CommitObject(hash)
		if err != nil {
			return now, nil, err
		}
		v, err := at(parent, path)
		if err != nil {
			return now, nil, err
		}
		before = append(before, v)
	}
	return now, before, nil
}

func at(c *object.Commit, path string) (version, error) {
	tree, err := c.Tree()
	if err != nil {
		return version{}, err
	}
	entry, err := tree.FindEntry(path)
	if err != nil {
		return version{commit: c}, nil // not there is an answer
	}
	return version{commit: c, blob: entry.Hash}, nil
}

// newest is a heap of commits, the latest first.
type newest []*object.Commit

func (h newest) Len() int           { return len(h) }
func (h newest) Less(i, j int) bool { return h[i].Committer.When.After(h[j].Committer.When) }
func (h newest) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *newest) Push(x any)        { *h = append(*h, x.(*object.Commit)) }
func (h *newest) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
