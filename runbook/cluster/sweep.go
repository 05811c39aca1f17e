package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// Item is an object by its name and its metadata: no more of it is read.
type Item struct {
	ObjectRef
	Resource    string
	UID         string
	Labels      map[string]string
	Annotations map[string]string
	// Owned is true for a child of another object.
	Owned    bool
	Created  time.Time
	Managers []Manager
}

// Group is the API group; "" for the core group.
func (i Item) Group() string {
	gv, err := schema.ParseGroupVersion(i.APIVersion)
	if err != nil {
		return ""
	}
	return gv.Group
}

// Keys are the names under which audited writes to the object are found.
func (i Item) Keys() []string {
	return []string{i.UID, nameKey(i.Group(), i.Resource, i.Namespace, i.Name)}
}

const (
	// sweepers bounds the lists that are read at once, page how many objects
	// one answer has.
	sweepers = 6
	page     = 500
)

// passing are kinds that come and go by themselves, or that exist once for
// each node or request.
var passing = []string{
	"events", "leases", "endpoints", "endpointslices", "nodes", "csinodes", "csistoragecapacities", "componentstatuses", "apiservices",
	"flowschemas", "prioritylevelconfigurations", "podmetrics", "nodemetrics", "bindings", "volumeattachments", "controllerrevisions", "certificatesigningrequests",
}

// Sweep lists what there is, in one namespace or, with "", in the cluster, by
// metadata alone: of a Secret that is its name, never a value, and a copy of
// values in an annotation is dropped before anybody sees it. left names the
// kinds that we may not list.
func (c *Cluster) Sweep(ctx context.Context, namespace string) (items []Item, left []string, err error) {
	kinds, err := c.listable(namespace != "")
	if err != nil {
		return nil, nil, err
	}
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(sweepers)
	for _, k := range kinds {
		g.Go(func() error {
			found, err := c.sweep(ctx, k, namespace)
			mu.Lock()
			defer mu.Unlock()
			if _, denied := errors.AsType[*Denied](err); denied {
				left = append(left, k.gvr.GroupResource().String())
				return nil
			}
			if _, none := errors.AsType[*NotFound](err); none {
				return nil
			}
			items = append(items, found...)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	slices.Sort(left)
	slices.SortFunc(items, func(a, b Item) int {
		return strings.Compare(a.Kind+"/"+a.Namespace+"/"+a.Name, b.Kind+"/"+b.Namespace+"/"+b.Name)
	})
	return items, left, nil
}

// listed is a kind that can be listed.
type listed struct {
	gvr  schema.GroupVersionResource
	kind string
}

// listable asks for the kinds, each in the version that the server prefers.
// Groups whose own server is away are left out: their objects can't be read.
func (c *Cluster) listable(namespaced bool) (list []listed, err error) {
	all, err := c.discovery.ServerPreferredResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, classify("ask the cluster for its kinds", err)
	}
	for _, group := range all {
		gv, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			continue
		}
		for _, r := range group.APIResources {
			if slices.Contains(r.Verbs, "list") && !slices.Contains(passing, r.Name) && !strings.Contains(r.Name, "/") && (!namespaced || r.Namespaced) {
				list = append(list, listed{gv.WithResource(r.Name), r.Kind})
			}
		}
	}
	return list, nil
}

func (c *Cluster) sweep(ctx context.Context, k listed, namespace string) (items []Item, err error) {
	what := "list " + k.gvr.Resource
	options := metav1.ListOptions{Limit: page}
	for {
		answer, err := c.metadata.Resource(k.gvr).Namespace(namespace).List(ctx, options)
		if apierrors.IsMethodNotSupported(err) {
			return nil, nil
		}
		if err != nil {
			return nil, classify(what, err)
		}
		for i := range answer.Items {
			item, err := itemOf(k, &answer.Items[i])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", what, err)
			}
			items = append(items, item)
		}
		if options.Continue = answer.Continue; options.Continue == "" {
			return items, nil
		}
	}
}

func itemOf(k listed, m *metav1.PartialObjectMetadata) (Item, error) {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(m)
	if err != nil {
		return Item{}, err
	}
	notes := map[string]string{}
	for key, v := range m.Annotations {
		// It may hold a Secret's values; and nobody needs the others' texts.
		if key != "kubectl.kubernetes.io/last-applied-configuration" && (strings.Contains(key, "argocd") || strings.Contains(key, "helm.sh") || strings.Contains(key, "fluxcd")) {
			notes[key] = v
		}
	}
	return Item{
		ObjectRef: ObjectRef{APIVersion: k.gvr.GroupVersion().String(), Kind: k.kind, Namespace: m.Namespace, Name: m.Name},
		Resource:  k.gvr.Resource, UID: string(m.UID), Labels: m.Labels, Annotations: notes,
		Owned: len(m.OwnerReferences) > 0, Created: m.CreationTimestamp.UTC(),
		Managers: Managers((&unstructured.Unstructured{Object: object}).Object),
	}, nil
}
