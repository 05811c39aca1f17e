package githubsim_test

import (
	"errors"
	"strings"
	"testing"

	"reconcilebot/runbook/forge"
	"reconcilebot/runbook/forge/githubsim"
)

func TestACommitMadeByTheHost(t *testing.T) {
	o := open(t, githubsim.Options{}, githubsim.Protection{})
	bot := o.client(t, "bot")
	dir := o.clone(t, "bot")
	base := strings.TrimSpace(git(t, dir, "rev-parse", "HEAD"))
	write(t, dir, "prod/web.yaml", []byte("replicas: 6\n"))
	git(t, dir, "rm", "-q", ".github/CODEOWNERS")
	git(t, dir, "add", ".")
	commit := forge.Commit{
		Repo: repo, Branch: "reconcile/x", Base: base, Tree: strings.TrimSpace(git(t, dir, "write-tree")), Message: "scale\n\nOperator: alice",
		Files: []forge.File{{Path: "prod/web.yaml", Mode: "100644", Content: []byte("replicas: 6\n")}, {Path: ".github/CODEOWNERS"}},
	}
	sha, err := bot.MakeCommit(t.Context(), commit)
	if err != nil {
		t.Fatal(err)
	}
	if good, why := o.Verified(gitops, sha); !good {
		t.Errorf("it is not verified: %s", why)
	}
	if again, err := bot.MakeCommit(t.Context(), commit); err != nil || again != sha {
		t.Errorf("made again it is %s, not %s: %v", again, sha, err)
	}
	git(t, dir, "fetch", "-q")
	if got := git(t, dir, "log", "-1", "--format=%an|%cn|%P|%B", "origin/reconcile/x"); !strings.HasPrefix(got, "bot|GitHub|"+base+"|scale\n\nOperator: alice") {
		t.Errorf("the commit is %s", got)
	}

	other := commit
	other.Message = "something else"
	_, err = bot.MakeCommit(t.Context(), other)
	if taken, ok := errors.AsType[*forge.Taken](err); !ok || taken.SHA != sha {
		t.Errorf("somebody's branch: %v", err)
	}
	other.Branch, other.Tree = "reconcile/y", base
	if _, err := bot.MakeCommit(t.Context(), other); err == nil || !strings.Contains(err.Error(), "than was proven") {
		t.Errorf("another tree than was proven: %v", err)
	}
	if out := git(t, dir, "ls-remote", "origin", "refs/heads/reconcile/y"); out != "" {
		t.Errorf("a branch was left behind: %s", out)
	}
}
