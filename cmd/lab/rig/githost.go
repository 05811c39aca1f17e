package rig

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"reconcilebot/cmd/lab/systems"
	"reconcilebot/cmd/lab/world"
	"reconcilebot/runbook/forge"
	"reconcilebot/runbook/forge/githubsim"
)

// A GitHost is the local GitHub with the lab's accounts.
type GitHost struct {
	sim    *githubsim.Sim
	dir    string
	url    string
	tokens map[string]string // by login
	key    []byte            // the App's private key, in PEM form

	mu     sync.Mutex // guards what follows
	pushes map[string]int
	served chan struct{} // closed after the next request
}

// The Git host's accounts that are programs: the bot's App, an account for
// what people do by hand, and Argo CD's.
const (
	appSlug     = "reconcilebot"
	appClient   = "Iv1.reconcilebot"
	handLogin   = "by-hand"
	readerLogin = "argocd"
)

func newGitHost(dir, url string) (*GitHost, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	sim, err := githubsim.New(githubsim.Config{Dir: dir, URL: url})
	if err != nil {
		return nil, err
	}
	g := &GitHost{sim: sim, dir: dir, url: url, tokens: map[string]string{}, pushes: map[string]int{}, served: make(chan struct{})}
	for _, p := range world.People() {
		if !p.Guest {
			g.account(p.Name, p.FullName, p.Kubernetes)
		}
	}
	g.account(handLogin, "by hand", "by-hand@example.com")
	g.account(readerLogin, "Argo CD", "argocd@example.com")
	if err := g.app(); err != nil {
		return nil, err
	}
	sim.AddTeam(world.Owner, "payments", world.AppOwner, world.Platform)
	sim.AddTeam(world.Owner, "platform", world.Platform)
	return g, nil
}

// app registers and installs the bot's App, with the rights that it needs.
func (g *GitHost) app() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return fmt.Errorf("make the App's key: %w", err)
	}
	g.key = pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	rights := map[string]string{}
	for _, n := range forge.NeededRights() {
		rights[n.Name] = n.Level
	}
	g.sim.AddApp(githubsim.App{Slug: appSlug, Name: "reconcilebot", ClientID: appClient, Owner: world.Owner, Key: &key.PublicKey, Rights: rights})
	return g.sim.InstallApp(appSlug, githubsim.Install{Owner: world.Owner})
}

func (g *GitHost) account(login, name, email string) {
	token := "ghp_lab" + systems.Secret()
	g.tokens[login] = token
	g.sim.AddUser(githubsim.User{
		Login: login, Name: name, Email: email, Token: token, Scopes: "repo, read:org",
	})
}

// Handler serves the Git host.
func (g *GitHost) Handler() http.Handler {
	next := g.sim.Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		next.ServeHTTP(w, req)
		g.mu.Lock()
		defer g.mu.Unlock()
		if repo, push := strings.CutSuffix(req.URL.Path, ".git/git-receive-pack"); push {
			g.pushes[strings.TrimPrefix(repo, "/")]++
		}
		if repo, made := strings.CutSuffix(req.URL.Path, "/git/refs"); made && req.Method == http.MethodPost {
			g.pushes[strings.TrimPrefix(repo, "/api/v3/repos/")]++
		}
		close(g.served)
		g.served = make(chan struct{})
	})
}

// Until returns when cond holds. It looks again after every request that the
// Git host has answered and never sleeps; what names the condition in the error.
func (g *GitHost) Until(ctx context.Context, what string, cond func() bool) error {
	for {
		g.mu.Lock()
		served := g.served
		g.mu.Unlock()
		if cond() {
			return nil
		}
		select {
		case <-served:
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, context.Cause(ctx))
		}
	}
}

// Pushes is how often a branch was pushed to a world's repository over HTTP, or
// made by the API, which only the bot does.
func (g *GitHost) Pushes(w world.World) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pushes[fullName(w)]
}

// AppKey is the private key of the bot's App, in PEM form.
func (g *GitHost) AppKey() []byte { return g.key }

// HandToken is the token of the account for what people do by hand.
func (g *GitHost) HandToken() string { return g.tokens[handLogin] }

// Reader is the account that Argo CD reads with.
func (g *GitHost) Reader() (user, token string) { return readerLogin, g.tokens[readerLogin] }

// Create makes a world's repository, with its history, the rules of its main
// branch and a check that succeeds after a moment.
func (g *GitHost) Create(_ context.Context, w world.World) (url string, err error) {
	history := w.History()
	err = g.sim.CreateRepo(world.Owner, w.Repo, history[0].Files, githubsim.Options{
		Access: map[string]githubsim.Permission{
			world.OnCall: githubsim.Write, world.AppOwner: githubsim.Write, world.Platform: githubsim.Admin,
			handLogin: githubsim.Write, readerLogin: githubsim.Read,
		},
		DeleteBranches: true,
		Checks:         []githubsim.AutoCheck{{Name: "validate", After: 300 * time.Millisecond}},
	})
	if err != nil {
		return "", err
	}
	for _, c := range history[1:] {
		_, err := g.sim.Commit(fullName(w), "main", githubsim.Change{Author: c.Author, Message: c.Message, Files: c.Files, At: time.Now().Add(-c.Ago)})
		if err != nil {
			return "", err
		}
	}
	err = g.sim.Protect(fullName(w), "main", githubsim.Protection{Reviews: 1, CodeOwners: true, Checks: []string{"validate"}, DismissStale: true})
	return g.url + "/" + fullName(w) + ".git", err
}

// Approve gives somebody's review to a pull request.
func (g *GitHost) Approve(_ context.Context, w world.World, pull int, login string) error {
	return g.sim.Review(fullName(w), pull, login, "APPROVE")
}

// Pulls are the pull requests that were ever opened in a world's repository.
func (g *GitHost) Pulls(w world.World) []githubsim.Pull { return g.sim.Pulls(fullName(w)) }

// URL is the address of a world's repository.
func (g *GitHost) URL(w world.World) string { return g.url + "/" + fullName(w) + ".git" }

// Commit puts files on the main branch, as an administrator may, and gives the
// commit.
func (g *GitHost) Commit(w world.World, author, message string, files map[string]string) (sha string, err error) {
	return g.sim.Commit(fullName(w), "main", githubsim.Change{Author: author, Message: message, Files: files})
}

// SetDown makes the host answer nobody, or everybody again.
func (g *GitHost) SetDown(down bool) { g.sim.SetDown(down) }

// File is a file's content on the main branch, read by git itself.
func (g *GitHost) File(ctx context.Context, w world.World, path string) (string, error) {
	repo := filepath.Join(g.dir, world.Owner, w.Repo+".git")
	out, err := exec.CommandContext(ctx, "git", "--git-dir", repo, "show", "main:"+path).Output()
	if err != nil {
		return "", fmt.Errorf("read %s on main of %s: %w", path, fullName(w), err)
	}
	return string(out), nil
}

// HoldPull keeps requests that would open a pull request in a world's repository
// waiting.
func (g *GitHost) HoldPull(w world.World) *githubsim.Hold {
	path := "/repos/" + fullName(w) + "/pulls"
	return g.sim.Hold(func(req *http.Request) bool {
		return req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, path)
	})
}

func fullName(w world.World) string { return world.Owner + "/" + w.Repo }
