package githubsim_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reconcilebot/runbook/forge"
	"reconcilebot/runbook/forge/githubsim"
)

// appKey is a private key, made once: that takes a while.
var appKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

func keyText(key *rsa.PrivateKey) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
}

// clock is a time that tests move.
type clock struct{ offset atomic.Int64 }

func (c *clock) now() time.Time       { return time.Now().Add(time.Duration(c.offset.Load())) }
func (c *clock) pass(d time.Duration) { c.offset.Add(int64(d)) }

func neededRights() map[string]string {
	rights := map[string]string{}
	for _, n := range forge.NeededRights() {
		rights[n.Name] = n.Level
	}
	return rights
}

// signIn registers an App that acme has installed, and signs in as it.
func (o office) signIn(t *testing.T, c *clock, install githubsim.Install) (*forge.App, *forge.GitHub) {
	t.Helper()
	o.AddApp(githubsim.App{Slug: "reconcile", ClientID: "Iv1.5a3", Owner: "acme", Key: &appKey().PublicKey, Rights: neededRights()})
	install.Owner = "acme"
	if err := o.InstallApp("reconcile", install); err != nil {
		t.Fatal(err)
	}
	return o.app(t, c, "Iv1.5a3", keyText(appKey()))
}

func (o office) app(t *testing.T, c *clock, issuer, key string) (*forge.App, *forge.GitHub) {
	t.Helper()
	app, err := forge.NewApp(forge.AppConfig{BaseURL: o.url + "/api/v3/", Issuer: issuer, Key: func() (string, error) { return key, nil }, Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	g, err := forge.NewGitHub(forge.Config{BaseURL: o.url + "/api/v3/", App: app})
	if err != nil {
		t.Fatal(err)
	}
	return app, g
}

func TestAnAppDoesTheWholeJob(t *testing.T) {
	c := &clock{}
	o := openAt(t, c, githubsim.Options{}, githubsim.Protection{Reviews: 1})
	app, g := o.signIn(t, c, githubsim.Install{Repos: []string{"gitops"}})
	token, err := app.Token(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	git(t, dir, "clone", "-q", strings.Replace(o.url, "http://", "http://x-access-token:"+token+"@", 1)+"/"+gitops+".git", ".")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "scale")
	git(t, dir, "push", "-q", "origin", "HEAD:refs/heads/hotfix")
	pr, err := g.OpenPR(t.Context(), forge.Proposal{Repo: repo, Branch: "hotfix", Base: "main", Title: "scale", Labels: []string{"reconcile"}})
	if err != nil {
		t.Fatal(err)
	}
	if author := o.Pulls(gitops)[0].Author; author != "reconcile[bot]" {
		t.Errorf("the pull request is by %s", author)
	}
	if err := o.Review(gitops, pr.Number, "bob", "APPROVE"); err != nil {
		t.Fatal(err)
	}
	// A first look makes GitHub work out whether it can be merged.
	if _, err := g.Progress(t.Context(), repo, pr.Number); err != nil {
		t.Fatal(err)
	}
	if _, merged, why, err := g.Merge(t.Context(), repo, pr.Number, forge.MergeRequest{HeadSHA: pr.HeadSHA, Method: "merge"}); err != nil || !merged {
		t.Errorf("merged %v, %q, %v", merged, why, err)
	}
	login, scopes, err := g.Whoami(t.Context())
	if err != nil || login != "reconcile[bot]" || len(scopes) > 0 {
		t.Errorf("it is %s with %v, %v", login, scopes, err)
	}
	if may, err := g.CanWrite(t.Context(), repo); !may || err != nil {
		t.Errorf("can write: %v, %v", may, err)
	}
	if n := o.Minted(); n != 1 {
		t.Errorf("%d tokens were made for one hour", n)
	}
}

func TestATokenIsRenewedBeforeItEnds(t *testing.T) {
	c := &clock{}
	o := openAt(t, c, githubsim.Options{}, githubsim.Protection{})
	app, g := o.signIn(t, c, githubsim.Install{})
	look := func(when string, minted int) {
		t.Helper()
		if _, err := g.CanWrite(t.Context(), repo); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		if n := o.Minted(); n != minted {
			t.Errorf("%s: %d tokens were made, want %d", when, n, minted)
		}
	}
	look("at first", 1)
	c.pass(45 * time.Minute)
	look("three quarters of an hour on", 1)
	c.pass(8 * time.Minute)
	look("seven minutes before the end", 2)

	first, err := app.Token(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	c.pass(55 * time.Minute)
	o.SetDown(true)
	if token, err := app.Token(t.Context(), "acme"); err != nil || token != first {
		t.Errorf("while GitHub is down, the token in hand is not used: %v", err)
	}
	c.pass(6 * time.Minute)
	_, err = app.Token(t.Context(), "acme")
	if _, down := errors.AsType[*forge.Unavailable](err); !down {
		t.Errorf("while GitHub is down, with no token left: %v", err)
	}
	o.SetDown(false)
	look("when it is back", 3)

	o.RevokeTokens()
	look("after all tokens were taken back", 4)
	if _, err := g.OpenPR(t.Context(), forge.Proposal{Repo: repo, Branch: "none", Base: "main", Title: "x"}); err == nil || strings.Contains(err.Error(), "Bad credentials") {
		t.Errorf("a request with a body: %v", err)
	}
}

func TestManyAskForOneToken(t *testing.T) {
	o := openAt(t, &clock{}, githubsim.Options{}, githubsim.Protection{})
	_, g := o.signIn(t, &clock{}, githubsim.Install{})
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if _, err := g.CanWrite(t.Context(), repo); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := o.Minted(); n != 1 {
		t.Errorf("%d tokens were made", n)
	}
}

func TestWhatAnAppMayNot(t *testing.T) {
	c := &clock{}
	o := openAt(t, c, githubsim.Options{}, githubsim.Protection{Reviews: 2})
	less := neededRights()
	less["pull_requests"], less["contents"] = "read", "read"
	delete(less, "administration")
	app, g := o.signIn(t, c, githubsim.Install{Rights: less})
	token, err := app.Token(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	for _, try := range []struct {
		name, method, path, body, accepted string
		status                             int
	}{
		{"to push a branch", "POST", repoAPI + "/git/refs", `{}`, "contents=write", 403},
		{"to open a pull request", "POST", repoAPI + "/pulls", `{}`, "pull_requests=write", 403},
		{"to comment", "POST", repoAPI + "/issues/1/comments", `{}`, "issues=write; pull_requests=write", 403},
		{"to see the protection", "GET", repoAPI + "/branches/main/protection", "", "administration=read", 403},
		{"to read a branch", "GET", repoAPI + "/branches/main", "", "contents=read", 200},
		{"to be a person", "GET", "/api/v3/user", "", "", 403},
		{"what only the App itself may", "GET", "/api/v3/app", "", "", 401},
		{"another's repository", "GET", "/api/v3/repos/other/gitops", "", "", 404},
	} {
		got := o.with(t, token, try.method, try.path, try.body)
		if got.status != try.status || got.header.Get("X-Accepted-GitHub-Permissions") != try.accepted {
			t.Errorf("%s: %d, accepted %q, want %d and %q", try.name, got.status, got.header.Get("X-Accepted-GitHub-Permissions"), try.status, try.accepted)
		}
	}
	if may, err := g.CanWrite(t.Context(), repo); may || err != nil {
		t.Errorf("can write: %v, %v", may, err)
	}
	rules, err := g.Rules(t.Context(), repo, "main")
	if err != nil || rules.Readable || !strings.Contains(rules.Why, "Administration") {
		t.Errorf("rules = %+v, %v", rules, err)
	}
	dir := t.TempDir()
	git(t, dir, "clone", "-q", strings.Replace(o.url, "http://", "http://x-access-token:"+token+"@", 1)+"/"+gitops+".git", ".")
	if out, err := try(dir, "push", "origin", "HEAD:refs/heads/hotfix"); err == nil || !strings.Contains(out, "403") {
		t.Errorf("a push without the right to: %v, %s", err, out)
	}
	installs, err := app.Installations(t.Context())
	if err != nil || len(installs) != 1 || len(installs[0].Rights.Missing()) != 3 || len(installs[0].Rights.Excess()) != 0 || !installs[0].All {
		t.Errorf("installations = %+v, %v", installs, err)
	}
}

func TestWhyAnAppIsRefused(t *testing.T) {
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		issuer, key, owner string
		change             func(office, *clock)
		want               string
	}{
		"installed nowhere here": {"Iv1.5a3", keyText(appKey()), "umbrella", func(office, *clock) {}, "is not installed with umbrella"},
		"suspended":              {"Iv1.5a3", keyText(appKey()), "acme", func(o office, _ *clock) { o.SuspendApp("reconcile", "acme", true) }, "suspended"},
		"uninstalled":            {"Iv1.5a3", keyText(appKey()), "acme", func(o office, _ *clock) { o.UninstallApp("reconcile", "acme") }, "is not installed with acme"},
		"an unknown App":         {"Iv1.000", keyText(appKey()), "acme", func(office, *clock) {}, "knows no App with this id"},
		"another's key":          {"Iv1.5a3", keyText(other), "acme", func(office, *clock) {}, "check the App's id, its private key"},
		"a clock that is late":   {"Iv1.5a3", keyText(appKey()), "acme", func(_ office, c *clock) { c.pass(-time.Hour) }, "this machine's clock"},
		"no key":                 {"Iv1.5a3", "-----BEGIN hidden", "acme", func(office, *clock) {}, "no RSA private key"},
	} {
		t.Run(name, func(t *testing.T) {
			o := openAt(t, &clock{}, githubsim.Options{}, githubsim.Protection{})
			c := &clock{}
			o.signIn(t, c, githubsim.Install{})
			app, _ := o.app(t, c, tt.issuer, tt.key)
			tt.change(o, c)
			_, err := app.Token(t.Context(), tt.owner)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hidden") {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestAFineGrainedTokenTellsWhatItLacks(t *testing.T) {
	o := open(t, githubsim.Options{}, githubsim.Protection{})
	rights := neededRights()
	o.AddUser(githubsim.User{Login: "bot", Token: "ghp_bot", Rights: rights})
	lacking, err := o.client(t, "bot").LackingRights(t.Context(), repo)
	if err != nil || len(lacking) > 0 {
		t.Errorf("with all rights it lacks %v, %v", lacking, err)
	}
	rights["pull_requests"] = "read"
	delete(rights, "checks")
	lacking, err = o.client(t, "bot").LackingRights(t.Context(), repo)
	if err != nil || len(lacking) != 2 || lacking[0].Name != "pull_requests" || lacking[1].Name != "checks" {
		t.Errorf("it lacks %v, %v", lacking, err)
	}
	if pulls := o.Pulls(gitops); len(pulls) > 0 {
		t.Errorf("trying left %v behind", pulls)
	}
}

func TestALargePush(t *testing.T) {
	o := open(t, githubsim.Options{}, githubsim.Protection{})
	dir := o.clone(t, "bot")
	noise := make([]byte, 3<<20) // does not compress: git sends it in pieces
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "noise.bin", noise)
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "noise")
	git(t, dir, "push", "-q", "origin", "HEAD:refs/heads/large")
	if got := git(t, o.clone(t, "bob"), "show", "origin/large:noise.bin"); !bytes.Equal([]byte(got), noise) {
		t.Error("what arrived is not what was pushed")
	}
}
