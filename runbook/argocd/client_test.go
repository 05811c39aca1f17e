package argocd

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"
)

var web = Ref{Name: "payments-web"}

func TestApp(t *testing.T) {
	_, c := newServer(t)
	app, err := c.App(t.Context(), web)
	if err != nil {
		t.Fatal(err)
	}
	// Switched off by the field that came with Argo CD 3.1.
	if app.Automated != (Automated{Present: true, Prune: true, SelfHeal: true}) {
		t.Errorf("automated %+v", app.Automated)
	}
	if app.Owner != "Application apps-prod" || app.URL != "https://cd.example.com/applications/argocd/payments-web" {
		t.Errorf("owner %q, page %q", app.Owner, app.URL)
	}
	if s := app.Sources[0]; s.Kind != "directory" || !s.Directory.Recurse || s.TargetRevision != "main" {
		t.Errorf("source %+v", s)
	}
	if op := app.Operation; !op.Retrying || !op.Automated || op.Infos["who"] != "alice" || op.Done() || len(op.Result) != 1 {
		t.Errorf("operation %+v", op)
	}
}

func TestUnknownApplicationIsNotFound(t *testing.T) {
	_, c := newServer(t)
	_, err := c.App(t.Context(), Ref{Name: "payment-web"})
	if _, ok := errors.AsType[*NotFound](err); !ok {
		t.Errorf("got %v", err)
	}
}

func TestFindsAnApplicationThatMovedToAnotherProject(t *testing.T) {
	s, c := newServer(t)
	if _, err := c.App(t.Context(), web); err != nil {
		t.Fatal(err)
	}
	s.app["spec"].(map[string]any)["project"] = "billing"
	app, err := c.App(t.Context(), web)
	if err != nil || app.Project != "billing" {
		t.Errorf("project %q, %v", app.Project, err)
	}
	if _, err := c.Managed(t.Context(), web); err != nil {
		t.Error(err)
	}
	if last, _ := url.Parse(s.asked[len(s.asked)-1]); last.Query().Get("project") != "billing" || last.Query().Get("appNamespace") != "argocd" {
		t.Errorf("asked %s", last)
	}
}

func TestRefreshIsAskedAgainWhenItLeftNoTrace(t *testing.T) {
	s, c := newServer(t)
	s.drops = 2
	app, err := c.Refresh(t.Context(), web, false)
	if err != nil || time.Since(app.ReconciledAt) > time.Minute {
		t.Errorf("compared at %s, %v", app.ReconciledAt, err)
	}
	s.drops, s.refresh = 9, time.Now().Add(-time.Hour)
	_, err = c.Refresh(t.Context(), web, false)
	if _, ok := errors.AsType[*Unavailable](err); !ok {
		t.Errorf("got %v", err)
	}
}

func TestRefreshOfASkippedApplicationDoesNotHang(t *testing.T) {
	s, c := newServer(t)
	s.app["metadata"].(map[string]any)["annotations"] = map[string]any{"argocd.argoproj.io/skip-reconcile": "true"}
	_, err := c.Refresh(t.Context(), web, false)
	if _, ok := errors.AsType[*Refused](err); !ok {
		t.Errorf("got %v", err)
	}
}

func TestManaged(t *testing.T) {
	s, c := newServer(t)
	s.managed = `{"items":[{"group":"apps","kind":"Deployment","namespace":"payments","name":"web","resourceVersion":"101","modified":true,
"targetState":"{\"spec\":{\"replicas\":3}}","liveState":"{\"spec\":{\"replicas\":6}}","normalizedLiveState":"{\"spec\":{\"replicas\":6}}","predictedLiveState":"{\"spec\":{\"replicas\":3}}"},
{"kind":"ConfigMap","name":"left","targetState":"null","liveState":"{}","predictedLiveState":"null"}]}`
	list, err := c.Managed(t.Context(), web)
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	if got := list[0].PredictedLive["spec"].(map[string]any)["replicas"]; got != int64(3) {
		t.Errorf("predicted %T %v", got, got)
	}
	if list[1].Target != nil || list[1].PredictedLive != nil || list[1].Live == nil {
		t.Errorf("an object that is only live: %+v", list[1])
	}
	s.managed = `{"items":[{"kind":"ConfigMap","name":"bad","liveState":"{"}]}`
	if _, err := c.Managed(t.Context(), web); err == nil || !strings.Contains(err.Error(), "bad") {
		t.Errorf("a broken state: %v", err)
	}
}

func TestManifestsAreRenderedAtTheRevision(t *testing.T) {
	_, c := newServer(t)
	list, err := c.Manifests(t.Context(), web, "7c1d2e3")
	if err != nil || len(list) != 1 || list[0]["data"].(map[string]any)["at"] != "7c1d2e3" {
		t.Errorf("%v, %v", list, err)
	}
}

