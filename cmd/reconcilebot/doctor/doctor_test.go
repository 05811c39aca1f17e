package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reconcilebot/bot/slacksim"
	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/forge"
)

// want checks that a finding of a level has some words.
func want(t *testing.T, found []Finding, level Level, words string) {
	t.Helper()
	for _, f := range found {
		if f.Level == level && strings.Contains(f.Check+": "+f.Say+". "+f.Cure, words) {
			return
		}
	}
	var all bytes.Buffer
	_ = Print(&all, found)
	t.Errorf("no %s with %q in:\n%s", level, words, all.String())
}

func token(s string) func() (string, error) { return func() (string, error) { return s, nil } }

const appManifest = `display_information: {name: Reconcile}
features:
  bot_user: {display_name: reconcile}
oauth_config:
  scopes:
    bot: [commands, chat:write, users:read]
settings: {socket_mode_enabled: true, interactivity: {is_enabled: true}}
`

// workspace is a local Slack with an engineer, a guest and one who left.
func workspace(t *testing.T) Slack {
	t.Helper()
	sim, err := slacksim.New(slacksim.Seed{
		Team: slacksim.Team{ID: "T0ACME", Name: "Acme", Domain: "acme"},
		Users: []slacksim.User{
			{ID: "U0ALICE", Name: "alice"},
			{ID: "U0GWEN", Name: "gwen", Guest: true},
			{ID: "U0DAN", Name: "dan", Deleted: true},
		},
		Manifest: []byte(appManifest),
	}, slacksim.Options{BotToken: "xoxb-hidden", AppToken: "xapp-hidden"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(sim.Handler())
	t.Cleanup(func() { server.Close(); sim.Close() })
	return Slack{
		API: server.URL + "/api/", AppToken: token("xapp-hidden"), BotToken: token("xoxb-hidden"), HTTP: server.Client(),
		Scopes: []string{"commands", "chat:write"}, People: map[string]string{"alice": "U0ALICE"},
	}
}

func TestSlack(t *testing.T) {
	tests := map[string]struct {
		change func(*Slack)
		level  Level
		words  string
	}{
		"all is well":             {func(*Slack) {}, OK, "works in Acme (T0ACME)"},
		"the scopes are there":    {func(*Slack) {}, OK, "all 2 are there"},
		"the socket opens":        {func(*Slack) {}, OK, "opens connections"},
		"the people are members":  {func(*Slack) {}, OK, "all 1 are full members"},
		"another workspace":       {func(s *Slack) { s.Team = "T0OTHER" }, Fail, "slack.team is T0OTHER"},
		"a scope is missing":      {func(s *Slack) { s.Scopes = append(s.Scopes, "files:write") }, Fail, "missing: files:write. paste the output"},
		"a revoked bot token":     {func(s *Slack) { s.BotToken = token("xoxb-hidden-old") }, Fail, "Slack answers invalid_auth. copy the Bot User"},
		"a revoked app token":     {func(s *Slack) { s.AppToken = token("xapp-hidden-old") }, Fail, "create an app-level token"},
		"and so knows nobody":     {func(s *Slack) { s.BotToken = token("xoxb-hidden-old") }, Fail, "mend the bot token first"},
		"a guest in the people":   {func(s *Slack) { s.People["gwen"] = "U0GWEN" }, Warn, "gwen is a guest"},
		"one who left":            {func(s *Slack) { s.People["dan"] = "U0DAN" }, Warn, "dan is deactivated"},
		"one whom nobody knows":   {func(s *Slack) { s.People["eve"] = "U0EVE" }, Fail, "there is no U0EVE"},
		"Slack can't be reached":  {func(s *Slack) { s.API = "http://127.0.0.1:1/api/" }, Fail, "check that this machine reaches"},
		"an address of something": {func(s *Slack) { s.API = strings.TrimSuffix(s.API, "api/") + "nothing/" }, Fail, "is slack.api right?"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := workspace(t)
			tt.change(&s)
			found := Examine(t.Context(), s.Checks())
			want(t, found, tt.level, tt.words)
			var all bytes.Buffer
			if err := errors.Join(Print(&all, found), PrintJSON(&all, found)); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(all.String(), "hidden") {
				t.Errorf("a token is in:\n%s", all.String())
			}
		})
	}
}

// argo is an Argo CD with one account.
type argo struct {
	version, account string
	err              error
	apps             []argocd.App
	rights           string // action project/name, …
}

func (a argo) Version(context.Context) (string, error)    { return a.version, a.err }
func (a argo) Whoami(context.Context) (string, error)     { return a.account, a.err }
func (a argo) Apps(context.Context) ([]argocd.App, error) { return a.apps, a.err }
func (a argo) CanI(_ context.Context, _, action, name string) (bool, error) {
	return strings.Contains(a.rights, action+" "+name), a.err
}

func TestArgoCD(t *testing.T) {
	apps := []argocd.App{{Ref: argocd.Ref{Name: "web"}, Project: "shop"}}
	good := argo{version: "v2.14.21+a1b2", account: "reconcilebot", apps: apps, rights: "sync shop/web, update shop/web, get shop/shop-apps"}
	tests := map[string]struct {
		change func(*argo)
		level  Level
		words  string
	}{
		"the tested version": {func(*argo) {}, OK, "v2.14.21"},
		"a newer one":        {func(a *argo) { a.version = "v3.1.0" }, Warn, "newer than what was tested"},
		"an older one":       {func(a *argo) { a.version = "v2.9.3" }, Fail, "upgrade Argo CD"},
		"no release":         {func(a *argo) { a.version = "latest" }, Warn, "is not a release"},
		"its own account":    {func(*argo) {}, OK, "is reconcilebot's"},
		"admin's account":    {func(a *argo) { a.account = "admin" }, Warn, "which may do everything"},
		"may sync":           {func(*argo) {}, OK, "may sync and may pause 1 Application"},
		"may not pause":      {func(a *argo) { a.rights = "sync shop/web" }, Warn, "may not update shop/web, so it can't pause there"},
		"an unread set": {func(a *argo) {
			a.apps = []argocd.App{{Ref: argocd.Ref{Name: "web"}, Project: "shop", Owner: "ApplicationSet other"}}
		}, Warn, "may not read ApplicationSet other"},
		"a set that is read": {func(a *argo) {
			a.apps = []argocd.App{{Ref: argocd.Ref{Name: "web"}, Project: "shop", Owner: "ApplicationSet shop-apps"}}
		}, OK, "may pause 1 Application"},
		"may not sync":         {func(a *argo) { a.rights = "" }, Fail, "may not sync shop/web. add to argocd-rbac-cm"},
		"may delete":           {func(a *argo) { a.rights += ", delete shop/web" }, Warn, "may delete shop/web"},
		"sees nothing":         {func(a *argo) { a.apps = nil }, Fail, "no Application can be seen"},
		"the token is no good": {func(a *argo) { a.err = &argocd.Denied{What: "ask", Token: true} }, Fail, "argocd account generate-token"},
		"and so shows nothing": {func(a *argo) { a.err = &argocd.Denied{What: "ask", Token: true} }, Fail, "mend the token first"},
		"it is down":           {func(a *argo) { a.err = errors.New("connection refused") }, Fail, "check argocd.server"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := good
			tt.change(&a)
			want(t, Examine(t.Context(), ArgoCD{"eu", a}.Checks()), tt.level, tt.words)
		})
	}
}

