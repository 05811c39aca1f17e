package rig

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"reconcilebot/cmd/lab/world"
)

type GitHost struct{ dir string }

func newGitHost(dir, url string) (*GitHost, error)                    { return &GitHost{dir}, nil }
func (g *GitHost) ServeHTTP(w http.ResponseWriter, req *http.Request) { http.NotFound(w, req) }
func (g *GitHost) BotToken() string                                   { return "ghp_x" }
func (g *GitHost) Reader() (string, string)                           { return "argocd", "x" }
func (g *GitHost) Create(ctx context.Context, w world.World) (string, error) {
	dir := filepath.Join(g.dir, w.Repo)
	run := func(env []string, args ...string) error {
		c := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
		c.Env = append(os.Environ(), env...)
		return c.Run()
	}
	os.MkdirAll(dir, 0o755)
	if err := run(nil, "init", "-b", "main"); err != nil {
		return "", err
	}
	for _, c := range w.History() {
		for f, t := range c.Files {
			os.MkdirAll(filepath.Dir(filepath.Join(dir, f)), 0o755)
			os.WriteFile(filepath.Join(dir, f), []byte(t), 0o644)
		}
		run(nil, "add", "-A")
		at := time.Now().Add(-c.Ago).Format(time.RFC3339)
		if err := run([]string{"GIT_AUTHOR_DATE=" + at, "GIT_COMMITTER_DATE=" + at, "GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@x", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x@x"}, "commit", "-m", c.Message); err != nil {
			return "", err
		}
	}
	return "file://" + dir, nil
}
