package scenario

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"reconcilebot/cmd/lab/systems"
	"reconcilebot/cmd/lab/world"
)

// untilCommitToName is untilCommit where Git's value is the application's name.
func untilCommitToName(t *story, s spot) {
	s.git = t.world.Fill(s.git)
	untilCommit(t, s)
}

// pinnedStands lands a commit, has Argo CD look, and sees that it does nothing.
func pinnedStands(t *story, s spot) {
	t.still(s)
	t.lands()
	t.looked()
	t.still(s)
}

// looked has Argo CD look at the branch and waits until it did.
func (t *story) looked() {
	t.refreshes()
	t.do("Argo CD looked", func(ctx context.Context) error {
		_, err := t.rig.Kube.Until(ctx, t.world.ApplicationObject(), "refreshed", func(app *unstructured.Unstructured) bool {
			return app.GetAnnotations()["argocd.argoproj.io/refresh"] == ""
		})
		return err
	})
}

// impersonates lets the platform engineer act in others' names.
func impersonates(t *story) {
	t.do("carol may act for others", func(ctx context.Context) error {
		return t.rig.Kube.Apply(ctx, t.world.Fill(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: $NAMESPACE-impersonate}
rules: [{apiGroups: [""], resources: [users, groups], verbs: [impersonate]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: $NAMESPACE-impersonate}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: $NAMESPACE-impersonate}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: carol@example.com}]
`))
	})
}

// file leaves a manifest for kubectl, which finds it as $FILE.
func file(text string) func(*story) {
	return func(t *story) {
		t.do("a manifest", func(context.Context) error {
			return os.WriteFile(t.file(), []byte(t.world.Fill(text)), 0o600)
		})
	}
}

// file is where a story's manifest is.
func (t *story) file() string { return filepath.Join(t.rig.Dir, t.world.Name+".yaml") }

// skips tells Argo CD to leave the Application alone altogether.
func skips(t *story) {
	t.do("Argo CD is told to skip it", func(ctx context.Context) error {
		return t.rig.Kube.Merge(ctx, t.world.ApplicationObject(), `{"metadata":{"annotations":{"argocd.argoproj.io/skip-reconcile":"true"}}}`)
	})
}

// breaks commits a manifest that is none.
func breaks(t *story) {
	t.do("a manifest that is none", func(context.Context) error {
		_, err := t.rig.Git.Commit(t.world, world.AppOwner, "Break it", map[string]string{t.world.Folder() + "/broken.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: [}\n"})
		return err
	})
	t.refreshes()
	t.condition("ComparisonError")
}

// twin makes a second Application of the same manifests.
func twin(t *story) {
	t.do("a second Application of the same objects", func(ctx context.Context) error {
		text := t.world.Application(t.rig.Git.URL(t.world))
		return t.rig.Kube.Apply(ctx, strings.Replace(text, "name: "+t.world.App+", namespace", "name: "+t.world.App+"-twin, namespace", 1))
	})
	t.do("the second is synced", func(ctx context.Context) error {
		o := systems.Object{Kind: "Application", Namespace: "argocd", Name: t.world.App + "-twin"}
		_, err := t.rig.Kube.Until(ctx, o, "synced", func(app *unstructured.Unstructured) bool {
			phase, _, _ := unstructured.NestedString(app.Object, "status", "operationState", "phase")
			return phase == "Succeeded"
		})
		return err
	})
	t.refreshes()
	t.condition("SharedResourceWarning")
}

// condition waits for a complaint of Argo CD's.
func (t *story) condition(kind string) {
	t.do(kind, func(ctx context.Context) error {
		_, err := t.rig.Kube.Until(ctx, t.world.ApplicationObject(), "complained of with "+kind, func(app *unstructured.Unstructured) bool {
			conditions, _, _ := unstructured.NestedSlice(app.Object, "status", "conditions")
			return strings.Contains(fmt.Sprint(conditions), kind)
		})
		return err
	})
}

// hotPatched changes the Application's source without changing what comes of
// it, as `argocd app set` would.
func (t *story) hotPatched() {
	t.do("the source is set by hand", func(ctx context.Context) error {
		return t.rig.Kube.Merge(ctx, t.world.ApplicationObject(), `{"spec":{"source":{"directory":{"exclude":"none.yaml"}}}}`)
	})
	t.looked()
}

// parented puts the Application under an app of apps.
func parented(t *story) { t.parent() }

// mayEditApplications lets the platform engineer edit Applications with
// kubectl.
func mayEditApplications(t *story) {
	t.do("carol may edit Applications", func(ctx context.Context) error {
		return t.rig.Kube.Apply(ctx, t.world.Fill(`
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: $NAMESPACE-applications, namespace: argocd}
rules: [{apiGroups: [argoproj.io], resources: [applications], verbs: [get, patch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: $NAMESPACE-applications, namespace: argocd}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: $NAMESPACE-applications}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: carol@example.com}]
`))
	})
}

// hidden has Argo CD ignore what kubectl set writes.
func hidden(t *story) {
	t.do("a rule that hides what people write", func(ctx context.Context) error {
		return t.rig.Kube.Merge(ctx, t.world.ApplicationObject(), `{"spec":{"ignoreDifferences":[{"group":"apps","kind":"Deployment","managedFieldsManagers":["kubectl-set","kubectl"]}]}}`)
	})
	t.looked()
}