// grants are the rights of a cluster's user, as "verb resource.group".
type grants []string

func (g grants) CanI(_ context.Context, verb, group, resource, _ string) (bool, error) {
	for _, right := range g {
		if right == "down" {
			return false, errors.New("connection refused")
		}
		if right == verb+" "+(Right{Group: group, Resource: resource}).String() {
			return true, nil
		}
	}
	return false, nil
}

func TestKubernetes(t *testing.T) {
	rights := []Right{{"apps", "deployments", []string{"get", "list"}}, {"", "services", []string{"get"}}}
	enough := grants{"get deployments.apps", "list deployments.apps", "get services"}
	tests := map[string]struct {
		grants grants
		level  Level
		words  string
	}{
		"enough":            {enough, OK, "all of 2 resources"},
		"no more":           {enough, OK, "Secrets can't be read"},
		"one is missing":    {enough[:2], Fail, "may not get services. apply deploy/base/rbac.yaml"},
		"Secrets":           {append(grants{"list secrets"}, enough...), Fail, "may list secrets"},
		"writing":           {append(grants{"patch deployments.apps"}, enough...), Warn, "may patch deployments.apps"},
		"the server's down": {grants{"down"}, Fail, "check kubeconfig and context"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			want(t, Examine(t.Context(), Cluster{"eu", tt.grants, rights}.Checks()), tt.level, tt.words)
		})
	}
}

