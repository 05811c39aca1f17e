package argocd

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	jsonpatch "github.com/evanphx/json-patch"
)

// patched is an Argo CD that takes patches as its server does: on its own type,
// with its own patch library (Server.Patch in server/application/application.go).
type patched struct {
	app     v1alpha1.Application
	invalid bool   // validation fails
	between func() // runs between what the client reads and what it writes
	wrote   []string
}

func newPatched(t *testing.T, policy string) (*patched, *Client) {
	t.Helper()
	s := &patched{}
	text := `{"metadata":{"name":"web","namespace":"argocd","resourceVersion":"7"},"spec":{"project":"shop","destination":{"server":"https://kubernetes.default.svc","namespace":"shop"},"source":{"repoURL":"https://git.example.com/r","path":"a","targetRevision":"main"}` + policy + `}}`
	if err := json.Unmarshal([]byte(text), &s.app); err != nil {
		t.Fatal(err)
	}
	fail := func(w http.ResponseWriter, status int, message string) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"code": 3, "message": message, "error": message})
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/applications/web", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(&s.app) })
	mux.HandleFunc("PATCH /api/v1/applications/web", func(w http.ResponseWriter, r *http.Request) {
		if s.between != nil {
			s.between()
		}
		var body patchBody
		raw, err := json.Marshal(&s.app)
		if err == nil {
			err = json.NewDecoder(r.Body).Decode(&body)
		}
		if err != nil || body.PatchType != "json" || body.Project != "shop" || body.AppNamespace != "argocd" {
			fail(w, 400, fmt.Sprint(err, body))
			return
		}
		patch, err := jsonpatch.DecodePatch([]byte(body.Patch))
		if err == nil {
			raw, err = patch.Apply(raw)
		}
		if err != nil {
			fail(w, 500, "error applying patch: "+err.Error())
			return
		}
		if s.invalid {
			fail(w, 400, "application spec for web is invalid: InvalidSpecError: Unable to generate manifests")
			return
		}
		s.wrote = append(s.wrote, ByPatch)
		s.app = v1alpha1.Application{}
		_ = json.Unmarshal(raw, &s.app)
	})
	mux.HandleFunc("PUT /api/v1/applications/web/spec", func(w http.ResponseWriter, r *http.Request) {
		var spec v1alpha1.ApplicationSpec
		if err := json.NewDecoder(r.Body).Decode(&spec); err != nil || r.URL.Query().Get("validate") != "false" {
			fail(w, 400, "no")
			return
		}
		s.wrote = append(s.wrote, ByUpdate)
		s.app.Spec = spec
	})
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	client, err := New(Config{Server: web.URL, Token: func() (string, error) { return "t", nil }})
	if err != nil {
		t.Fatal(err)
	}
	return s, client
}

func TestSetAutomatedThereAndBack(t *testing.T) {
	for name, policy := range map[string]string{
		"automated alone":        `,"syncPolicy":{"automated":{}}`,
		"all of it":              `,"syncPolicy":{"automated":{"prune":true,"selfHeal":true,"allowEmpty":true},"syncOptions":["A=b"],"retry":{"limit":3}}`,
		"no policy":              ``,
		"a policy not automated": `,"syncPolicy":{"syncOptions":["A=b"]}`,
	} {
		for _, invalid := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", invalid: ", invalid), func(t *testing.T) {
				s, c := newPatched(t, policy)
				s.invalid = invalid
				want := ByPatch
				if invalid {
					want = ByUpdate
				}
				before, err := c.App(t.Context(), Ref{Name: "web"})
				if err != nil {
					t.Fatal(err)
				}
				// There: switched off where it was on, switched on where it was off.
				there := json.RawMessage(`{"prune":true}`)
				if before.AutomatedRaw() != nil {
					there = nil
				}
				if way, err := c.SetAutomated(t.Context(), before, there); err != nil || way != want {
					t.Fatalf("%q, %v", way, err)
				}
				app, err := c.App(t.Context(), Ref{Name: "web"})
				if err != nil || !SameJSON(app.AutomatedRaw(), there) {
					t.Fatalf("it is %s, %v", app.AutomatedRaw(), err)
				}
				if _, err := c.SetAutomated(t.Context(), app, before.AutomatedRaw()); err != nil {
					t.Fatal(err)
				}
				after, err := c.App(t.Context(), Ref{Name: "web"})
				if err != nil || !SameJSON(after.AutomatedRaw(), before.AutomatedRaw()) {
					t.Errorf("it ends as %s, %v", after.Raw, err)
				}
				if before.SyncPolicy() != nil && !SameJSON(after.SyncPolicy(), before.SyncPolicy()) {
					t.Errorf("the policy ends as %s, was %s", after.SyncPolicy(), before.SyncPolicy())
				}
			})
		}
	}
}

