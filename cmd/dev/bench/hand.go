package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"reconcilebot/cmd/lab/rig"
	"reconcilebot/cmd/lab/world"
	"reconcilebot/runbook/forge"
)

// script is one person at a shell, in a clone of the repository.
type script struct {
	ctx   context.Context
	lab   *rig.Rig
	world world.World
	times *stages
	dir   string
	env   []string
	err   error
}

// hand does the job as the runbook says, with git, kubectl and argocd. The
// clone is there already. Opening, reviewing and merging the pull request is
// not timed, though the bot's is.
func hand(ctx context.Context, lab *rig.Rig, w world.World, times *stages) (err error) {
	dir, err := os.MkdirTemp("", "reconcilebot-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s := &script{ctx: ctx, lab: lab, world: w, times: times, dir: dir, env: append(os.Environ(),
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_TERMINAL_PROMPT=0", "HOME="+dir, "TMPDIR="+dir, // argocd leaves files there
		"GIT_AUTHOR_NAME=alice", "GIT_AUTHOR_EMAIL=alice@example.com", "GIT_COMMITTER_NAME=alice", "GIT_COMMITTER_EMAIL=alice@example.com",
		"ARGOCD_OPTS=--plaintext")}
	return s.play()
}

func (s *script) play() error {
	app, manifest := s.world.App, s.world.Manifest()
	kubectl := []string{s.lab.Kube.Kubectl, "--kubeconfig", s.lab.Kube.Kubeconfig(world.OnCall), "-n", s.world.Namespace()}
	remote := strings.Replace(s.lab.GitPage, "http://", "http://x:"+s.lab.Git.HandToken()+"@", 1) + "/" + world.Owner + "/" + s.world.Repo + ".git"
	argocd := s.lab.Argo.CLI

	s.run("", "git", "clone", "-q", remote, ".")
	s.run("", argocd, "login", strings.TrimPrefix(s.lab.Argo.URL, "http://"), "--username", "admin", "--password", s.lab.Argo.Password)
	s.run("", append(kubectl, "scale", "deployment/"+app, "--replicas=6")...)
	s.outOfSync()

	s.run("git pull", "git", "pull", "-q", "--ff-only")
	s.run("kubectl get", append(kubectl, "get", "deployment", app, "-o", "yaml")...)
	s.run("argocd app diff", argocd, "app", "diff", app, "--exit-code=false")
	s.run("edit", "sed", "-i", "s/^  replicas: 3$/  replicas: 6/", manifest)
	s.run("git commit", "git", "commit", "-q", "-a", "-m", "Run six replicas")
	s.run("git push", "git", "push", "-q", "origin", "HEAD:refs/heads/hotfix")
	head := s.run("", "git", "rev-parse", "HEAD")
	s.run("argocd app manifests", argocd, "app", "manifests", app, "--revision", head)
	s.run("argocd app diff, of the commit", argocd, "app", "diff", app, "--revision", head, "--exit-code=false")
	s.merge(head)
	s.run("argocd app get --refresh", argocd, "app", "get", app, "--refresh")
	s.run("argocd app wait, for the sync that goes by itself", argocd, "app", "wait", app, "--operation")
	s.run("argocd app sync", argocd, "app", "sync", app)
	s.run("argocd app wait", argocd, "app", "wait", app, "--sync", "--health")
	return s.err
}

// run runs a program and notes its time; without a name it is not timed. Once
// one has failed the following ones are left out.
func (s *script) run(name string, args ...string) string {
	if s.err != nil {
		return ""
	}
	cmd := exec.CommandContext(s.ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = s.dir, s.env
	begun := time.Now()
	out, err := cmd.CombinedOutput()
	if name != "" {
		s.times.add(name, time.Since(begun).Milliseconds())
	}
	if err != nil {
		s.err = fmt.Errorf("%s %s: %w: %s", filepath.Base(args[0]), args[1], err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s *script) outOfSync() {
	if s.err == nil {
		_, s.err = s.lab.Kube.Until(s.ctx, s.world.ApplicationObject(), "OutOfSync", world.OutOfSync)
	}
}

// merge has the pull request opened, reviewed and merged by others.
func (s *script) merge(head string) {
	if s.err != nil {
		return
	}
	host, err := forge.NewGitHub(forge.Config{
		BaseURL: s.lab.GitPage + "/api/v3/",
		Token:   func() (string, error) { return s.lab.Git.HandToken(), nil },
	})
	if err != nil {
		s.err = err
		return
	}
	repo := forge.Repo{Owner: world.Owner, Name: s.world.Repo}
	pull, err := host.OpenPR(s.ctx, forge.Proposal{Repo: repo, Branch: "hotfix", Base: "main", Title: "Run six replicas"})
	if err == nil {
		err = s.lab.Git.Approve(s.ctx, s.world, pull.Number, world.Platform)
	}
	if err != nil {
		s.err = err
		return
	}
	s.err = merged(s.ctx, host, repo, pull.Number, head)
}

// merged asks again until the checks have passed.
func merged(ctx context.Context, host *forge.GitHub, repo forge.Repo, number int, head string) error {
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		_, done, why, err := host.Merge(ctx, repo, number, forge.MergeRequest{HeadSHA: head, Method: "merge"})
		if err != nil || done {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("merge the pull request: %s: %w", why, context.Cause(ctx))
		case <-again.C:
		}
	}
}