func TestDisk(t *testing.T) {
	dir := t.TempDir()
	open := filepath.Join(dir, "open.db")
	if err := os.WriteFile(open, []byte("not a state file"), 0o644); err != nil {
		t.Fatal(err)
	}
	found := Examine(t.Context(), Disk{State: open, Cache: filepath.Join(dir, "a", "b")}.Checks())
	want(t, found, Warn, "can be read by others. chmod 600")
	want(t, found, Fail, "put a backup in its place")
	found = Examine(t.Context(), Disk{State: filepath.Join(dir, "new.db"), Cache: dir}.Checks())
	want(t, found, OK, "will be created")
	found = Examine(t.Context(), Disk{State: filepath.Join(dir, "none", "s.db"), Cache: dir}.Checks())
	want(t, found, Fail, "no such file or directory. create it")
	if _, err := os.Stat(filepath.Join(dir, "new.db")); err == nil {
		t.Error("looking created the file")
	}
}

func TestAudit(t *testing.T) {
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	want(t, Examine(t.Context(), Audit{}.Checks()), Warn, "two people must approve")
	want(t, Examine(t.Context(), Audit{Listen: "127.0.0.1:0"}.Checks()), OK, "is free")
	want(t, Examine(t.Context(), Audit{Listen: socket.Addr().String()}.Checks()), OK, "a bot is running")
	want(t, Examine(t.Context(), Audit{Listen: "127.0.0.1:0", CertFile: "none", KeyFile: "none"}.Checks()), Fail, "PEM")
}

func TestSlowSystemIsGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errSlow)
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	found := Examine(ctx, []Check{Slack{API: server.URL + "/", BotToken: token("x"), HTTP: server.Client()}.bot})
	want(t, found, Fail, errSlow.Error())
}

