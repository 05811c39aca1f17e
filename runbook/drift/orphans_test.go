package drift

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"reconcilebot/runbook/cluster"
)

// yard is a cluster that is swept.
type yard struct {
	items []cluster.Item
	left  []string
	apps  string
}

func (y yard) Sweep(context.Context, string) ([]cluster.Item, []string, error) {
	return y.items, y.left, nil
}

func (y yard) List(context.Context, string, string, string) ([]unstructured.Unstructured, error) {
	if y.apps == "" {
		return nil, &cluster.NotFound{What: "list Applications"}
	}
	return []unstructured.Unstructured{{Object: map[string]any{"status": map[string]any{"resources": []any{
		map[string]any{"group": "apps", "kind": "Deployment", "namespace": "payments", "name": "web"},
		map[string]any{"kind": "ConfigMap", "namespace": "payments", "name": "extra", "requiresPruning": true},
	}}}}}, nil
}

func item(apiVersion, kind, namespace, name string, edit ...func(*cluster.Item)) cluster.Item {
	i := cluster.Item{ObjectRef: cluster.ObjectRef{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name}, Resource: strings.ToLower(kind) + "s", UID: kind + name, Created: noon}
	for _, e := range edit {
		e(&i)
	}
	return i
}

func TestFindOrphans(t *testing.T) {
	byHand := func(i *cluster.Item) { i.Managers = []cluster.Manager{{Name: "kubectl-create", At: noon}} }
	owned := func(i *cluster.Item) { i.Owned = true }
	y := yard{apps: "one", left: []string{"secrets"}, items: []cluster.Item{
		item("apps/v1", "Deployment", "payments", "web"),
		item("apps/v1", "Deployment", "payments", "debug", byHand),
		item("v1", "ConfigMap", "payments", "extra", func(i *cluster.Item) {
			i.Annotations = map[string]string{"argocd.argoproj.io/tracking-id": "payments-web:/ConfigMap:payments/extra"}
		}),
		item("v1", "ConfigMap", "payments", "kube-root-ca.crt"),
		item("v1", "PersistentVolumeClaim", "payments", "ledger", byHand),
		item("v1", "Secret", "payments", "db"),
		item("v1", "Pod", "payments", "web-1", owned),
		item("v1", "ConfigMap", "kube-system", "coredns"),
		item("rbac.authorization.k8s.io/v1", "ClusterRole", "", "system:node", func(i *cluster.Item) { i.Labels = map[string]string{"kubernetes.io/bootstrapping": "rbac-defaults"} }),
		item("rbac.authorization.k8s.io/v1", "ClusterRole", "", "breakglass", byHand),
		item("v1", "Service", "payments", "flux-made", func(i *cluster.Item) { i.Labels = map[string]string{"kustomize.toolkit.fluxcd.io/name": "x"} }),
		item("example.com/v1", "Widget", "payments", "w"),
	}}
	writes := func(_ context.Context, key string) ([]cluster.Write, error) {
		if key != "Secretdb" {
			return nil, nil
		}
		return []cluster.Write{{AuditID: "1", User: "alice@example.com", Verb: "create", At: noon}}, nil
	}
	report, err := FindOrphans(t.Context(), "eu", y, "", writes)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range report.List {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%d %s %s/%s by %s (%s) %s", o.Weight, o.Kind, o.Namespace, o.Name, o.By, o.Known, o.Mark)))
	}
	want := []string{
		"0 Secret payments/db by alice@example.com (audit)",
		"0 ClusterRole /breakglass by kubectl create (manager)",
		"0 PersistentVolumeClaim payments/ledger by kubectl create (manager)",
		"1 Deployment payments/debug by kubectl create (manager)",
		"1 ConfigMap payments/extra by unknown (unknown) payments-web",
		"2 Widget payments/w by unknown (unknown)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if report.Declared != 1 || report.Targets != 1 || !slices.Equal(report.Left, []string{"secrets"}) {
		t.Errorf("declared %d by %d, left out %v", report.Declared, report.Targets, report.Left)
	}
	y.apps = ""
	if report, err = FindOrphans(t.Context(), "eu", y, "", nil); err != nil || report.Targets != 0 || len(report.List) != len(want)+1 {
		t.Errorf("without Argo CD: %d of %d targets, %v", len(report.List), report.Targets, err)
	}
}

func TestPruneDangers(t *testing.T) {
	w := newWorld(t)
	claim := func(name, options string) map[string]any {
		o := object1(t, `{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"`+name+`","namespace":"payments","uid":"`+name+`","annotations":{}}}`)
		if options != "" {
			child(child(o, "metadata"), "annotations")["argocd.argoproj.io/sync-options"] = options
		}
		return o
	}
	w.add(claim("bare", ""), claim("bare", ""))
	w.add(claim("safe", "Prune=false"), claim("safe", "Prune=false,Delete=false"))
	at := Target{"production-eu", Application, "argocd", "payments-web"}
	got, err := w.surveyor().PruneDangers(t.Context(), at)
	if err != nil || len(got) != 1 || got[0].Name != "bare" {
		t.Errorf("got %v, %v; want the claim without the annotation", got, err)
	}
	w.app.Automated.Prune = false
	if got, err := w.surveyor().PruneDangers(t.Context(), at); err != nil || len(got) != 0 {
		t.Errorf("where nothing is pruned: %v, %v", got, err)
	}
}
