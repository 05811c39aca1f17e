package githubsim_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"reconcilebot/runbook/forge"
	"reconcilebot/runbook/forge/githubsim"
)

const gitops = "acme/gitops"

// office is a host with a protected repository and its people.
type office struct {
	*githubsim.Sim
	url string
}

func open(t *testing.T, o githubsim.Options, p githubsim.Protection) office {
	t.Helper()
	return openAt(t, &clock{}, o, p)
}

func openAt(t *testing.T, c *clock, o githubsim.Options, p githubsim.Protection) office {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	url := "http://" + server.Listener.Addr().String()
	sim, err := githubsim.New(githubsim.Config{Dir: t.TempDir(), Now: c.now, URL: url})
	if err != nil {
		t.Fatal(err)
	}
	for _, login := range []string{"bot", "bob", "carol", "gwen"} {
		sim.AddUser(githubsim.User{Login: login, Token: "ghp_" + login, Scopes: "repo"})
	}
	sim.AddTeam("acme", "payments", "carol")
	o.Access = map[string]githubsim.Permission{"bot": githubsim.Write, "bob": githubsim.Write, "carol": githubsim.Write, "ada": githubsim.Admin}
	files := map[string]string{".github/CODEOWNERS": "* @acme/payments\n", "prod/web.yaml": "replicas: 3\n"}
	if err := sim.CreateRepo("acme", "gitops", files, o); err != nil {
		t.Fatal(err)
	}
	if err := sim.Protect(gitops, "main", p); err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = githubDescribed(t).held(t, sim.Handler())
	server.Start()
	t.Cleanup(server.Close)
	return office{sim, url}
}

func (o office) client(t *testing.T, login string) *forge.GitHub {
	t.Helper()
	g, err := forge.NewGitHub(forge.Config{BaseURL: o.url + "/api/v3/", Token: func() (string, error) { return "ghp_" + login, nil }})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

var repo = forge.Repo{Owner: "acme", Name: "gitops"}

// propose pushes a change as the bot and opens a pull request for it.
func (o office) propose(t *testing.T, content string) forge.PR {
	t.Helper()
	dir := o.clone(t, "bot")
	if err := os.WriteFile(filepath.Join(dir, "prod", "web.yaml"), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "commit", "-qam", "scale")
	git(t, dir, "push", "-q", "origin", "HEAD:refs/heads/hotfix")
	pr, err := o.client(t, "bot").OpenPR(t.Context(), forge.Proposal{Repo: repo, Branch: "hotfix", Base: "main", Title: "scale", Body: "why", Labels: []string{"reconcile"}, TeamReviewers: []string{"payments"}})
	if err != nil {
		t.Fatal(err)
	}
	return pr
}

func (o office) clone(t *testing.T, login string) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "clone", "-q", strings.Replace(o.url, "http://", "http://x:ghp_"+login+"@", 1)+"/"+gitops+".git", ".")
	return dir
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := try(dir, args...)
	if err != nil {
		t.Fatalf("git %s: %v: %s", args, err, out)
	}
	return out
}

func write(t *testing.T, dir, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
		t.Fatal(err)
	}
}

