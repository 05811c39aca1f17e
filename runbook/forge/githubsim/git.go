package githubsim

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// timeout bounds one call of git; all repositories are local and small.
const timeout = time.Minute

// gitEnv keeps the machine's own configuration and prompts out.
func gitEnv() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.DevNull, "LC_ALL=C",
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
	}
}

// call is one run of git in a repository.
type call struct {
	dir   string
	env   []string
	stdin string
}

// git gives what git prints, without the line break at its end.
func (c call) git(args ...string) (string, error) {
	out, err := c.raw(args...)
	return strings.TrimSuffix(out, "\n"), err
}

func (c call) raw(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = c.dir, append(gitEnv(), c.env...)
	cmd.Stdin = strings.NewReader(c.stdin)
	var out, trouble bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &trouble
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(trouble.String()))
	}
	return out.String(), nil
}

func (r *repo) git(args ...string) (string, error) { return call{dir: r.dir}.git(args...) }

// head is the commit of a branch; "" when there is none.
func (r *repo) head(branch string) string {
	sha, err := r.git("rev-parse", "--verify", "--quiet", "refs/heads/"+branch+"^{commit}")
	if err != nil {
		return ""
	}
	return sha
}

// commitOf resolves a branch, tag or SHA.
func (r *repo) commitOf(revision string) (string, bool) {
	if strings.HasPrefix(revision, "-") {
		return "", false
	}
	sha, err := r.git("rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	return sha, err == nil && sha != ""
}

// signature is the environment that makes git commit as somebody.
func signature(who string, name, email string, at time.Time) []string {
	return []string{
		"GIT_" + who + "_NAME=" + name, "GIT_" + who + "_EMAIL=" + email,
		"GIT_" + who + "_DATE=" + at.UTC().Format(time.RFC3339),
	}
}