func TestSync(t *testing.T) {
	s, c := newServer(t)
	req := SyncRequest{Resources: []ResourceRef{{Group: "apps", Kind: "Deployment", Namespace: "payments", Name: "web"}}, Infos: map[string]string{"incident": "INC-1234"}}
	if err := c.Sync(t.Context(), web, req); err != nil {
		t.Fatal(err)
	}
	sent := s.syncs[0]
	if sent["project"] != "payments" || sent["prune"] != false {
		t.Errorf("sent %v", sent)
	}
	// Any sync options would replace the Application's own.
	if _, ok := sent["syncOptions"]; ok {
		t.Error("sync options were sent")
	}
	err := c.Sync(t.Context(), web, req)
	if _, ok := errors.AsType[*Busy](err); !ok {
		t.Errorf("a second sync: %v", err)
	}
}

func TestSyncWindows(t *testing.T) {
	_, c := newServer(t)
	w, err := c.SyncWindows(t.Context(), web)
	if err != nil {
		t.Fatal(err)
	}
	if why, blocked := w.Blocks(); !blocked || why != "no allow window is active" {
		t.Errorf("%q, %t", why, blocked)
	}
}

func TestAccount(t *testing.T) {
	s, c := newServer(t)
	if v, err := c.Version(t.Context()); err != nil || v != "v2.14.21+unknown" {
		t.Errorf("version %q, %v", v, err)
	}
	if who, err := c.Whoami(t.Context()); err != nil || who != "reconcilebot" {
		t.Errorf("name %q, %v", who, err)
	}
	if may, err := c.CanI(t.Context(), "applications", "get", "*/*"); err != nil || !may {
		t.Errorf("get: %t, %v", may, err)
	}
	if may, err := c.CanI(t.Context(), "applications", "delete", "*/*"); err != nil || may {
		t.Errorf("delete: %t, %v", may, err)
	}
	s.loggedIn = false
	if denied, ok := errors.AsType[*Denied](second(c.Whoami(t.Context()))); !ok || !denied.Token {
		t.Error("a refused token is not reported")
	}
}

func second[T any](_ T, err error) error { return err }

func TestEventsNameWhoActedInTheUI(t *testing.T) {
	_, c := newServer(t)
	events, err := c.Events(t.Context(), web)
	if err != nil || len(events) != 2 {
		t.Fatalf("%v, %v", events, err)
	}
	if events[0].User != "dora" || events[1].User != "" {
		t.Errorf("users %q and %q", events[0].User, events[1].User)
	}
}

func TestErrors(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		body   string
		want   any
	}{
		"the token is refused":         {401, `{"error":"invalid session","code":16,"message":"invalid session"}`, &Denied{}},
		"a proxy's gateway page":       {502, `<html>Bad Gateway</html>`, &Unavailable{}},
		"the repo server is down":      {500, `{"code":2,"message":"error generating manifests: rpc error: code = Unavailable desc = connection error: dial tcp: connect: connection refused"}`, &Unavailable{}},
		"the manifests are broken":     {500, `{"code":2,"message":"error generating manifests: yaml: line 3"}`, &Refused{}},
		"too many requests":            {429, `slow down`, &Unavailable{}},
		"an address that is no ArgoCD": {404, `<html>nginx</html>`, &Refused{}},
		"a page instead of JSON":       {200, `<html>login</html>`, &Unavailable{}},
		"automated sync is on":         {400, `{"code":9,"message":"Cannot sync to 7c1d2e3: auto-sync currently set to main"}`, &Refused{}},
	} {
		t.Run(name, func(t *testing.T) {
			s, c := newServer(t)
			s.status, s.body = test.status, test.body
			_, err := c.Apps(t.Context())
			if got := kind(err); got != kind(test.want.(error)) {
				t.Errorf("got %s: %v", got, err)
			}
			if strings.Contains(err.Error(), token) {
				t.Error("the token is in the error")
			}
		})
	}
}

func kind(err error) string {
	switch {
	case is[*Denied](err):
		return "denied"
	case is[*Unavailable](err):
		return "unavailable"
	case is[*NotFound](err):
		return "not found"
	case is[*Busy](err):
		return "busy"
	case is[*Refused](err):
		return "refused"
	}
	return "other"
}

func is[E error](err error) bool { _, ok := errors.AsType[E](err); return ok }

func TestAServerThatIsDown(t *testing.T) {
	c, err := New(Config{Server: "http://127.0.0.1:1", Token: func() (string, error) { return token, nil }})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Apps(t.Context())
	if !is[*Unavailable](err) || strings.Contains(err.Error(), token) {
		t.Errorf("got %v", err)
	}
}

func TestNewRefusesWhatCanNotWork(t *testing.T) {
	some := func() (string, error) { return token, nil }
	for name, c := range map[string]Config{
		"no scheme":      {Server: "argocd.example.com", Token: some},
		"a password":     {Server: "https://a:b@argocd.example.com", Token: some},
		"another scheme": {Server: "ftp://argocd.example.com", Token: some},
		"no token":       {Server: "https://argocd.example.com"},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