func try(dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(context.Background(), "git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_GLOBAL=/dev/null")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestFromPushToMerge(t *testing.T) {
	for _, method := range []string{"merge", "squash", "rebase"} {
		t.Run(method, func(t *testing.T) {
			o := open(t, githubsim.Options{}, githubsim.Protection{Reviews: 1, CodeOwners: true, Checks: []string{"validate"}, Ruleset: true})
			bot := o.client(t, "bot")
			pr := o.propose(t, "replicas: 6\n")

			ask := forge.MergeRequest{HeadSHA: pr.HeadSHA, Method: method, Title: "hotfix: scale", Message: "for INC-1"}
			_, merged, why, err := bot.Merge(t.Context(), repo, pr.Number, ask)
			if err != nil || merged || !strings.Contains(why, "review") {
				t.Fatalf("merge without review = %v %q %v", merged, why, err)
			}
			if err := o.Review(gitops, pr.Number, "bob", "APPROVE"); err != nil {
				t.Fatal(err)
			}
			if err := o.SetCheck(gitops, pr.HeadSHA, "validate", "success"); err != nil {
				t.Fatal(err)
			}
			if _, merged, why, _ := bot.Merge(t.Context(), repo, pr.Number, ask); merged || !strings.Contains(why, "code owner") {
				t.Fatalf("merge without a code owner = %v %q", merged, why)
			}
			if err := o.Review(gitops, pr.Number, "carol", "APPROVE"); err != nil {
				t.Fatal(err)
			}
			sha, merged, why, err := bot.Merge(t.Context(), repo, pr.Number, ask)
			if err != nil || !merged {
				t.Fatalf("merge = %v %q %v", merged, why, err)
			}
			now, err := bot.Progress(t.Context(), repo, pr.Number)
			if err != nil || now.PR.State != "merged" || now.PR.MergeSHA != sha || now.PR.MergedBy != "bot" {
				t.Fatalf("after the merge: %+v, %v", now.PR, err)
			}
			if again, merged, _, err := bot.Merge(t.Context(), repo, pr.Number, ask); err != nil || !merged || again != sha {
				t.Errorf("merging again = %s %v %v, want the same merge", again, merged, err)
			}
			dir := o.clone(t, "bob")
			if raw, err := os.ReadFile(filepath.Join(dir, "prod", "web.yaml")); err != nil || string(raw) != "replicas: 6\n" {
				t.Errorf("main has %q, %v", raw, err)
			}
		})
	}
}

func TestAProtectedBranchTakesNoPush(t *testing.T) {
	o := open(t, githubsim.Options{}, githubsim.Protection{})
	dir := o.clone(t, "bot")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "x")
	if out, err := try(dir, "push", "origin", "HEAD:main"); err == nil || !strings.Contains(out, "GH006") {
		t.Errorf("push to main = %v: %s", err, out)
	}
	if out, err := try(t.TempDir(), "clone", strings.Replace(o.url, "http://", "http://x:ghp_gwen@", 1)+"/"+gitops+".git", "."); err == nil {
		t.Errorf("a stranger cloned a private repository: %s", out)
	}
}

func TestAnUnchangedPullRequestCostsNothing(t *testing.T) {
	o := open(t, githubsim.Options{}, githubsim.Protection{Reviews: 1})
	bot := o.client(t, "bot")
	pr := o.propose(t, "replicas: 6\n")
	for range 3 { // the first looks compute mergeability
		if _, err := bot.Progress(t.Context(), repo, pr.Number); err != nil {
			t.Fatal(err)
		}
	}
	spent := o.Spent()
	now, err := bot.Progress(t.Context(), repo, pr.Number)
	if err != nil || now.Changed || o.Spent() != spent {
		t.Errorf("looking again: changed %v, cost %d, %v", now.Changed, o.Spent()-spent, err)
	}
}

func TestRulesAndErrors(t *testing.T) {
	o := open(t, githubsim.Options{Methods: []string{"merge", "squash"}}, githubsim.Protection{Reviews: 2, CodeOwners: true, Checks: []string{"validate"}, Linear: true, Ruleset: true})
	rules, err := o.client(t, "bot").Rules(t.Context(), repo, "main")
	if err != nil || rules.Reviews != 2 || !rules.CodeOwnerReviews || len(rules.Checks) != 1 || len(rules.Methods) != 1 || rules.Methods[0] != "squash" {
		t.Errorf("rules = %+v, %v", rules, err)
	}
	if ok, err := o.client(t, "bot").CanWrite(t.Context(), repo); !ok || err != nil {
		t.Errorf("bot can write = %v, %v", ok, err)
	}
	if _, err := o.client(t, "gwen").CanWrite(t.Context(), repo); err == nil {
		t.Error("a stranger sees the repository")
	}
	if _, _, err := o.client(t, "nobody").Whoami(t.Context()); err == nil || strings.Contains(err.Error(), "ghp_") {
		t.Errorf("a bad token = %v", err)
	}
	o.SetDown(true)
	_, err = o.client(t, "bot").Rules(t.Context(), repo, "main")
	if _, down := errors.AsType[*forge.Unavailable](err); !down {
		t.Errorf("while the host is down: %v", err)
	}
}
