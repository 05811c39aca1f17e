package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/forge"
	"reconcilebot/runbook/stopwatch"
)

// groups reads who is in what others keep a list of.
type groups struct {
	slack interface {
		Group(ctx context.Context, id string) ([]string, error)
	}
	host interface {
		TeamMembers(ctx context.Context, org, team string) ([]string, error)
	}
	repos *repositories
}

// SlackGroup lists the Slack ids in a user group.
func (g groups) SlackGroup(ctx context.Context, id string) ([]string, error) {
	return g.slack.Group(ctx, id)
}

// Team lists the logins in a team on GitHub.
func (g groups) Team(ctx context.Context, org, team string) ([]string, error) {
	return g.host.TeamMembers(ctx, org, team)
}

// Owners gives those who own all of the files, by CODEOWNERS at the tip of
// what the target follows; without files, all manifests in its folder.
func (g groups) Owners(ctx context.Context, t drift.TargetInfo, files []string) ([]string, error) {
	tree, err := g.tree(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("read the code owners of %s: %w", t.Short(), err)
	}
	if len(files) == 0 {
		if files, err = manifests(tree, t.Path); err != nil {
			return nil, fmt.Errorf("list the manifests of %s: %w", t.Short(), err)
		}
	}
	rules, err := forge.Codeowners(tree)
	if err != nil {
		return nil, fmt.Errorf("read the code owners of %s: %w", t.Short(), err)
	}
	return ownersOfAll(rules, files), nil
}

// tree is what the target follows, as it is on the remote now. A repository
// on another host is none whose CODEOWNERS count: its names are other
// people's.
func (g groups) tree(ctx context.Context, t drift.TargetInfo) (fs.FS, error) {
	if t.RepoURL == "" {
		return nil, errors.New("which repository it follows is not known yet; look at it first")
	}
	if g.repos.config(t.RepoURL).Token == nil {
		return nil, errors.New("its repository is not on the configured Git host")
	}
	repo, err := g.repos.get(ctx, t.RepoURL)
	if err != nil {
		return nil, err
	}
	back := stopwatch.Outside(ctx)
	err = repo.Fetch(ctx)
	back()
	if err != nil {
		return nil, err
	}
	branch := t.TargetRevision
	if branch == "" || branch == "HEAD" {
		if branch, err = repo.DefaultBranch(ctx); err != nil {
			return nil, err
		}
	}
	sha, found, err := repo.Branch(ctx, branch)
	if err == nil && !found {
		err = errNoRevision
	}
	if err != nil {
		return nil, err
	}
	return repo.Tree(ctx, sha)
}

// manifests lists the YAML and JSON files in a folder and below.
func manifests(tree fs.FS, dir string) (files []string, err error) {
	err = fs.WalkDir(tree, path.Clean(strings.Trim(dir, "/")), func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name)) {
			files = append(files, name)
		}
		return err
	})
	return files, err
}

// ownersOfAll are the owners that every one of the files has.
func ownersOfAll(rules []byte, files []string) (owners []string) {
	for i, file := range files {
		these := forge.Owners(rules, file)
		if i == 0 {
			owners = slices.Clone(these)
			continue
		}
		owners = slices.DeleteFunc(owners, func(o string) bool {
			return !slices.ContainsFunc(these, func(t string) bool { return strings.EqualFold(o, t) })
		})
	}
	return owners
}
