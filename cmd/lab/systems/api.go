package systems

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// API is the cluster's API, as the lab uses it: it applies manifests and waits
// for objects to become what they should be.
type API struct{ objects dynamic.Interface }

// NewAPI talks to the API server at url with a token.
func NewAPI(url string, ca []byte, token string) (*API, error) {
	objects, err := dynamic.NewForConfig(&rest.Config{
		Host: url, BearerToken: token, TLSClientConfig: rest.TLSClientConfig{CAData: ca},
		QPS: -1, UserAgent: "reconcilebot-lab",
	})
	if err != nil {
		return nil, fmt.Errorf("make a client for %s: %w", url, err)
	}
	return &API{objects: objects}, nil
}

// kinds are those that the lab's manifests use. A table, and not discovery: it
// saves requests in the seconds between start and the first card.
var kinds = map[string]schema.GroupVersionResource{
	"ConfigMap":                {Version: "v1", Resource: "configmaps"},
	"Namespace":                {Version: "v1", Resource: "namespaces"},
	"Node":                     {Version: "v1", Resource: "nodes"},
	"Secret":                   {Version: "v1", Resource: "secrets"},
	"ServiceAccount":           {Version: "v1", Resource: "serviceaccounts"},
	"Service":                  {Version: "v1", Resource: "services"},
	"PersistentVolumeClaim":    {Version: "v1", Resource: "persistentvolumeclaims"},
	"Deployment":               {Group: "apps", Version: "v1", Resource: "deployments"},
	"HorizontalPodAutoscaler":  {Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"},
	"ClusterRole":              {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
	"ClusterRoleBinding":       {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"},
	"Role":                     {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"},
	"RoleBinding":              {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"},
	"CustomResourceDefinition": {Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
	"Application":              {Group: "argoproj.io", Version: "v1alpha1", Resource: "applications"},
	"AppProject":               {Group: "argoproj.io", Version: "v1alpha1", Resource: "appprojects"},
}

// An Object names one object of the cluster.
type Object struct{ Kind, Namespace, Name string }

func (o Object) String() string {
	return strings.ToLower(o.Kind) + " " + strings.TrimPrefix(o.Namespace+"/"+o.Name, "/")
}

func (a *API) resource(o Object) (dynamic.ResourceInterface, error) {
	gvr, ok := kinds[o.Kind]
	if !ok {
		return nil, fmt.Errorf("%s: the lab's table of kinds lacks it", o)
	}
	if o.Namespace == "" {
		return a.objects.Resource(gvr), nil
	}
	return a.objects.Resource(gvr).Namespace(o.Namespace), nil
}

// Apply writes every object of a YAML text by server-side apply.
func (a *API) Apply(ctx context.Context, manifests string) error {
	docs := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifests), 4096)
	for {
		var obj unstructured.Unstructured
		err := docs.Decode(&obj.Object)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a manifest: %w", err)
		}
		if len(obj.Object) == 0 {
			continue
		}
		if err := a.apply(ctx, &obj); err != nil {
			return err
		}
	}
}

func (a *API) apply(ctx context.Context, obj *unstructured.Unstructured) error {
	o := Object{Kind: obj.GetKind(), Namespace: obj.GetNamespace(), Name: obj.GetName()}
	r, err := a.resource(o)
	if err != nil {
		return err
	}
	if _, err := r.Apply(ctx, o.Name, obj, metav1.ApplyOptions{FieldManager: "lab", Force: true}); err != nil {
		return fmt.Errorf("apply %s: %w", o, err)
	}
	return nil
}

// Get reads one object.
func (a *API) Get(ctx context.Context, o Object) (*unstructured.Unstructured, error) {
	r, err := a.resource(o)
	if err != nil {
		return nil, err
	}
	obj, err := r.Get(ctx, o.Name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", o, err)
	}
	return obj, nil
}

// Merge changes the fields of one object that a JSON text names; null takes one
// away.
func (a *API) Merge(ctx context.Context, o Object, patch string) error {
	r, err := a.resource(o)
	if err != nil {
		return err
	}
	if _, err := r.Patch(ctx, o.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "lab"}); err != nil {
		return fmt.Errorf("change %s: %w", o, err)
	}
	return nil
}

// Until follows an object until ok says yes, and returns it as it was then. what
// words the wish, for the error when ctx ends before: "Synced and Healthy".
func (a *API) Until(ctx context.Context, o Object, what string, ok func(*unstructured.Unstructured) bool) (*unstructured.Unstructured, error) {
	r, err := a.resource(o)
	if err != nil {
		return nil, err
	}
	var last *unstructured.Unstructured
	for ctx.Err() == nil {
		obj, err := watchUntil(ctx, r, o, ok, &last)
		if obj != nil {
			return obj, nil
		}
		// A watch ends now and then, and a kind may not be served yet.
		if err != nil && !apierrors.IsNotFound(err) && ctx.Err() == nil {
			return nil, fmt.Errorf("watch %s: %w", o, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil, fmt.Errorf("wait for %s to be %s: %w; last seen: %s", o, what, context.Cause(ctx), describe(last))
}

func watchUntil(ctx context.Context, r dynamic.ResourceInterface, o Object, ok func(*unstructured.Unstructured) bool, last **unstructured.Unstructured) (*unstructured.Unstructured, error) {
	// Without a resourceVersion a watch begins with the object as it is.
	w, err := r.Watch(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", o.Name).String()})
	if err != nil {
		return nil, err
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		obj, is := event.Object.(*unstructured.Unstructured)
		if !is || obj.GetName() != o.Name {
			continue
		}
		*last = obj
		if ok(obj) {
			return obj, nil
		}
	}
	return nil, nil
}

// describe tells an object's state in short, for errors.
func describe(obj *unstructured.Unstructured) string {
	if obj == nil {
		return "nothing"
	}
	status, _, _ := unstructured.NestedMap(obj.Object, "status")
	short := map[string]any{}
	for _, key := range []string{"sync", "health", "conditions", "operationState", "replicas", "readyReplicas"} {
		if v, ok := status[key]; ok {
			short[key] = v
		}
	}
	text := fmt.Sprint(short)
	return text[:min(len(text), 1500)]
}

// ServiceAccountToken asks the API server for a service account's token, as the
// kubelet does for a Pod.
func (a *API) ServiceAccountToken(ctx context.Context, namespace, name string) (string, error) {
	request := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
		"metadata": map[string]any{"name": name},
		"spec":     map[string]any{"expirationSeconds": int64(24 * 60 * 60)},
	}}
	got, err := a.objects.Resource(kinds["ServiceAccount"]).Namespace(namespace).Create(ctx, request, metav1.CreateOptions{}, "token")
	if err != nil {
		return "", fmt.Errorf("request a token for service account %s/%s: %w", namespace, name, err)
	}
	token, _, err := unstructured.NestedString(got.Object, "status", "token")
	return token, err
}

// UntilGone follows an object until there is none of that name.
func (a *API) UntilGone(ctx context.Context, o Object) error {
	r, err := a.resource(o)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		obj, err := r.Get(ctx, o.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("get %s: %w", o, err)
		}
		if err := watchGone(ctx, r, obj); err != nil {
			return fmt.Errorf("watch %s: %w", o, err)
		}
	}
	return fmt.Errorf("wait for %s to be gone: %w", o, context.Cause(ctx))
}

// watchGone returns when the object is deleted, or when the watch ends.
func watchGone(ctx context.Context, r dynamic.ResourceInterface, obj *unstructured.Unstructured) error {
	w, err := r.Watch(ctx, metav1.ListOptions{
		FieldSelector:   fields.OneTermEqualSelector("metadata.name", obj.GetName()).String(),
		ResourceVersion: obj.GetResourceVersion(),
	})
	if err != nil {
		return err
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		if event.Type == watch.Deleted || event.Type == watch.Error {
			return nil
		}
	}
	return nil
}
