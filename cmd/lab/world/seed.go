package world

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"reconcilebot/cmd/lab/systems"
)

// cluster is the part of the Kubernetes API that seeding needs.
type cluster interface {
	Merge(ctx context.Context, o systems.Object, patch string) error
	Apply(ctx context.Context, manifests string) error
	Until(ctx context.Context, o systems.Object, what string, ok func(*unstructured.Unstructured) bool) (*unstructured.Unstructured, error)
}

// gitHost is the part of the Git host that seeding needs.
type gitHost interface {
	// Create makes a private repository with a history and a protected main
	// branch, and returns its address for git.
	Create(ctx context.Context, w World) (url string, err error)
	// Reader is the account that Argo CD reads repositories with.
	Reader() (user, token string)
}

// Seed brings a world into being and returns when its Application is Synced and
// Healthy.
func Seed(ctx context.Context, w World, git gitHost, kube cluster) error {
	url, err := git.Create(ctx, w)
	if err != nil {
		return fmt.Errorf("seed the repository of %s: %w", w.Name, err)
	}
	user, token := git.Reader()
	if err := kube.Apply(ctx, w.Kubernetes(url, user, token)); err != nil {
		return fmt.Errorf("seed the namespace of %s: %w", w.Name, err)
	}
	if err := kube.Apply(ctx, w.Application(url)); err != nil {
		return fmt.Errorf("seed the Application of %s: %w", w.Name, err)
	}
	for {
		app, err := kube.Until(ctx, w.ApplicationObject(), "Synced and Healthy", func(app *unstructured.Unstructured) bool {
			return InOrder(app) || unread(app)
		})
		if err != nil {
			return fmt.Errorf("seed %s: %w", w.Name, err)
		}
		if InOrder(app) {
			return nil
		}
		// On a busy machine Argo CD looks at an Application before it has heard
		// of the repository's credentials, and not again for minutes.
		if err := kube.Merge(ctx, w.ApplicationObject(), `{"metadata":{"annotations":{"argocd.argoproj.io/refresh":"hard"}}}`); err != nil {
			return fmt.Errorf("seed %s: %w", w.Name, err)
		}
	}
}

// unread tells whether Argo CD could not read the Application's manifests, and
// has not been asked to look again.
func unread(app *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(app.Object, "status", "conditions")
	return strings.Contains(fmt.Sprint(conditions), "ComparisonError") && app.GetAnnotations()["argocd.argoproj.io/refresh"] == ""
}

// ApplicationObject names the Application in the cluster.
func (w World) ApplicationObject() systems.Object {
	return systems.Object{Kind: "Application", Namespace: "argocd", Name: w.App}
}

// DeploymentObject names the Deployment in the cluster.
func (w World) DeploymentObject() systems.Object {
	return systems.Object{Kind: "Deployment", Namespace: w.Namespace(), Name: w.App}
}

// InOrder tells whether an Application is Synced and Healthy.
func InOrder(app *unstructured.Unstructured) bool {
	return field(app, "status", "sync", "status") == "Synced" && field(app, "status", "health", "status") == "Healthy"
}

// InOrderAt tells whether an Application is Synced and Healthy at a commit.
func InOrderAt(commit string) func(*unstructured.Unstructured) bool {
	return func(app *unstructured.Unstructured) bool {
		return InOrder(app) && field(app, "status", "sync", "revision") == commit
	}
}

// OutOfSync tells whether Argo CD sees a difference.
func OutOfSync(app *unstructured.Unstructured) bool {
	return field(app, "status", "sync", "status") == "OutOfSync"
}

// Attempted tells whether the last sync was of the revision that is compared
// with: only then does automated sync leave a change by hand alone.
func Attempted(app *unstructured.Unstructured) bool {
	at := field(app, "status", "sync", "revision")
	return at != "" && field(app, "status", "operationState", "syncResult", "revision") == at
}

func field(obj *unstructured.Unstructured, path ...string) string {
	s, _, _ := unstructured.NestedString(obj.Object, path...)
	return s
}

func fill(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }
