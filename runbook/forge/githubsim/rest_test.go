package githubsim_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"reconcilebot/runbook/forge"
	"reconcilebot/runbook/forge/githubsim"
)

const repoAPI = "/api/v3/repos/" + gitops

// answer is what the REST interface said.
type answer struct {
	status int
	header http.Header
	raw    string
}

// field reads a value by its path, such as "errors.0.kind".
func (a answer) field(t *testing.T, path string) string {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(a.raw), &value); err != nil {
		t.Fatalf("%v: %s", err, a.raw)
	}
	for key := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[key]
		case []any:
			var i int
			if _, err := fmt.Sscan(key, &i); err != nil || i >= len(v) {
				return ""
			}
			value = v[i]
		}
	}
	return fmt.Sprint(value)
}

func (o office) ask(t *testing.T, login, method, path, body string, header ...string) answer {
	t.Helper()
	return o.with(t, "ghp_"+login, method, path, body, header...)
}

func (o office) with(t *testing.T, token, method, path, body string, header ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, o.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(raw)}
}

func TestTwoCommitsCompared(t *testing.T) {
	o := open(t, githubsim.Options{}, githubsim.Protection{})
	o.propose(t, "replicas: 6\n")
	if got := o.ask(t, "bot", "GET", repoAPI+"/compare/main...main", "").field(t, "status"); got != "identical" {
		t.Errorf("a branch and itself are %s", got)
	}
	if got := o.ask(t, "bot", "GET", repoAPI+"/compare/hotfix...main", "").field(t, "status"); got != "behind" {
		t.Errorf("main is %s", got)
	}
	if _, err := o.Commit(gitops, "main", githubsim.Change{Author: "bob", Message: "x", Files: map[string]string{"a b.txt": "1\n"}}); err != nil {
		t.Fatal(err)
	}
	got := o.ask(t, "bot", "GET", repoAPI+"/compare/main...acme:hotfix", "")
	for path, want := range map[string]string{
		"status": "diverged", "ahead_by": "1", "behind_by": "1", "files.0.filename": "prod/web.yaml", "files.0.status": "modified",
		"files.0.additions": "1", "files.0.deletions": "1", "commits.0.commit.message": "scale",
	} {
		if is := got.field(t, path); is != want {
			t.Errorf("%s = %s, want %s", path, is, want)
		}
	}
	if got := o.ask(t, "bot", "GET", repoAPI+"/compare/hotfix...main", ""); got.field(t, "files.0.filename") != "a b.txt" || got.field(t, "files.0.status") != "added" {
		t.Errorf("the other way: %s", got.raw)
	}
	if got := o.ask(t, "bot", "GET", repoAPI+"/compare/main...none", ""); got.status != http.StatusNotFound {
		t.Errorf("a branch that is not there = %d", got.status)
	}
}

func TestListsSayWhereTheyGoOn(t *testing.T) {
	o := open(t, githubsim.Options{}, githubsim.Protection{})
	var logins []string
	for i := range 250 {
		login := fmt.Sprintf("p%03d", i)
		o.AddUser(githubsim.User{Login: login})
		logins = append(logins, login)
	}
	o.AddTeam("acme", "many", logins...)
	got := o.ask(t, "bot", "GET", "/api/v3/orgs/acme/teams/many/members?per_page=100&page=2", "")
	for _, rel := range []string{`page=1&per_page=100>; rel="prev"`, `page=3&per_page=100>; rel="next"`, `page=3&per_page=100>; rel="last"`, `page=1&per_page=100>; rel="first"`} {
		if !strings.Contains(got.header.Get("Link"), rel) {
			t.Errorf("Link = %q lacks %s", got.header.Get("Link"), rel)
		}
	}
	for _, page := range []string{"4", "1000000000000000000"} {
		if got := o.ask(t, "bot", "GET", "/api/v3/orgs/acme/teams/many/members?per_page=100&page="+page, ""); got.raw != "[]\n" {
			t.Errorf("page %s = %s", page, got.raw)
		}
	}
	members, err := o.client(t, "bot").TeamMembers(t.Context(), "acme", "many")
	if err != nil || len(members) != 250 || members[249] != "p249" {
		t.Errorf("%d members, %v", len(members), err)
	}
}

func TestWhoMayDoWhat(t *testing.T) {
	o := open(t, githubsim.Options{}, githubsim.Protection{Reviews: 1})
	pr := o.propose(t, "replicas: 6\n")
	if err := o.Review(gitops, pr.Number, "carol", "APPROVE"); err != nil {
		t.Fatal(err)
	}
	review := o.ask(t, "bot", "GET", repoAPI+"/pulls/1/reviews", "").field(t, "0.id")
	comment := o.ask(t, "carol", "POST", repoAPI+"/issues/1/comments", `{"body":"why"}`).field(t, "id")
	o.AddUser(githubsim.User{Login: "ada", Token: "ghp_ada"})
	for _, c := range []struct {
		name, login, method, path, body string
		status                          int
	}{
		{"a collaborator", "bot", "GET", "/collaborators/carol", "", 204},
		{"no collaborator", "bot", "GET", "/collaborators/gwen", "", 404},
		{"the collaborators", "bot", "GET", "/collaborators", "", 200},
		{"the permission of nobody", "bot", "GET", "/collaborators/nobody/permission", "", 404},
		{"a stranger looks", "gwen", "GET", "/collaborators", "", 404},
		{"dismissal without being an administrator", "bot", "PUT", "/pulls/1/reviews/" + review + "/dismissals", `{"message":"x"}`, 403},
		{"dismissal without a reason", "ada", "PUT", "/pulls/1/reviews/" + review + "/dismissals", `{}`, 422},
		{"dismissal", "ada", "PUT", "/pulls/1/reviews/" + review + "/dismissals", `{"message":"too early"}`, 200},
		{"dismissal twice", "ada", "PUT", "/pulls/1/reviews/" + review + "/dismissals", `{"message":"too early"}`, 422},
		{"dismissal of no review", "ada", "PUT", "/pulls/1/reviews/0/dismissals", `{"message":"x"}`, 404},
		{"changes asked for without words", "bob", "POST", "/pulls/1/reviews", `{"event":"REQUEST_CHANGES"}`, 422},
		{"a comment changed", "carol", "PATCH", "/issues/comments/" + comment, `{"body":"because"}`, 200},
		{"a comment emptied", "carol", "PATCH", "/issues/comments/" + comment, `{"body":" "}`, 422},
		{"no comment changed", "carol", "PATCH", "/issues/comments/0", `{"body":"x"}`, 404},
		{"a protected branch moved", "bot", "PATCH", "/git/refs/heads/main", `{"sha":"hotfix","force":true}`, 422},
		{"a branch moved back", "bot", "PATCH", "/git/refs/heads/hotfix", `{"sha":"main"}`, 422},
		{"a protected branch deleted", "bot", "DELETE", "/git/refs/heads/main", "", 422},
		{"no JSON", "bot", "POST", "/pulls", `{`, 400},
	} {
		if got := o.ask(t, c.login, c.method, repoAPI+c.path, c.body); got.status != c.status {
			t.Errorf("%s = %d, want %d: %s", c.name, got.status, c.status, got.raw)
		}
	}
}

func TestMistakesInCodeowners(t *testing.T) {
	o := open(t, githubsim.Options{}, githubsim.Protection{})
	if got := o.ask(t, "bot", "GET", repoAPI+"/codeowners/errors", ""); got.raw != `{"errors":[]}`+"\n" {
		t.Errorf("good owners: %s", got.raw)
	}
	rules := "# who\n* @carol @acme/payments a@b.example\n!x @carol\n/y @gwen @acme/none word # @nobody\n"
	if _, err := o.Commit(gitops, "main", githubsim.Change{Author: "bob", Message: "x", Files: map[string]string{".github/CODEOWNERS": rules}}); err != nil {
		t.Fatal(err)
	}
	got := o.ask(t, "bot", "GET", repoAPI+"/codeowners/errors", "")
	for path, want := range map[string]string{
		"errors.0.kind": "Invalid pattern", "errors.0.line": "3", "errors.1.kind": "Unknown owner", "errors.1.line": "4", "errors.1.column": "4",
		"errors.2.kind": "Unknown owner", "errors.3.kind": "Invalid owner", "errors.4": "", "errors.0.path": ".github/CODEOWNERS",
	} {
		if is := got.field(t, path); is != want {
			t.Errorf("%s = %s, want %s: %s", path, is, want, got.raw)
		}
	}
}

func TestABranchThatIsBehind(t *testing.T) {
	o := open(t, githubsim.Options{}, githubsim.Protection{Checks: []string{"validate"}, Strict: true})
	pr := o.propose(t, "replicas: 6\n")
	update := repoAPI + "/pulls/1/update-branch"
	if got := o.ask(t, "bot", "PUT", update, ""); got.status != 422 || !strings.Contains(got.raw, "no new commits") {
		t.Errorf("up to date already: %d %s", got.status, got.raw)
	}
	if err := o.SetCheck(gitops, pr.HeadSHA, "validate", "success"); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Commit(gitops, "main", githubsim.Change{Author: "bob", Message: "x", Files: map[string]string{"other": "1\n"}}); err != nil {
		t.Fatal(err)
	}
	o.ask(t, "bot", "GET", repoAPI+"/pulls/1", "")
	if got := o.ask(t, "bot", "GET", repoAPI+"/pulls/1", "").field(t, "mergeable_state"); got != "behind" {
		t.Errorf("state = %s", got)
	}
	if _, merged, why, err := o.client(t, "bot").Merge(t.Context(), repo, 1, forge.MergeRequest{HeadSHA: pr.HeadSHA, Method: "merge"}); merged || err != nil || !strings.Contains(why, "up to date") {
		t.Errorf("merge = %v %q %v", merged, why, err)
	}
	if got := o.ask(t, "bot", "PUT", update, `{"expected_head_sha":"0"}`); got.status != 422 {
		t.Errorf("another head: %d", got.status)
	}
	if got := o.ask(t, "bot", "PUT", update, `{"expected_head_sha":"`+pr.HeadSHA+`"}`); got.status != http.StatusAccepted {
		t.Fatalf("update = %d %s", got.status, got.raw)
	}
	head := o.Pulls(gitops)[0].HeadSHA
	if err := o.SetCheck(gitops, head, "validate", "success"); err != nil {
		t.Fatal(err)
	}
	if err := o.MergePull(gitops, 1, "bob", "merge"); err != nil {
		t.Errorf("merge after the update: %v", err)
	}
	if got := o.ask(t, "bot", "GET", repoAPI+"/pulls/1/files", "").field(t, "0.filename"); got != "prod/web.yaml" {
		t.Errorf("a merged pull request shows %s", got)
	}
}

func TestTheBranchOfAnOpenPullRequestIsDeleted(t *testing.T) {
	o := open(t, githubsim.Options{}, githubsim.Protection{})
	pr := o.propose(t, "replicas: 6\n")
	git(t, o.clone(t, "bot"), "push", "-q", "origin", ":hotfix")
	now, err := o.client(t, "bot").Progress(t.Context(), repo, pr.Number)
	if err != nil || now.PR.State != forge.Closed || now.PR.HeadSHA != pr.HeadSHA {
		t.Errorf("after the deletion: %+v, %v", now.PR, err)
	}
	if got := o.ask(t, "bot", "PATCH", repoAPI+"/pulls/1", `{"state":"open"}`); got.status != 422 {
		t.Errorf("reopened without a branch: %d", got.status)
	}
}

