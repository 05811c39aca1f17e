package build

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// said is a Display that remembers.
type said struct {
	mu    sync.Mutex
	lines []string
}

func (s *said) Live(string) {}
func (s *said) Say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, text)
}

func hello(t *testing.T, source string) Program {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module hello\n\ngo 1.26.0\n")
	write(t, filepath.Join(dir, "go.sum"), "")
	write(t, filepath.Join(dir, "main.go"), source)
	return Program{Name: "hello", Module: dir, Package: ".", Usual: time.Minute}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

const works = "package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\"hello\") }\n"

func TestBuiltOnceAndAgainOnlyAfterAChange(t *testing.T) {
	d := &said{}
	b := Builder{Cache: t.TempDir(), Display: d, Now: time.Now}
	p := hello(t, works)

	first := build(t, b, p)
	if out, err := exec.Command(first).Output(); err != nil || string(out) != "hello" {
		t.Fatalf("the built program said %q, %v", out, err)
	}
	if second := build(t, b, p); second != first || len(d.lines) != 2 {
		t.Errorf("a second build made %s after %s and said %q", second, first, d.lines)
	}
	write(t, filepath.Join(p.Module, "go.mod"), "module hello\n\ngo 1.26.1\n")
	if third := build(t, b, p); third == first {
		t.Error("a changed go.mod did not build again")
	}
}

func build(t *testing.T, b Builder, p Program) string {
	t.Helper()
	paths, err := b.Build(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return paths[p.Name]
}

func TestBuildThatFailsSaysWhyAndLeavesNothing(t *testing.T) {
	b := Builder{Cache: t.TempDir(), Display: &said{}, Now: time.Now}
	p := hello(t, "package main\n\nfunc main() { nothing() }\n")
	paths, err := b.Build(t.Context(), p)
	if err == nil || !strings.Contains(err.Error(), "build hello") || !strings.Contains(err.Error(), "undefined: nothing") {
		t.Errorf("said %v", err)
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(paths["hello"]), "*"))
	if len(left) != 0 {
		t.Errorf("left %q", left)
	}
}

func TestStoppedBuildSaysWhoStoppedIt(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(os.ErrClosed)
	_, err := Builder{Cache: t.TempDir(), Display: &said{}, Now: time.Now}.Build(ctx, hello(t, works))
	if err == nil {
		t.Error("a stopped build was reported as done")
	}
}

func TestProgressLine(t *testing.T) {
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	now := func() time.Time { return at }
	jobs := []job{
		{Program: Program{Name: "kubernetes", Usual: 3 * time.Minute}},
		{Program: Program{Name: "argocd", Usual: 5 * time.Minute}},
	}
	p := newProgress(&said{}, now, jobs)
	defer p.close()
	s := p.of(0)
	want(t, p.line(), "building kubernetes (1 of 2): listing packages, about 8m0s left in all")
	s.downloading("go: downloading k8s.io/api v0.34.4")
	want(t, p.line(), "building kubernetes (1 of 2): downloading modules, 1 so far, about 8m0s left in all")
	s.begin(count{packages: 1000, stale: 500})
	want(t, p.line(), "building kubernetes (1 of 2): [##########..........] 500 of 1000 packages, about 6m30s left in all")
	for range 250 {
		s.compiled("k8s.io/api/core/v1")
	}
	at = at.Add(100 * time.Second)
	want(t, p.line(), "building kubernetes (1 of 2): [###############.....] 750 of 1000 packages (k8s.io/api/core/v1), about 7m0s left in all")
	for range 250 {
		s.compiled("k8s.io/kubernetes/pkg/proxy")
	}
	want(t, p.line(), "building kubernetes (1 of 2): 1000 packages compiled, linking, about 5m10s left in all")
}

func want(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("line\n got %s\nwant %s", got, want)
	}
}
