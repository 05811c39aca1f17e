package book

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"reconcilebot/runbook"
	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/forge"
	"reconcilebot/runbook/forge/githubsim"
	"reconcilebot/runbook/git"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

const deployment = `# takes card payments
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: %d  # one more than a zone takes away
  template:
    spec:
      containers:
      - {name: web, image: web:1}
`

var (
	target = drift.Target{Cluster: "eu", Kind: drift.Application, Namespace: "argocd", Name: "payments-web"}
	web    = manifest.Object{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "payments", Name: "web"}
	alice  = state.Person{ID: "U1", Name: "alice", GitHub: "alice", Kubernetes: []string{"alice@example.com"}}
	bob    = state.Person{ID: "U2", Name: "bob", GitHub: "bob"}
)

// world is a Git host and Git that are real but local, and a controller with
// a cluster that behave: one Deployment whose replicas somebody scaled.
type world struct {
	host   *githubsim.Sim
	repo   *git.Repo
	engine *runbook.Engine
	db     *state.DB
	path   string
	config Config
	now    time.Time
	mu     sync.Mutex
	live   int
	person string
	seen   string // the revision that the controller has seen
	last   *argocd.Operation
	syncs  int
	down   bool
	auto   bool
	// later is a label that somebody else adds, which Argo CD does not see.
	later bool
	// image is what somebody else set it to; empty while it is as in Git.
	image   string
	refused string
	// tries are the dry runs, denied what they answer to what is valid.
	tries  []string
	denied error
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{live: 6, person: "alice@example.com", now: time.Date(2026, 3, 14, 14, 2, 0, 0, time.UTC), path: filepath.Join(t.TempDir(), "state.db")}
	host, err := githubsim.New(githubsim.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	w.host = host
	for _, login := range []string{"bot", "bob"} {
		host.AddUser(githubsim.User{Login: login, Token: "ghp_" + login})
	}
	host.AddTeam("acme", "payments", "bob")
	if err := host.CreateRepo("acme", "gitops", map[string]string{
		"CODEOWNERS": "/prod/ @acme/payments\n", "prod/web.yaml": fmt.Sprintf(deployment, 3),
	}, githubsim.Options{Access: map[string]githubsim.Permission{"bot": githubsim.Write, "bob": githubsim.Write}}); err != nil {
		t.Fatal(err)
	}
	if err := host.Protect("acme/gitops", "main", githubsim.Protection{Reviews: 1, CodeOwners: true, Checks: []string{"validate"}, Ruleset: true}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(host.Handler())
	t.Cleanup(server.Close)
	const token = "ghp_bot"
	w.repo, err = git.Open(t.Context(), git.Config{Dir: t.TempDir(), URL: server.URL + "/acme/gitops.git", Token: func(context.Context) (string, error) { return token, nil }})
	if err != nil {
		t.Fatal(err)
	}
	client, err := forge.NewGitHub(forge.Config{BaseURL: server.URL + "/api/v3/", Token: func() (string, error) { return token, nil }})
	if err != nil {
		t.Fatal(err)
	}
	w.config = Config{
		Clusters: map[string]Cluster{"eu": {Survey: w, Argo: w, Trial: w}},
		Repo:     func(context.Context, string) (Repository, error) { return w.repo, nil },
		Host:     client, Policy: w, Merge: true,
		Links: Links{
			File: func(repo forge.Repo, sha, path string, line int) string {
				return fmt.Sprintf("https://git/%s/%s#L%d", repo, path, line)
			},
			Commit: func(repo forge.Repo, sha string) string { return "https://git/" + sha },
			Thread: func(id state.ReconciliationID) string { return "https://slack/" + string(id) },
			Ticket: func(id state.IncidentID) string { return "https://tickets/" + string(id) },
			Audit:  func(id string) string { return "https://logs/" + id },
		},
		Timing: Timing{ApprovalExpires: 30 * time.Minute, PollHost: time.Second, PollController: time.Second, StableFor: time.Minute, Verify: 15 * time.Minute, Merge: time.Hour},
		Author: git.Person{Name: "reconcilebot", Email: "bot@example.com"},
		Now:    w.clock, Log: slog.New(slog.DiscardHandler),
	}
	w.start(t)
	t.Cleanup(func() { _ = w.db.Close() })
	if err := w.repo.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.seen, _, err = w.repo.Branch(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// start opens the state and makes an engine, as after a restart.
func (w *world) start(t *testing.T) {
	t.Helper()
	db, err := state.Open(w.path, w.clock)
	if err != nil {
		t.Fatal(err)
	}
	w.db = db
	w.engine = runbook.New(runbook.Config{DB: db, Books: Books(w.config), Log: slog.New(slog.DiscardHandler), Now: w.clock})
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) Approvers(string) ([]string, int) { return []string{"@payments-owners"}, 1 }

func (w *world) NameOf(user string) string {
	if user == "alice@example.com" {
		return "alice"
	}
	return ""
}

func (w *world) replicasAt(ctx context.Context, sha string) (float64, error) {
	objects, err := w.Manifests(ctx, argocd.Ref{}, sha)
	if err != nil {
		return 0, err
	}
	value, _ := manifest.Path{manifest.Key("spec"), manifest.Key("replicas")}.Get(objects[0])
	return number(value), nil
}

var imagePath = podContainers.Child(manifest.Item("name", "web")).Child(manifest.Key("image"))

func (w *world) imageAt(ctx context.Context, sha string) (string, error) {
	objects, err := w.Manifests(ctx, argocd.Ref{}, sha)
	if err != nil {
		return "", err
	}
	value, _ := imagePath.Get(objects[0])
	return fmt.Sprint(value), nil
}

func number(v any) float64 {
	var f float64
	_, _ = fmt.Sscan(fmt.Sprint(v), &f)
	return f
}

func (w *world) Survey(ctx context.Context, t drift.Target) (drift.Drift, error) {
	if w.down {
		return drift.Drift{}, &argocd.Unavailable{Err: fmt.Errorf("connection refused")}
	}
	want, err := w.replicasAt(ctx, w.seen)
	d := drift.Drift{Target: t, Sync: "Synced", Health: "Healthy", Revision: w.seen, TargetRevision: "main", Refused: w.refused, URL: "https://argo/payments-web"}
	if w.later {
		d.Changes = []drift.Change{{Object: web, UID: "u-1", Path: manifest.Path{manifest.Key("metadata"), manifest.Key("labels"), manifest.Key("x")}, Op: manifest.Add, Live: "y", Invisible: true}}
	}
	if err != nil || w.refused != "" {
		return d, err
	}
	if git, err := w.imageAt(ctx, w.seen); err == nil && w.image != "" && git != w.image {
		d.Sync = "OutOfSync"
		d.Changes = append(d.Changes, drift.Change{
			Object: web, UID: "u-1", Path: imagePath, Op: manifest.Set, Git: git, Live: w.image,
			Evidence: drift.Evidence{Kind: "audit", Person: "dora@example.com", Tool: "kubectl set image"},
		})
	}
	if int(want) == w.live {
		return d, nil
	}
	d.Sync = "OutOfSync"
	evidence := drift.Evidence{Kind: "audit", Person: w.person, Tool: "kubectl scale", AuditID: "a-1", At: time.Date(2026, 3, 14, 13, 58, 0, 0, time.UTC)}
	if w.person == "" {
		evidence.Kind = "manager"
	}
	d.Changes = append(d.Changes, drift.Change{
		Object: web, UID: "u-1", Path: manifest.Path{manifest.Key("spec"), manifest.Key("replicas")},
		Op: manifest.Set, Git: want, Live: float64(w.live), Evidence: evidence,
	})
	return d, nil
}

func (w *world) App(context.Context, argocd.Ref) (argocd.App, error) {
	if w.down {
		return argocd.App{}, &argocd.Unavailable{Err: fmt.Errorf("connection refused")}
	}
	app := argocd.App{
		Ref:     argocd.Ref{Namespace: "argocd", Name: "payments-web"},
		Sources: []argocd.Source{{RepoURL: "http://git/acme/gitops.git", Path: "prod", TargetRevision: "main", Kind: "directory"}},
		Dest:    argocd.Dest{Namespace: "payments"}, Health: "Healthy", Operation: w.last,
		Automated: argocd.Automated{Present: w.auto, Enabled: w.auto},
		Sync:      argocd.Sync{Status: "Synced", Revision: w.seen},
	}
	want, err := w.replicasAt(context.Background(), w.seen)
	image, _ := w.imageAt(context.Background(), w.seen)
	if int(want) != w.live || w.image != "" && w.image != image {
		app.Sync.Status = "OutOfSync"
	}
	return app, err
}

func (w *world) Apps(ctx context.Context) ([]argocd.App, error) {
	app, err := w.App(ctx, argocd.Ref{})
	return []argocd.App{app}, err
}

func (w *world) Refresh(ctx context.Context, ref argocd.Ref, _ bool) (argocd.App, error) {
	if w.down {
		return w.App(ctx, ref)
	}
	if err := w.repo.Fetch(ctx); err != nil {
		return argocd.App{}, err
	}
	head, _, err := w.repo.Branch(ctx, "main")
	if err != nil {
		return argocd.App{}, err
	}
	w.seen = head
	return w.App(ctx, ref)
}

func (w *world) Manifests(ctx context.Context, _ argocd.Ref, sha string) ([]map[string]any, error) {
	// The real one fetches what it is asked for by itself.
	if err := w.repo.Fetch(ctx); err != nil {
		return nil, err
	}
	tree, err := w.repo.Tree(ctx, sha)
	if err != nil {
		return nil, err
	}
	list, err := manifest.RenderDir(ctx, tree, manifest.Source{Dir: "prod", Namespace: "payments"}, manifest.Limits{})
	if err != nil {
		return nil, err
	}
	var objects []map[string]any
	for _, r := range list {
		objects = append(objects, r.Content)
	}
	return objects, nil
}

func (w *world) Sync(ctx context.Context, _ argocd.Ref, req argocd.SyncRequest) error {
	want, err := w.replicasAt(ctx, w.seen)
	w.live, w.image = int(want), ""
	w.syncs++
	w.last = &argocd.Operation{Phase: "Succeeded", Infos: req.Infos, Revision: w.seen}
	return err
}

// Managed are the objects as Argo CD compares them: what the repository has at
// the revision that it has seen, and the cluster.
func (w *world) Managed(ctx context.Context, ref argocd.Ref) ([]argocd.Managed, error) {
	want, err := w.Manifests(ctx, ref, w.seen)
	if err != nil {
		return nil, err
	}
	have, err := w.Manifests(ctx, ref, w.seen)
	if err != nil {
		return nil, err
	}
	have[0]["metadata"].(map[string]any)["uid"] = "u-1"
	have[0]["spec"].(map[string]any)["replicas"] = int64(w.live)
	return []argocd.Managed{{Group: "apps", Kind: "Deployment", Namespace: "payments", Name: "web", Target: want[0], Live: have[0]}}, nil
}

// DryRun is the API server's validation: negative replicas are refused.
func (w *world) DryRun(_ context.Context, on cluster.ObjectRef, patch []byte) error {
	w.tries = append(w.tries, on.String()+" "+string(patch))
	if strings.Contains(string(patch), "-") {
		return &cluster.Invalid{What: "try", Message: `Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0`}
	}
	return w.denied
}