func TestAPushTakesApprovalsAway(t *testing.T) {
	o := open(t, githubsim.Options{}, githubsim.Protection{Reviews: 1, DismissStale: true})
	pr := o.propose(t, "replicas: 6\n")
	if err := o.Review(gitops, pr.Number, "carol", "APPROVE"); err != nil {
		t.Fatal(err)
	}
	dir := o.clone(t, "bot")
	git(t, dir, "checkout", "-q", "hotfix")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "more")
	git(t, dir, "push", "-q", "origin", "hotfix")
	// Putting the old head back does not bring the approval back.
	git(t, dir, "push", "-q", "--force", "origin", pr.HeadSHA+":refs/heads/hotfix")
	now, err := o.client(t, "bot").Progress(t.Context(), repo, pr.Number)
	if err != nil || len(now.Reviews) != 1 || now.Reviews[0].State != "DISMISSED" || now.PR.HeadSHA != pr.HeadSHA {
		t.Errorf("after the push: %+v, %v", now, err)
	}
	if err := o.MergePull(gitops, 1, "bob", "merge"); err == nil {
		t.Error("merged on an approval of another commit")
	}
}

func TestUnchangedCheckRunsAreNotSentAgain(t *testing.T) {
	o := open(t, githubsim.Options{Checks: []githubsim.AutoCheck{{Name: "validate", After: time.Hour}}}, githubsim.Protection{})
	pr := o.propose(t, "replicas: 6\n")
	path := repoAPI + "/commits/" + pr.HeadSHA + "/check-runs"
	first := o.ask(t, "bot", "GET", path, "")
	spent := o.Spent()
	again := o.ask(t, "bot", "GET", path, "", "If-None-Match", first.header.Get("ETag"))
	if again.status != http.StatusNotModified || again.raw != "" || o.Spent() != spent {
		t.Errorf("again = %d %q, cost %d", again.status, again.raw, o.Spent()-spent)
	}
	if err := o.SetCheck(gitops, pr.HeadSHA, "validate", "failure"); err != nil {
		t.Fatal(err)
	}
	if now := o.ask(t, "bot", "GET", path, "", "If-None-Match", first.header.Get("ETag")); now.status != http.StatusOK || now.field(t, "check_runs.0.conclusion") != "failure" {
		t.Errorf("after the change = %d %s", now.status, now.raw)
	}
}

func TestLimits(t *testing.T) {
	o := open(t, githubsim.Options{}, githubsim.Protection{})
	for name, limit := range map[string]func(time.Time){"primary": o.SetLimited, "secondary": o.SetBusy} {
		until := time.Now().Add(90 * time.Second)
		limit(until)
		_, _, err := o.client(t, "bot").Whoami(t.Context())
		limit(time.Time{})
		limited, ok := errors.AsType[*forge.RateLimited](err)
		if !ok || limited.Until.Before(until.Add(-time.Second)) || limited.Until.After(until.Add(3*time.Second)) {
			t.Errorf("%s limit until %s: %v", name, until, err)
		}
	}
	if _, _, err := o.client(t, "bot").Whoami(t.Context()); err != nil {
		t.Errorf("after the limits: %v", err)
	}
}

func TestManyAtOnce(t *testing.T) {
	o := open(t, githubsim.Options{Checks: []githubsim.AutoCheck{{Name: "validate"}}}, githubsim.Protection{Reviews: 1, DismissStale: true})
	pr := o.propose(t, "replicas: 6\n")
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for range 3 {
				o.ask(t, "bot", "GET", repoAPI+"/pulls/1", "")
				o.look(t, "/"+gitops+"/pull/1?as=carol")
				o.ask(t, "carol", "POST", repoAPI+"/pulls/1/reviews", `{"event":"APPROVE"}`)
				o.ask(t, "bob", "POST", repoAPI+"/git/refs", fmt.Sprintf(`{"ref":"refs/heads/b%d","sha":%q}`, i, pr.HeadSHA))
			}
			o.ask(t, "bob", "PUT", repoAPI+"/pulls/1/merge", `{"merge_method":"squash"}`)
		})
	}
	all.Go(func() { o.clone(t, "bob") })
	all.Wait()
	if got := o.Pulls(gitops)[0]; got.State != "merged" {
		t.Errorf("state = %s", got.State)
	}
}