func TestReportForPrograms(t *testing.T) {
	var out bytes.Buffer
	if err := PrintJSON(&out, []Finding{area("slack").fail("scopes", "do it", "missing: %s", "x")}); err != nil {
		t.Fatal(err)
	}
	var report struct {
		Healthy bool
		Checks  []Finding
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil || report.Healthy || len(report.Checks) != 1 || report.Checks[0].Cure != "do it" {
		t.Errorf("report %s, error %v", fmt.Sprint(report), err)
	}
}

// gitHost is a Git host with one repository, acme/gitops.
type gitHost struct {
	err      error
	scopes   []string
	readOnly bool
	rules    forge.Rules
	lacking  []forge.Needed
}

func (g gitHost) Whoami(context.Context) (string, []string, error) {
	return "acme-bot", g.scopes, g.err
}

func (g gitHost) CanWrite(_ context.Context, r forge.Repo) (bool, error) {
	if r.String() != "acme/gitops" {
		return false, errors.New("404 Not Found")
	}
	return !g.readOnly, g.err
}

func (g gitHost) Rules(context.Context, forge.Repo, string) (forge.Rules, error) {
	return g.rules, g.err
}

func (g gitHost) LackingRights(context.Context, forge.Repo) ([]forge.Needed, error) {
	return g.lacking, g.err
}

// installs are the installations of a GitHub App.
type installs []forge.Installation

func (i installs) Installations(context.Context) ([]forge.Installation, error) {
	if len(i) == 1 && i[0].Owner == "down" {
		return nil, errors.New("connection refused")
	}
	return i, nil
}

func TestGitHubApp(t *testing.T) {
	rights := func() forge.Rights {
		r := forge.Rights{}
		for _, n := range forge.NeededRights() {
			r[n.Name] = n.Level
		}
		return r
	}
	tests := map[string]struct {
		change func(*forge.Installation)
		level  Level
		words  string
	}{
		"all is well":             {func(*forge.Installation) {}, OK, "has the rights that are needed and no others"},
		"a right is missing":      {func(i *forge.Installation) { i.Rights["contents"] = "read" }, Fail, "lacks the right contents: write"},
		"one that can be missing": {func(i *forge.Installation) { delete(i.Rights, "members") }, Warn, "lacks the right members: read"},
		"a right too much":        {func(i *forge.Installation) { i.Rights["secrets"] = "write" }, Warn, "has more than the bot uses: secrets: write"},
		"a level too much":        {func(i *forge.Installation) { i.Rights["administration"] = "write" }, Warn, "administration: write, where read is enough"},
		"a right of the tickets":  {func(i *forge.Installation) { i.Rights["issues"] = "write" }, OK, "no others"},
		"all repositories":        {func(i *forge.Installation) { i.All = true }, Warn, "is open to all repositories"},
		"it is suspended":         {func(i *forge.Installation) { i.Suspended = true }, Fail, "lift the suspension"},
		"GitHub does not answer":  {func(i *forge.Installation) { i.Owner = "down" }, Fail, "connection refused"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := forge.Installation{Owner: "acme", Rights: rights()}
			tt.change(&in)
			g := GitHub{
				Host: gitHost{}, App: installs{in}, Beside: []string{"issues"}, Web: "https://github.com",
				Apps: func(context.Context) ([]argocd.App, error) { return nil, nil },
			}
			want(t, Examine(t.Context(), g.Checks()), tt.level, tt.words)
		})
	}
}

func TestGitHub(t *testing.T) {
	app := func(url string) argocd.App {
		return argocd.App{Ref: argocd.Ref{Name: "web"}, Sources: []argocd.Source{{RepoURL: url, TargetRevision: "main"}}}
	}
	good := gitHost{rules: forge.Rules{Protected: true, Readable: true, Reviews: 1, Checks: []string{"validate"}}}
	const here = "https://github.com/acme/gitops.git"
	tests := map[string]struct {
		change func(*gitHost)
		url    string
		level  Level
		words  string
	}{
		"the account":             {func(*gitHost) {}, here, OK, "is acme-bot's"},
		"a repository":            {func(*gitHost) {}, here, OK, "branch main asks for 1 review and 1 check"},
		"too strong a token":      {func(g *gitHost) { g.scopes = []string{"repo", "admin:org"} }, here, Warn, "has the scope admin:org"},
		"read only":               {func(g *gitHost) { g.readOnly = true }, here, Fail, "give the token's account the role Write"},
		"one that can't be seen":  {func(*gitHost) {}, "https://github.com/acme/other.git", Fail, "acme/other: 404 Not Found"},
		"rules that can't be had": {func(g *gitHost) { g.rules = forge.Rules{Why: "403"} }, here, Warn, "can't be read: 403"},
		"no protection":           {func(g *gitHost) { g.rules.Protected = false }, here, Warn, "protect the branch"},
		"another host":            {func(*gitHost) {}, "https://user:hidden@example.com/a/b.git", Warn, "comes from https://example.com/a/b.git, which is not on"},
		"a token that ended":      {func(g *gitHost) { g.err = errors.New("401 Bad credentials") }, here, Fail, "make a fine-grained token"},
		"a right that is missing": {func(g *gitHost) { g.lacking = forge.NeededRights()[2:3] }, here, Fail, "lacks the right pull_requests: write"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			g := good
			tt.change(&g)
			apps := func(context.Context) ([]argocd.App, error) { return []argocd.App{app(tt.url)}, nil }
			found := Examine(t.Context(), GitHub{Host: g, Web: "https://github.com", Apps: apps}.Checks())
			want(t, found, tt.level, tt.words)
			if strings.Contains(fmt.Sprint(found), "hidden") {
				t.Errorf("a password is in %v", found)
			}
		})
	}
}
