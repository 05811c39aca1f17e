package cluster

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// ObjectRef names one object.
type ObjectRef struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Namespace is empty for objects that live in none.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// String is Kind namespace/name.
func (r ObjectRef) String() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// Get reads one object, with its managed fields. A Secret is never read.
func (c *Cluster) Get(ctx context.Context, ref ObjectRef) (*unstructured.Unstructured, error) {
	what := "get " + ref.String()
	in, err := c.resource(what, ref.APIVersion, ref.Kind, ref.Namespace)
	if err != nil {
		return nil, err
	}
	obj, err := in.Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return nil, classify(what, err)
	}
	return obj, nil
}

// List reads all objects of a kind in a namespace.
func (c *Cluster) List(ctx context.Context, apiVersion, kind, namespace string) ([]unstructured.Unstructured, error) {
	what := fmt.Sprintf("list %s objects in namespace %s", kind, namespace)
	in, err := c.resource(what, apiVersion, kind, namespace)
	if err != nil {
		return nil, err
	}
	// ResourceVersion 0 takes the API server's cache, which is enough for
	// knowing whether an autoscaler is there.
	list, err := in.List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return nil, classify(what, err)
	}
	return list.Items, nil
}

// resource finds the REST resource of a kind. A kind that is unknown may have
// been installed since the cluster was last asked for its kinds, which the
// mapper asks again by itself.
func (c *Cluster) resource(what, apiVersion, kind, namespace string) (dynamic.ResourceInterface, error) {
	mapping, err := c.mapping(what, apiVersion, kind)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return c.dynamic.Resource(mapping.Resource), nil
	}
	return c.dynamic.Resource(mapping.Resource).Namespace(namespace), nil
}

// mapping finds what a kind is called in the API's paths.
func (c *Cluster) mapping(what, apiVersion, kind string) (*meta.RESTMapping, error) {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, fmt.Errorf("%s: API version %q: %w", what, apiVersion, err)
	}
	if gv.Group == "" && kind == "Secret" {
		return nil, &Denied{What: what, Message: "Secrets are not read by this program"}
	}
	mapping, err := c.mapper.RESTMapping(schema.GroupKind{Group: gv.Group, Kind: kind}, gv.Version)
	if err != nil {
		return nil, classify(what, err)
	}
	return mapping, nil
}

func splitResource(s string) (resource, sub string) {
	resource, sub, _ = strings.Cut(s, "/")
	return resource, sub
}
