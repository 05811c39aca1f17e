package pages

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"reconcilebot/runbook/argocd"
)

const token = "canary-token"

// argoAPI plays the read part of Argo CD's API for one Application.
func argoAPI(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/applications", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"items":[%s]}`, application)
	})
	mux.HandleFunc("GET /api/v1/applications/payments-web", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, application)
	})
	mux.HandleFunc("GET /api/v1/applications/payments-web/managed-resources", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, managed(t))
	})
	// What is not known is denied, as Argo CD does.
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"error":"permission denied","code":7,"message":"permission denied"}`)
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method != http.MethodGet || req.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, req)
	}))
	t.Cleanup(server.Close)
	return server
}

const application = `{"metadata":{"name":"payments-web","namespace":"argocd"},
"spec":{"project":"default","destination":{"server":"https://kubernetes.default.svc","namespace":"payments"},
"source":{"repoURL":"http://127.0.0.1:3000/acme/gitops.git","path":"overlays/prod","targetRevision":"main"},
"syncPolicy":{"automated":{"prune":true}}},
"status":{"sync":{"status":"OutOfSync","revision":"9ab04f1c8d0e4a6b9c2d7e5f1a3b5c7d9e0f2a4b"},"health":{"status":"Degraded"},
"conditions":[{"type":"ComparisonError","message":"<script>alert(1)</script> is no manifest"}],
"resources":[
{"group":"apps","version":"v1","kind":"Deployment","namespace":"payments","name":"payments-web","status":"OutOfSync","health":{"status":"Healthy"}},
{"version":"v1","kind":"Secret","namespace":"payments","name":"ledger","status":"OutOfSync"},
{"version":"v1","kind":"Service","namespace":"payments","name":"payments-web","status":"Synced"}]}}`

// managed is what Argo CD compared: a scaled Deployment, a Secret, an object
// that is only in Git, one whose difference is a credential, and one that is
// as it should be.
func managed(t *testing.T) string {
	t.Helper()
	item := func(group, kind, name, live, desired string, modified bool) map[string]any {
		return map[string]any{"group": group, "kind": kind, "namespace": "payments", "name": name, "modified": modified,
			"liveState": live, "targetState": desired, "normalizedLiveState": live, "predictedLiveState": desired}
	}
	deployment := func(replicas int) string {
		return fmt.Sprintf(`{"kind":"Deployment","metadata":{"name":"payments-web","annotations":{"note":"<b>bold</b>",
"kubectl.kubernetes.io/last-applied-configuration":"{\"canary\":1}"},"managedFields":[{"manager":"kubectl"}]},
"spec":{"replicas":%d,"template":{"spec":{"containers":[{"name":"web","env":[{"name":"DB_PASSWORD","value":"hunter2"},{"name":"LOG_LEVEL","value":"info"}]}]}}},
"status":{"replicas":%[1]d}}`, replicas)
	}
	secret := func(value string) string {
		return `{"kind":"Secret","metadata":{"name":"ledger"},"data":{"key":"` + value + `"}}`
	}
	settings := func(value string) string {
		return `{"kind":"ConfigMap","metadata":{"name":"settings"},"data":{"API_TOKEN":"` + value + `"}}`
	}
	out, err := json.Marshal(map[string]any{"items": []any{
		item("apps", "Deployment", "payments-web", deployment(6), deployment(3), true),
		item("", "Secret", "ledger", secret("c2VjcmV0LWxpdmU="), secret("c2VjcmV0LWdpdA=="), true),
		item("", "Secret", "left-over", secret("c2VjcmV0LWxlZnQ="), "null", false),
		item("", "ConfigMap", "settings", settings("tok-live"), settings("tok-git"), true),
		item("", "ConfigMap", "added", "null", `{"kind":"ConfigMap","metadata":{"name":"added"}}`, true),
		item("", "Service", "same", `{"kind":"Service"}`, `{"kind":"Service"}`, false),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// pagesOf serves the pages and returns where, and a client that links to them
// as the bot does.
func pagesOf(t *testing.T, api string) (string, *argocd.Client) {
	t.Helper()
	var pages http.Handler
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { pages.ServeHTTP(w, req) }))
	t.Cleanup(web.Close)
	client, err := argocd.New(argocd.Config{Server: api, UI: web.URL, Token: func() (string, error) { return token, nil }})
	if err != nil {
		t.Fatal(err)
	}
	pages = New(client, filepath.Join(t.TempDir(), "none.log"))
	return web.URL, client
}

func get(t *testing.T, link, host string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		req.Host = host
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// TestTheBotsLinkLeadsToTheApplication follows the link that the bot puts on
// its cards.
func TestTheBotsLinkLeadsToTheApplication(t *testing.T) {
	_, client := pagesOf(t, argoAPI(t).URL)
	app, err := client.App(t.Context(), argocd.Ref{Name: "payments-web"})
	if err != nil {
		t.Fatal(err)
	}
	status, page := get(t, app.URL, "")
	if status != http.StatusOK {
		t.Fatalf("%s answered %d:\n%s", app.URL, status, page)
	}
	for what, says := range map[string]string{
		"whose page it is":    "not Argo CD's own UI",
		"name":                "argocd/payments-web",
		"sync":                `<span class="state outofsync">OutOfSync</span>`,
		"health":              `<span class="state degraded">Degraded</span>`,
		"revision":            "/acme/gitops/commit/9ab04f1c8d0e4a6b9c2d7e5f1a3b5c7d9e0f2a4b",
		"condition, escaped":  "&lt;script&gt;alert(1)&lt;/script&gt; is no manifest",
		"value, escaped":      "&lt;b&gt;bold&lt;/b&gt;",
		"resource":            "payments/payments-web",
		"live value":          `<tr class="del"><td class="mark">−</td><td class="text">  replicas: 6</td></tr>`,
		"value in Git":        `<tr class="add"><td class="mark">+</td><td class="text">  replicas: 3</td></tr>`,
		"a Secret's verdict":  "What a Secret holds is not shown",
		"what is only live":   "In the cluster, and not in Git",
		"what is only wanted": "In Git, and not in the cluster",
		"a hidden difference": "by its name it may be a credential",
	} {
		if !strings.Contains(page, says) {
			t.Errorf("the page does not say %s: no %q", what, says)
		}
	}
	for what, never := range map[string]string{
		"a script":                    "<script",
		"a Secret's value":            "c2VjcmV0",
		"a credential of a variable":  "hunter2",
		"a credential of a ConfigMap": "tok-",
		"a copy of the whole":         "last-applied-configuration",
		"our token":                   token,
		"an object that is the same":  "payments/same",
	} {
		if strings.Contains(page, never) {
			t.Errorf("the page shows %s: %q", what, never)
		}
	}
}

func TestListLinksToEveryApplication(t *testing.T) {
	at, _ := pagesOf(t, argoAPI(t).URL)
	for _, path := range []string{"/", "/applications"} {
		status, page := get(t, at+path, "")
		if status != http.StatusOK || !strings.Contains(page, `href="/applications/argocd/payments-web"`) || !strings.Contains(page, "OutOfSync") {
			t.Errorf("%s answered %d:\n%s", path, status, page)
		}
	}
}

func TestRefusals(t *testing.T) {
	at, _ := pagesOf(t, argoAPI(t).URL)
	away := httptest.NewServer(nil)
	away.Close()
	alone, _ := pagesOf(t, away.URL)
	for name, c := range map[string]struct {
		link, host string
		status     int
		says       string
	}{
		"an Application that is not there": {at + "/applications/argocd/" + url.PathEscape("<i>x"), "", http.StatusNotFound, "Argo CD does not know it"},
		"no page":                          {at + "/settings", "", http.StatusNotFound, "/applications"},
		"Argo CD is down":                  {alone + "/applications/argocd/payments-web", "", http.StatusServiceUnavailable, "can&#39;t be reached"},
		"a name made to lead here":         {at + "/applications", "evil.example", http.StatusForbidden, "loopback"},
	} {
		t.Run(name, func(t *testing.T) {
			status, page := get(t, c.link, c.host)
			if status != c.status || !strings.Contains(page, c.says) || strings.Contains(page, "<i>") {
				t.Errorf("answered %d, want %d and %q:\n%s", status, c.status, c.says, page)
			}
		})
	}
}

func TestLinesKeepsWhatStandsAround(t *testing.T) {
	var live strings.Builder
	for i := range 40 {
		fmt.Fprintf(&live, "line%d: %d\n", i, i)
	}
	got := lines(live.String(), strings.Replace(live.String(), "line20: 20", "line20: 99", 1))
	var shown []string
	for _, l := range got {
		shown = append(shown, l.Kind+" "+l.Text)
	}
	want := "gap …|same line16: 16|same line17: 17|same line18: 18|same line19: 19|del line20: 20|add line20: 99|same line21: 21|same line22: 22|same line23: 23|same line24: 24|gap …"
	if strings.Join(shown, "|") != want {
		t.Errorf("lines\n got %s\nwant %s", strings.Join(shown, "|"), want)
	}
}
