package cluster

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
)

// apiServer serves discovery and one Deployment.
func apiServer(t *testing.T) *Cluster {
	t.Helper()
	mux := http.NewServeMux()
	serve := func(path, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if _, err := w.Write([]byte(body)); err != nil {
				t.Error(err)
			}
		})
	}
	serve("/version", `{"gitVersion":"v1.34.4"}`)
	serve("/api", `{"kind":"APIVersions","versions":["v1"]}`)
	serve("/apis", `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}}]}`)
	serve("/api/v1", `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"secrets","namespaced":true,"kind":"Secret"},{"name":"configmaps","namespaced":true,"kind":"ConfigMap"}]}`)
	serve("/apis/apps/v1", `{"kind":"APIResourceList","groupVersion":"apps/v1","resources":[{"name":"deployments","namespaced":true,"kind":"Deployment"}]}`)
	serve("/apis/apps/v1/namespaces/payments/deployments/web", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"}}`)
	serve("/apis/apps/v1/namespaces/payments/deployments", `{"apiVersion":"apps/v1","kind":"DeploymentList","metadata":{},"items":[{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"}}]}`)
	mux.HandleFunc("/apis/apps/v1/namespaces/payments/deployments/gone", status(t, 404, "NotFound"))
	mux.HandleFunc("/api/v1/namespaces/payments/configmaps/c", status(t, 403, "Forbidden"))
	mux.HandleFunc("/apis/apps/v1/namespaces/payments/deployments/ill", status(t, 503, "ServiceUnavailable"))
	mux.HandleFunc("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			Spec struct {
				ResourceAttributes struct{ Verb, Resource, Subresource string }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		a := review.Spec.ResourceAttributes
		w.Header().Set("Content-Type", "application/json")
		body := `{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","status":{"allowed":false}}`
		if a.Verb == "get" && a.Resource == "deployments" && a.Subresource == "scale" {
			body = strings.Replace(body, "false", "true", 1)
		}
		if _, err := w.Write([]byte(body)); err != nil {
			t.Error(err)
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return connect(t, server.URL)
}

func status(t *testing.T, code int, reason string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		raw, err := json.Marshal(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": "no"})
		if err != nil {
			t.Error(err)
		}
		if _, err := w.Write(raw); err != nil {
			t.Error(err)
		}
	}
}

// connect goes by a kubeconfig, as users do.
func connect(t *testing.T, url string) *Cluster {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	config := `{"apiVersion":"v1","kind":"Config","current-context":"c","clusters":[{"name":"c","cluster":{"server":"` + url + `"}}],
"users":[{"name":"u","user":{"token":"canary"}}],"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}]}`
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := New(Config{Kubeconfig: file, UserAgent: "reconcilebot/test"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCluster(t *testing.T) {
	c := apiServer(t)
	if v, err := c.Version(t.Context()); err != nil || v != "v1.34.4" {
		t.Errorf("version %q, %v", v, err)
	}
	deployment := ObjectRef{"apps/v1", "Deployment", "payments", "web"}
	if obj, err := c.Get(t.Context(), deployment); err != nil || obj.GetName() != "web" {
		t.Errorf("get: %v, %v", obj, err)
	}
	if list, err := c.List(t.Context(), "apps/v1", "Deployment", "payments"); err != nil || len(list) != 1 {
		t.Errorf("list: %v, %v", list, err)
	}
	if may, err := c.CanI(t.Context(), "get", "apps", "deployments/scale", "payments"); err != nil || !may {
		t.Errorf("get: %t, %v", may, err)
	}
	if may, err := c.CanI(t.Context(), "get", "", "secrets", ""); err != nil || may {
		t.Errorf("secrets: %t, %v", may, err)
	}
}

func TestErrorsSayWhatToDoNext(t *testing.T) {
	c := apiServer(t)
	for name, test := range map[string]struct {
		ref  ObjectRef
		want string
	}{
		"gone":             {ObjectRef{"apps/v1", "Deployment", "payments", "gone"}, "not found"},
		"no such kind":     {ObjectRef{"x.example.com/v1", "Widget", "payments", "w"}, "not found"},
		"no right":         {ObjectRef{"v1", "ConfigMap", "payments", "c"}, "denied"},
		"a Secret":         {ObjectRef{"v1", "Secret", "payments", "s"}, "denied"},
		"the server's ill": {ObjectRef{"apps/v1", "Deployment", "payments", "ill"}, "unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.Get(t.Context(), test.ref)
			if got := kindOf(err); got != test.want {
				t.Errorf("%s: %v", got, err)
			}
		})
	}
	_, err := connect(t, "http://127.0.0.1:1").Get(t.Context(), ObjectRef{"apps/v1", "Deployment", "payments", "web"})
	if got := kindOf(err); got != "unavailable" || strings.Contains(err.Error(), "canary") {
		t.Errorf("a server that is down: %s: %v", got, err)
	}
}

func kindOf(err error) string {
	if _, ok := errors.AsType[*NotFound](err); ok {
		return "not found"
	}
	if _, ok := errors.AsType[*Denied](err); ok {
		return "denied"
	}
	if _, ok := errors.AsType[*Unavailable](err); ok {
		return "unavailable"
	}
	return "other"
}

func TestManagers(t *testing.T) {
	var obj map[string]any
	raw := `{"metadata":{"managedFields":[
{"manager":"kubectl","operation":"Update","subresource":"scale","apiVersion":"apps/v1","time":"2026-03-14T14:02:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}},
{"manager":"broken","operation":"Update","fieldsType":"FieldsV1","fieldsV1":{"x":{}}},
{"manager":"empty","operation":"Apply"}]}}`
	if err := json.Unmarshal([]byte(raw), &obj); err != nil {
		t.Fatal(err)
	}
	list := Managers(obj)
	if len(list) != 1 || list[0].Subresource != "scale" || !list[0].Fields.Has(fieldpath.MakePathOrDie("spec", "replicas")) {
		t.Errorf("%+v", list)
	}
	if Managers(nil) != nil {
		t.Error("an object that is not there has managers")
	}
}
