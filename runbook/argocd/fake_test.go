package argocd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

const token = "canary-token"

// server is a small Argo CD that follows the rules that matter here: it says
// "permission denied" to who asks for an unknown Application without its
// project, and takes one operation at a time.
type server struct {
	mu       sync.Mutex
	app      map[string]any
	drops    int // refreshes that leave no trace
	asked    []string
	syncs    []map[string]any
	managed  string
	status   int // answers this to everything, if set
	body     string
	refresh  time.Time
	loggedIn bool
}

func newServer(t *testing.T) (*server, *Client) {
	t.Helper()
	s := &server{loggedIn: true, managed: `{"items":[]}`, refresh: time.Now().Add(-time.Hour)}
	if err := json.Unmarshal([]byte(application), &s.app); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /root/api/version", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"Version":"v2.14.21+unknown"}`)
	})
	mux.HandleFunc("GET /root/api/v1/session/userinfo", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"loggedIn":%t,"username":"reconcilebot"}`, s.loggedIn)
	})
	mux.HandleFunc("GET /root/api/v1/account/can-i/{resource}/{action}/{sub...}", func(w http.ResponseWriter, r *http.Request) {
		answer := "no"
		if r.PathValue("sub") == "*/*" && r.PathValue("action") == "get" {
			answer = "yes"
		}
		fmt.Fprintf(w, `{"value":%q}`, answer)
	})
	mux.HandleFunc("GET /root/api/v1/applications", func(w http.ResponseWriter, _ *http.Request) {
		s.answer(w, map[string]any{"items": []any{s.app}})
	})
	mux.HandleFunc("GET /root/api/v1/applications/{name}", s.known(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("refresh") != "" && s.drops == 0 {
			s.refresh = time.Now()
		} else if r.URL.Query().Get("refresh") != "" {
			s.drops--
		}
		s.app["status"].(map[string]any)["reconciledAt"] = s.refresh.UTC().Format(time.RFC3339)
		s.answer(w, s.app)
	}))
	mux.HandleFunc("GET /root/api/v1/applications/{name}/managed-resources", s.known(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, s.managed)
	}))
	mux.HandleFunc("GET /root/api/v1/applications/{name}/manifests", s.known(func(w http.ResponseWriter, r *http.Request) {
		s.answer(w, map[string]any{"manifests": []string{`{"kind":"ConfigMap","data":{"at":"` + r.URL.Query().Get("revision") + `"}}`, "null"}})
	}))
	mux.HandleFunc("GET /root/api/v1/applications/{name}/events", s.known(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"items":[{"reason":"ResourceUpdated","message":"Updated sync status: Synced -> OutOfSync","lastTimestamp":"2026-03-14T14:03:00Z"},
{"reason":"ResourceUpdated","message":"dora patched resource apps/Deployment 'web'","lastTimestamp":"2026-03-14T14:02:00Z","eventTime":null}]}`)
	}))
	mux.HandleFunc("GET /root/api/v1/applications/{name}/syncwindows", s.known(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"assignedWindows":[{"kind":"allow","schedule":"0 1 * * *","duration":"1h"}],"canSync":false}`)
	}))
	mux.HandleFunc("POST /root/api/v1/applications/{name}/sync", func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			s.fail(w, 400, 3, err.Error())
			return
		}
		if s.app["operation"] != nil {
			s.fail(w, 400, 9, "error setting app operation: rpc error: code = FailedPrecondition desc = another operation is already in progress")
			return
		}
		s.syncs = append(s.syncs, body)
		s.app["operation"] = map[string]any{"sync": map[string]any{}}
		s.answer(w, s.app)
	})
	web := httptest.NewServer(s.guard(mux))
	t.Cleanup(web.Close)
	client, err := New(Config{Server: web.URL + "/root/", UI: "https://cd.example.com", Token: func() (string, error) { return token, nil }, HTTPClient: web.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return s, client
}

// guard asks for the token, and answers what a test wants answered.
func (s *server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked = append(s.asked, r.URL.RequestURI())
		switch {
		case s.status != 0:
			w.WriteHeader(s.status)
			fmt.Fprint(w, s.body)
		case r.Header.Get("Authorization") != "Bearer "+token:
			s.fail(w, 401, 16, "invalid session: token is malformed")
		case r.Method == http.MethodPost && r.Header.Get("Content-Type") != "application/json":
			w.WriteHeader(http.StatusUnsupportedMediaType)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// known is the server's rule for Applications that are not there.
func (s *server) known(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		project, q := s.app["spec"].(map[string]any)["project"], r.URL.Query()
		there := r.PathValue("name") == "payments-web" && q.Get("appNamespace") == "argocd"
		switch {
		case !there && q.Get("project") == "":
			s.fail(w, 403, 7, "permission denied")
		case !there, q.Get("project") != "" && q.Get("project") != project:
			s.fail(w, 404, 5, `applications.argoproj.io "x" not found`)
		default:
			next(w, r)
		}
	}
}

func (s *server) fail(w http.ResponseWriter, status, code int, message string) {
	w.WriteHeader(status)
	s.answer(w, map[string]any{"error": message, "code": code, "message": message})
}

func (s *server) answer(w http.ResponseWriter, v any) {
	if err := json.NewEncoder(w).Encode(v); err != nil {
		panic(err)
	}
}

const application = `{"metadata":{"name":"payments-web","namespace":"argocd","uid":"a-1","resourceVersion":"7",
"annotations":{"argocd.argoproj.io/tracking-id":"apps-prod:argoproj.io/Application:argocd/payments-web"}},
"spec":{"project":"payments","destination":{"server":"https://kubernetes.default.svc","namespace":"payments"},
"source":{"repoURL":"https://git.example.com/acme/gitops","path":"overlays/prod/payments-web","targetRevision":"main","directory":{"recurse":true}},
"syncPolicy":{"automated":{"prune":true,"selfHeal":true,"enabled":false}}},
"status":{"sync":{"status":"OutOfSync","revision":"9ab04f1"},"health":{"status":"Healthy"},"sourceType":"Directory",
"resources":[{"group":"apps","version":"v1","kind":"Deployment","namespace":"payments","name":"web","status":"OutOfSync","health":{"status":"Healthy"}}],
"operationState":{"phase":"Running","startedAt":"2026-03-14T14:00:00Z","finishedAt":"2026-03-14T14:00:05Z","retryCount":1,
"operation":{"sync":{"revision":"9ab04f1"},"initiatedBy":{"automated":true},"info":[{"name":"who","value":"alice"}]},
"syncResult":{"revision":"9ab04f1","resources":[{"group":"apps","version":"v1","kind":"Deployment","namespace":"payments","name":"web","status":"Synced"}]}}}}`
