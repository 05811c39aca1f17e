// Package cluster reads one Kubernetes cluster, and listens to its audit log.
//
// It must never change an object of the cluster and never read a Secret: the
// one method that sends a change sends it as a dry run, and of a Secret no
// more is read than its name, where the right to list them was granted. It
// must never take a person's name from anything but the audit log: a field
// manager is whatever the client says it is.
//
// Why dynamic reads: targets hold custom resources of which this program
// knows nothing, and a typed client drops the fields that it does not know.
package cluster

import (
	"context"
	"fmt"
	"net/http"
	"time"

	authv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	authclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
)

// callTimeout bounds every call to the API server, also those of discovery,
// which take no context.
const callTimeout = 30 * time.Second

// Config says which cluster, and how we call ourselves there.
type Config struct {
	// Kubeconfig is a file; "" means the service account of the Pod we run in.
	Kubeconfig string
	// Context is one in the file; "" is the file's current one.
	Context string
	// UserAgent names us in the cluster's audit log.
	UserAgent string
	// Wrap goes round the transport, if it is not nil.
	Wrap func(http.RoundTripper) http.RoundTripper
}

// Cluster is one cluster. It is safe for concurrent use.
type Cluster struct {
	dynamic dynamic.Interface
	// metadata reads objects without what is in them.
	metadata  metadata.Interface
	discovery discovery.ServerResourcesInterface
	mapper    *restmapper.DeferredDiscoveryRESTMapper
	version   discovery.ServerVersionInterface
	access    authclient.SelfSubjectAccessReviewInterface
}

// New reads the configuration. It does not call the cluster.
func New(c Config) (*Cluster, error) {
	rc, err := c.rest()
	if err != nil {
		return nil, err
	}
	return open(rc)
}

func (c Config) rest() (*rest.Config, error) {
	rc, err := c.load()
	if err != nil {
		return nil, err
	}
	rc.Timeout = callTimeout
	// The default of 5 a second would make a survey of many objects crawl.
	rc.QPS, rc.Burst = 50, 100
	rc.UserAgent = c.UserAgent
	if c.Wrap != nil {
		rc.Wrap(c.Wrap)
	}
	return rc, nil
}

func (c Config) load() (*rest.Config, error) {
	if c.Kubeconfig == "" {
		rc, err := rest.InClusterConfig()
		if err != nil {
			return nil, fmt.Errorf("no kubeconfig is set and this does not run in a Pod with a service account: %w", err)
		}
		return rc, nil
	}
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: c.Kubeconfig}
	rc, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: c.Context}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig %s: %w", c.Kubeconfig, err)
	}
	return rc, nil
}

func open(rc *rest.Config) (*Cluster, error) {
	httpClient, err := rest.HTTPClientFor(rc)
	if err != nil {
		return nil, fmt.Errorf("set up the connection to the cluster: %w", err)
	}
	dyn, err := dynamic.NewForConfigAndClient(rc, httpClient)
	if err != nil {
		return nil, fmt.Errorf("set up the connection to the cluster: %w", err)
	}
	disco, err := discovery.NewDiscoveryClientForConfigAndClient(rc, httpClient)
	if err != nil {
		return nil, fmt.Errorf("set up the connection to the cluster: %w", err)
	}
	auth, err := authclient.NewForConfigAndClient(rc, httpClient)
	if err != nil {
		return nil, fmt.Errorf("set up the connection to the cluster: %w", err)
	}
	meta, err := metadata.NewForConfigAndClient(metadata.ConfigFor(rc), httpClient)
	if err != nil {
		return nil, fmt.Errorf("set up the connection to the cluster: %w", err)
	}
	return &Cluster{
		metadata: meta, discovery: disco,
		dynamic: dyn, version: disco, access: auth.SelfSubjectAccessReviews(),
		mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(disco)),
	}, nil
}

// Version is the API server's, such as v1.34.4.
func (c *Cluster) Version(ctx context.Context) (string, error) {
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	v, err := c.version.ServerVersion()
	if err != nil {
		return "", classify("ask the cluster's version", err)
	}
	return v.GitVersion, nil
}

// CanI asks whether we have a right. resource may name a subresource as
// deployments/scale; namespace "" means all of them.
func (c *Cluster) CanI(ctx context.Context, verb, group, resource, namespace string) (bool, error) {
	resource, sub := splitResource(resource)
	review := &authv1.SelfSubjectAccessReview{Spec: authv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authv1.ResourceAttributes{
			Verb: verb, Group: group, Resource: resource, Subresource: sub, Namespace: namespace,
		},
	}}
	answer, err := c.access.Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, classify(fmt.Sprintf("ask for the right to %s %s", verb, resource), err)
	}
	return answer.Status.Allowed, nil
}
