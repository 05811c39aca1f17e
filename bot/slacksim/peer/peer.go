// Package peer gives tests Slack's own libraries for Node: the independent
// peer that the local Slack is held against. Nothing of it is part of the
// program.
package peer

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// packages are the releases that the local Slack was held against. Undici 7 is
// the HTTP client that web-api needs on Node 20; the compiler checks what the
// local Slack sends against the types that Slack publishes.
var packages = []string{
	"@slack/bolt@5.1.0", "@slack/socket-mode@3.1.0", "@slack/web-api@8.2.0", "@slack/types@3.2.0", "undici@7.16.0", "typescript@5.9.3",
}

// oldest is the major version of Node that the libraries need.
const oldest = 20

// Folder installs the libraries once per machine and names the folder whose
// node_modules has them. Without npm, and in short runs, the test is skipped.
func Folder(tb testing.TB) string {
	tb.Helper()
	return install(tb, packages...)
}

// Install installs other packages than Slack's, for tests that hold something
// else against its publisher's own.
func Install(tb testing.TB, packages ...string) string {
	tb.Helper()
	return install(tb, packages...)
}

// Node is a Node that is new enough: the machine's, or else one that npm
// brings.
func Node(tb testing.TB) string {
	tb.Helper()
	if path, err := exec.LookPath("node"); err == nil && major(tb.Context(), path) >= oldest {
		return path
	}
	return filepath.Join(install(tb, "node@"+strconv.Itoa(oldest)), "node_modules", "node", "bin", "node")
}

// Run runs a script in dir with that Node and returns what it prints. The
// script finds the libraries in the folder that PEER_FOLDER names. The error
// holds its complaints.
func Run(tb testing.TB, dir, script string, args ...string) ([]byte, error) {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), Node(tb), append([]string{script}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PEER_FOLDER="+Folder(tb))
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", filepath.Base(script), err, out, complaints.String())
	}
	return out, nil
}

func major(ctx context.Context, node string) int {
	out, err := exec.CommandContext(ctx, node, "--version").Output()
	if err != nil {
		return 0
	}
	number, _, _ := strings.Cut(strings.TrimPrefix(string(out), "v"), ".")
	n, err := strconv.Atoi(number)
	if err != nil {
		return 0
	}
	return n
}

// install installs packages into a folder of their own under the user's cache.
// It is made aside and moved into place, so that two tests that install at the
// same time do no harm to each other.
func install(tb testing.TB, packages ...string) string {
	tb.Helper()
	if testing.Short() {
		tb.Skip("short: no Node")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		tb.Skip("needs npm on the path")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		tb.Fatal(err)
	}
	name := strings.NewReplacer("/", "-", "@", "").Replace(strings.Join(packages, "-"))
	folder := filepath.Join(cache, "reconcilebot", "peer", name)
	if _, err := os.Stat(folder); err == nil {
		return folder
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		tb.Fatal(err)
	}
	aside, err := os.MkdirTemp(filepath.Dir(folder), "installing-")
	if err != nil {
		tb.Fatal(err)
	}
	defer os.RemoveAll(aside)
	args := append([]string{"install", "--prefix", aside, "--no-audit", "--no-fund", "--loglevel=error"}, packages...)
	if out, err := exec.CommandContext(tb.Context(), npm, args...).CombinedOutput(); err != nil {
		tb.Fatalf("install %s: %v: %s", packages, err, out)
	}
	if err := os.Rename(aside, folder); err != nil {
		if _, err := os.Stat(folder); err != nil {
			tb.Fatalf("install %s: %v", packages, err)
		}
	}
	return folder
}
