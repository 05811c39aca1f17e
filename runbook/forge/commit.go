package forge

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/go-github/v62/github"
)

// Commit is a commit to be made by the Git host, which then signs it: in the
// name of who the token is for, a commit by an App or a token shows as
// verified there, without a key of ours.
// https://docs.github.com/en/authentication/managing-commit-signature-verification/about-commit-signature-verification#signature-verification-for-bots
type Commit struct {
	Repo Repo
	// Branch is made for it; it must not be there, or be at this commit.
	Branch string
	// Base is the SHA of the parent, Tree that of the tree which must come out.
	Base, Tree string
	Files      []File
	Message    string
}

// File is a whole file after the commit; one without a mode is taken away.
type File struct {
	Path string
	// Mode is 100644 or 100755.
	Mode    string
	Content []byte
}

// Taken says that a branch is there already, with something else.
type Taken struct{ Branch, SHA string }

func (e *Taken) Error() string {
	return fmt.Sprintf("branch %s is at %s, which is not this commit; it was left alone", e.Branch, e.SHA)
}

// MakeCommit makes the commit and the branch. A call that was cut off can be
// made again: a branch with the same commit is taken as made. No branch is
// ever moved.
func (g *GitHub) MakeCommit(ctx context.Context, c Commit) (sha string, err error) {
	if sha, err := g.madeBefore(ctx, c); err != nil || sha != "" {
		return sha, err
	}
	at := func(doing string, err error) error {
		return fmt.Errorf("%s for branch %s of %s: %w", doing, c.Branch, c.Repo, g.sort(err))
	}
	entries := []*github.TreeEntry{}
	for _, f := range c.Files {
		entry := &github.TreeEntry{Path: github.String(f.Path), Type: github.String("blob"), Mode: github.String("100644")}
		if f.Mode != "" {
			blob, _, err := g.api.Git.CreateBlob(ctx, c.Repo.Owner, c.Repo.Name, &github.Blob{
				Content: github.String(base64.StdEncoding.EncodeToString(f.Content)), Encoding: github.String("base64"),
			})
			if err != nil {
				return "", at("write "+f.Path, err)
			}
			entry.Mode, entry.SHA = github.String(f.Mode), blob.SHA
		}
		entries = append(entries, entry)
	}
	tree, _, err := g.api.Git.CreateTree(ctx, c.Repo.Owner, c.Repo.Name, c.Base, entries)
	if err != nil {
		return "", at("write the tree", err)
	}
	if tree.GetSHA() != c.Tree {
		return "", fmt.Errorf("GitHub made another tree (%s) of the files for branch %s than was proven (%s); nothing was committed", tree.GetSHA(), c.Branch, c.Tree)
	}
	made, _, err := g.api.Git.CreateCommit(ctx, c.Repo.Owner, c.Repo.Name, &github.Commit{
		Message: github.String(c.Message), Tree: &github.Tree{SHA: tree.SHA}, Parents: []*github.Commit{{SHA: github.String(c.Base)}},
	}, nil)
	if err != nil {
		return "", at("make the commit", err)
	}
	_, _, err = g.api.Git.CreateRef(ctx, c.Repo.Owner, c.Repo.Name, &github.Reference{
		Ref: github.String("refs/heads/" + c.Branch), Object: &github.GitObject{SHA: made.SHA},
	})
	switch {
	case status(err) == http.StatusUnprocessableEntity && strings.Contains(said(err), "already exists"):
		return g.madeBefore(ctx, c)
	case err != nil:
		return "", at("make the branch", err)
	}
	return made.GetSHA(), nil
}

// madeBefore looks for the branch: "" if it is not there.
func (g *GitHub) madeBefore(ctx context.Context, c Commit) (string, error) {
	ref, _, err := g.api.Git.GetRef(ctx, c.Repo.Owner, c.Repo.Name, "heads/"+c.Branch)
	if status(err) == http.StatusNotFound {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look for branch %s of %s: %w", c.Branch, c.Repo, g.sort(err))
	}
	sha := ref.GetObject().GetSHA()
	have, _, err := g.api.Git.GetCommit(ctx, c.Repo.Owner, c.Repo.Name, sha)
	if err != nil {
		return "", fmt.Errorf("read commit %s of %s: %w", sha, c.Repo, g.sort(err))
	}
	same := have.GetTree().GetSHA() == c.Tree && strings.TrimSpace(have.GetMessage()) == strings.TrimSpace(c.Message) &&
		slices.EqualFunc(have.Parents, []string{c.Base}, func(p *github.Commit, sha string) bool { return p.GetSHA() == sha })
	if !same {
		return "", &Taken{c.Branch, sha}
	}
	return sha, nil
}
