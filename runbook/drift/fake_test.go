package drift

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/manifest"
)

var noon = time.Date(2026, 3, 14, 14, 2, 0, 0, time.UTC)

const sha1, sha2 = "9ab04f1c00000000000000000000000000000001", "9ab04f1c00000000000000000000000000000002"

// world is a small Argo CD and a small cluster, with one Application.
type world struct {
	app     argocd.App
	objects []argocd.Managed
	windows argocd.Windows
	events  []argocd.Event
	// cluster holds what is live, when that is not what Argo CD has seen.
	cluster map[string]map[string]any
	hpas    []unstructured.Unstructured
	writes  []cluster.Write
	audit   bool
	head    string
	// unlisted are objects that Argo CD has not seen yet.
	unlisted []argocd.Managed
	// parent is the Application that has this one among its objects; nil for
	// none. declared is what it has.
	parent   *argocd.App
	declared []argocd.Managed
	// pauses counts how often a survey waited; catchUp is what happens then.
	pauses  int
	catchUp func(*world)
}

// newWorld has one Deployment, synced by hand-free means.
func newWorld(t *testing.T) *world {
	w := &world{
		audit: true, head: sha1,
		app: argocd.App{
			Ref: argocd.Ref{Namespace: "argocd", Name: "payments-web"}, Project: "default", Health: "Healthy",
			Sources:   []argocd.Source{{RepoURL: "https://git.example.com/acme/gitops", Path: "overlays/prod/payments-web", TargetRevision: "main"}},
			Automated: argocd.Automated{Present: true, Enabled: true, Prune: true},
			Sync:      argocd.Sync{Status: "Synced", Revision: sha1},
			Operation: &argocd.Operation{Phase: "Succeeded", Revision: sha1, Automated: true},
			Resources: []argocd.ResourceStatus{{ResourceRef: argocd.ResourceRef{Group: "apps", Kind: "Deployment", Namespace: "payments", Name: "web"}}},
		},
	}
	w.add(object1(t, inGit), object1(t, asLive))
	return w
}

// add puts an object into Git and the cluster; nil leaves it out of one.
func (w *world) add(target, live map[string]any) {
	o := target
	if o == nil {
		o = live
	}
	group, _, found := cut(text(o, "apiVersion"))
	if !found {
		group = ""
	}
	w.objects = append(w.objects, argocd.Managed{
		Group: group, Kind: text(o, "kind"), Namespace: text(o, "metadata", "namespace"), Name: text(o, "metadata", "name"),
		Live: live, Target: target, ResourceVersion: text(live, "metadata", "resourceVersion"),
	})
}

func cut(apiVersion string) (group, version string, found bool) {
	for i := range apiVersion {
		if apiVersion[i] == '/' {
			return apiVersion[:i], apiVersion[i+1:], true
		}
	}
	return "", apiVersion, false
}

// live is the first object as it is in the cluster.
func (w *world) live() map[string]any { return w.objects[0].Live }

// by makes a manager own fields, as the API server notes it.
func by(live map[string]any, manager, operation, sub, fields string, at time.Time) {
	var owned any
	if err := json.Unmarshal([]byte(fields), &owned); err != nil {
		panic(err)
	}
	entry := map[string]any{
		"manager": manager, "operation": operation, "apiVersion": "apps/v1",
		"time": at.Format(time.RFC3339), "fieldsType": "FieldsV1", "fieldsV1": owned,
	}
	if sub != "" {
		entry["subresource"] = sub
	}
	meta := live["metadata"].(map[string]any)
	list, _ := meta["managedFields"].([]any)
	meta["managedFields"] = append(list, entry)
}