// Whatever somebody else changes in the same moment, nothing is written.
func TestSetAutomatedComparesFirst(t *testing.T) {
	for _, invalid := range []bool{false, true} {
		s, c := newPatched(t, `,"syncPolicy":{"automated":{}}`)
		app, err := c.App(t.Context(), Ref{Name: "web"})
		if err != nil {
			t.Fatal(err)
		}
		s.invalid = invalid
		s.app.Spec.Source.TargetRevision = "other"
		_, err = c.SetAutomated(t.Context(), app, nil)
		if _, changed := errors.AsType[*Changed](err); !changed || len(s.wrote) != 0 {
			t.Errorf("invalid %v: %v, wrote %q", invalid, err, s.wrote)
		}
	}
}

func TestOff(t *testing.T) {
	for version, want := range map[string]string{
		"v2.14.21+abc": "", "v3.0.12": "", "v3.1.0": `{"prune":true,"enabled":false}`, "3.6.1": `{"prune":true,"enabled":false}`, "latest": "",
	} {
		got, err := Off(version, json.RawMessage(`{"prune":true}`))
		if err != nil || !SameJSON(got, json.RawMessage(want)) {
			t.Errorf("%s: %s, %v", version, got, err)
		}
	}
}

func TestTerminate(t *testing.T) {
	for message, want := range map[string]func(error) bool{
		"":                            func(err error) bool { return err == nil },
		"No operation is in progress": func(err error) bool { _, ok := errors.AsType[*NotRunning](err); return ok },
		"Too many conflicts":          func(err error) bool { _, ok := errors.AsType[*Busy](err); return ok },
	} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodGet:
				fmt.Fprint(w, `{"metadata":{"name":"web","namespace":"argocd"},"spec":{"project":"shop"}}`)
			case r.Method != http.MethodDelete || !strings.HasSuffix(r.URL.Path, "/operation") || r.URL.Query().Get("project") != "shop":
				w.WriteHeader(http.StatusTeapot)
			case message != "":
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, `{"code":3,"message":"Unable to terminate operation. %s"}`, message)
			default:
				fmt.Fprint(w, `{}`)
			}
		}))
		c, err := New(Config{Server: web.URL, Token: func() (string, error) { return "t", nil }})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Terminate(t.Context(), Ref{Name: "web"}); !want(err) {
			t.Errorf("%q: %v", message, err)
		}
		web.Close()
	}
}

func TestWhatParentsIgnore(t *testing.T) {
	set := func(i ...SetIgnore) ApplicationSet { return ApplicationSet{Ignores: i} }
	for name, tt := range map[string]struct {
		set     ApplicationSet
		enabled bool
		want    bool
	}{
		"nothing":                {set(), false, false},
		"the policy":             {set(SetIgnore{JSONPointers: []string{"/spec/syncPolicy"}}), false, true},
		"automated":              {set(SetIgnore{JSONPointers: []string{"/spec/syncPolicy/automated"}}), false, true},
		"enabled, before 3.1":    {set(SetIgnore{JSONPointers: []string{"/spec/syncPolicy/automated/enabled"}}), false, false},
		"enabled, since 3.1":     {set(SetIgnore{JSONPointers: []string{"/spec/syncPolicy/automated/enabled"}}), true, true},
		"another field":          {set(SetIgnore{JSONPointers: []string{"/spec/source/targetRevision"}}), false, false},
		"another Application's":  {set(SetIgnore{Name: "other", JSONPointers: []string{"/spec/syncPolicy"}}), false, false},
		"this Application's":     {set(SetIgnore{Name: "web", JSONPointers: []string{"/spec/syncPolicy"}}), false, true},
		"by a jq expression":     {set(SetIgnore{JQ: []string{".spec.syncPolicy.automated"}}), false, true},
		"a part of it by jq":     {set(SetIgnore{JQ: []string{".spec.syncPolicy.automated.prune"}}), false, false},
		"a pointer with a slash": {set(SetIgnore{JSONPointers: []string{"/spec/syncPolicy/"}}), false, true},
	} {
		if got := tt.set.Leaves("web", tt.enabled); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for spec, want := range map[string][2]bool{
		`{}`: {false, false},
		`{"ignoreDifferences":[{"group":"argoproj.io","kind":"Application","jsonPointers":["/spec/syncPolicy/automated"]}]}`:                                  {true, false},
		`{"ignoreDifferences":[{"group":"*","kind":"*","jsonPointers":["/spec/syncPolicy"]}],"syncPolicy":{"syncOptions":["RespectIgnoreDifferences=true"]}}`: {true, true},
		`{"ignoreDifferences":[{"kind":"Deployment","jsonPointers":["/spec/syncPolicy"]}]}`:                                                                   {false, false},
		`{"ignoreDifferences":[{"kind":"Application","name":"other","jsonPointers":["/spec/syncPolicy"]}]}`:                                                   {false, false},
		`{"ignoreDifferences":[{"kind":"Application","jsonPointers":["/spec/source"]}],"syncPolicy":{"syncOptions":["RespectIgnoreDifferences=true"]}}`:       {false, true},
	} {
		ignores, respects := App{Raw: json.RawMessage(`{"spec":` + spec + `}`)}.IgnoresPolicyOf(Ref{Namespace: "argocd", Name: "web"})
		if got := [2]bool{ignores, respects}; got != want {
			t.Errorf("%s: %v, want %v", spec, got, want)
		}
	}
}
