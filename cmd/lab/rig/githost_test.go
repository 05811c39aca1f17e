package rig

import (
	"context"
	"errors"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reconcilebot/cmd/lab/world"
)

// TestPushIsSeen pushes to the Git host as the bot does, while somebody waits
// for it.
func TestPushIsSeen(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	url := "http://" + server.Listener.Addr().String()
	g, err := newGitHost(filepath.Join(t.TempDir(), "git"), url)
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = g.Handler()
	server.Start()
	t.Cleanup(server.Close)
	w, other := world.New(1, "pushed"), world.New(2, "other")
	for _, w := range []world.World{w, other} {
		if _, err := g.Create(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	if n := g.Pushes(w); n != 0 {
		t.Fatalf("%d pushes before the first", n)
	}
	seen := make(chan error)
	go func() {
		seen <- g.Until(t.Context(), "the push", func() bool { return g.Pushes(w) > 0 })
	}()

	dir := t.TempDir()
	remote := strings.Replace(url, "http://", "http://by-hand:"+g.HandToken()+"@", 1) + "/" + fullName(w) + ".git"
	for _, args := range [][]string{
		{"clone", "--quiet", remote, dir},
		{"-C", dir, "push", "--quiet", "origin", "HEAD:refs/heads/hotfix"},
	} {
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args[0], err, out)
		}
	}
	if err := <-seen; err != nil {
		t.Error(err)
	}
	if n, others := g.Pushes(w), g.Pushes(other); n != 1 || others != 0 {
		t.Errorf("%d pushes here and %d elsewhere, want 1 and 0", n, others)
	}
}

func TestUntilEndsWithItsContext(t *testing.T) {
	g, err := newGitHost(t.TempDir(), "http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	err = g.Until(ctx, "the merge", func() bool { return false })
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "the merge") {
		t.Errorf("said %v", err)
	}
}