func (w *world) survey(t *testing.T) Drift {
	t.Helper()
	d, err := w.surveyor().Survey(t.Context(), Target{"production-eu", Application, "argocd", "payments-web"})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (w *world) surveyor() *Surveyor {
	c := Config{
		Name: "production-eu", Argo: w, Live: liveCluster{w}, Self: "system:serviceaccount:reconcilebot:reconcilebot",
		Head: func(context.Context, string, string) (string, error) { return w.head, nil },
		Now:  func() time.Time { return noon.Add(4 * time.Minute) },
		Pause: func(context.Context, time.Duration) error {
			w.pauses++
			if w.catchUp != nil {
				w.catchUp(w)
			}
			return nil
		},
	}
	if w.audit {
		c.Writes = func(_ context.Context, key string) ([]cluster.Write, error) {
			var found []cluster.Write
			for _, write := range w.writes {
				for _, k := range write.Keys() {
					if k == key {
						found = append(found, write)
					}
				}
			}
			return found, nil
		}
	}
	return New(c)
}

func (w *world) Apps(context.Context) ([]argocd.App, error) { return []argocd.App{w.app}, nil }

// App answers OutOfSync when a target differs in what Argo CD sees.
func (w *world) App(_ context.Context, ref argocd.Ref) (argocd.App, error) {
	if w.parent != nil && ref.Name == w.parent.Name {
		return *w.parent, nil
	}
	app := w.app
	if app.Sync.Status == "Synced" {
		for _, m := range w.judged() {
			if m.Modified || m.Target == nil {
				app.Sync.Status = "OutOfSync"
			}
		}
	}
	return app, nil
}

func (w *world) Managed(_ context.Context, ref argocd.Ref) ([]argocd.Managed, error) {
	if w.parent != nil && ref.Name == w.parent.Name {
		return judge(w.declared), nil
	}
	return w.judged(), nil
}

func (w *world) judged() []argocd.Managed { return judge(w.objects) }

func judge(objects []argocd.Managed) []argocd.Managed {
	var out []argocd.Managed
	for _, m := range objects {
		if m.Live != nil && m.Target != nil {
			if m.NormalizedLive == nil {
				m.NormalizedLive = m.Live
			}
			m.PredictedLive, _ = predict(m.Target, m.NormalizedLive).(map[string]any)
			m.Modified = !manifest.Same(m.NormalizedLive, m.PredictedLive)
		} else if m.Live == nil {
			m.Modified = true
		}
		out = append(out, m)
	}
	return out
}

// predict is what a three-way apply makes of a live object: Git's fields on
// top, everything else left as it is.
func predict(git, live any) any {
	switch g := git.(type) {
	case map[string]any:
		l, _ := live.(map[string]any)
		out := maps.Clone(l)
		if out == nil {
			out = map[string]any{}
		}
		for key, v := range g {
			out[key] = predict(v, l[key])
		}
		return out
	case []any:
		l, _ := live.([]any)
		keys := []string{"name"}
		if distinct([]string{"containerPort"}, g) {
			keys = []string{"containerPort"}
		}
		if len(g) == 0 || !distinct(keys, g) || !distinct(keys, l) {
			return g
		}
		var out []any
		for _, item := range l {
			if mine, ok := match(keys, item, g); ok {
				item = predict(mine, item)
			}
			out = append(out, item)
		}
		for _, item := range g {
			if _, ok := match(keys, item, l); !ok {
				out = append(out, item)
			}
		}
		return out
	}
	return git
}

func (w *world) SyncWindows(context.Context, argocd.Ref) (argocd.Windows, error) {
	return w.windows, nil
}

func (w *world) Events(context.Context, argocd.Ref) ([]argocd.Event, error) { return w.events, nil }

// liveCluster is the cluster as it is read directly.
type liveCluster struct{ *world }

func (c liveCluster) Get(_ context.Context, ref cluster.ObjectRef) (*unstructured.Unstructured, error) {
	if ref.Kind == "Secret" {
		panic("a Secret is read")
	}
	if obj, ok := c.cluster[ref.Name]; ok {
		if obj == nil {
			return nil, &cluster.NotFound{What: ref.String()}
		}
		return &unstructured.Unstructured{Object: obj}, nil
	}
	for _, m := range c.objects {
		if m.Kind == ref.Kind && m.Name == ref.Name && m.Live != nil {
			return &unstructured.Unstructured{Object: m.Live}, nil
		}
	}
	return nil, &cluster.NotFound{What: ref.String()}
}

func (c liveCluster) List(_ context.Context, _, kind, _ string) ([]unstructured.Unstructured, error) {
	if kind == "HorizontalPodAutoscaler" {
		return c.hpas, nil
	}
	var out []unstructured.Unstructured
	for _, m := range slices.Concat(c.objects, c.unlisted) {
		if m.Kind == kind && m.Live != nil {
			out = append(out, unstructured.Unstructured{Object: m.Live})
		}
	}
	return out, nil
}

// object1 reads an object.
func object1(t *testing.T, raw string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := kjson.Unmarshal([]byte(raw), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func hpa(name, target string) unstructured.Unstructured {
	return unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": name},
		"spec":     map[string]any{"scaleTargetRef": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": target}},
	}}
}

// wrote is an audited write to the Deployment.
func wrote(user, verb, sub, manager, body string, at time.Time) cluster.Write {
	return cluster.Write{
		AuditID: "5be1-" + strconv.FormatInt(at.UnixNano(), 36) + manager, User: user, Verb: verb, UserAgent: "kubectl/v1.34.4 (linux/amd64)", FieldManager: manager,
		Object: cluster.WrittenObject{APIGroup: "apps", APIVersion: "v1", Resource: "deployments", Subresource: sub, Namespace: "payments", Name: "web", UID: "u-1"},
		Body:   json.RawMessage(body), At: at,
	}
}

const inGit = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"payments","labels":{"app":"web"}},
"spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
"spec":{"containers":[{"name":"web","image":"web:1.0","args":["--a","--b"],"ports":[{"containerPort":8080}],
"env":[{"name":"LEVEL","value":"info"},{"name":"API_TOKEN","value":"hunter2"}],"resources":{"limits":{"memory":"1Gi"}}}]}}}}`

const asLive = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"payments","uid":"u-1","resourceVersion":"100","generation":1,"labels":{"app":"web"},
"annotations":{"deployment.kubernetes.io/revision":"1"},
"managedFields":[{"manager":"argocd-controller","operation":"Update","apiVersion":"apps/v1","time":"2026-03-01T10:00:00Z","fieldsType":"FieldsV1",
"fieldsV1":{"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:replicas":{},"f:selector":{},"f:template":{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:name":{},"f:image":{},"f:args":{},
"f:imagePullPolicy":{},"f:env":{".":{},"k:{\"name\":\"LEVEL\"}":{".":{},"f:name":{},"f:value":{}},"k:{\"name\":\"API_TOKEN\"}":{".":{},"f:name":{},"f:value":{}}},
"f:ports":{".":{},"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:protocol":{}}},"f:resources":{".":{},"f:limits":{".":{},"f:memory":{}}}}}}}}}},
{"manager":"kube-controller-manager","operation":"Update","apiVersion":"apps/v1","subresource":"status","time":"2026-03-01T10:00:05Z","fieldsType":"FieldsV1",
"fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:deployment.kubernetes.io/revision":{}}},"f:status":{"f:replicas":{}}}}]},
"spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
"spec":{"containers":[{"name":"web","image":"web:1.0","imagePullPolicy":"IfNotPresent","args":["--a","--b"],"ports":[{"containerPort":8080,"protocol":"TCP"}],
"env":[{"name":"LEVEL","value":"info"},{"name":"API_TOKEN","value":"hunter2"}],"resources":{"limits":{"memory":"1Gi"}}}]}}},"status":{"replicas":3}}`
