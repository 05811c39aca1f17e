package doctor

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// kubernetes is the part of a cluster that is asked.
type kubernetes interface {
	CanI(ctx context.Context, verb, group, resource, namespace string) (bool, error)
}

// Cluster is one Kubernetes cluster.
type Cluster struct {
	Name       string
	Kubernetes kubernetes
	// Rights are those that the bot needs, in all namespaces.
	Rights []Right
}

// Right is verbs on one resource. Group "" is the core group.
type Right struct {
	Group, Resource string
	Verbs           []string
}

func (r Right) String() string {
	if r.Group == "" {
		return r.Resource
	}
	return r.Resource + "." + r.Group
}

// excess are the rights that must not be there. A bot that could read Secrets
// would be worth stealing.
func excess() []struct {
	Right
	Level Level
} {
	return []struct {
		Right
		Level Level
	}{
		{Right{"", "secrets", []string{"get", "list", "watch"}}, Fail},
		{Right{"", "pods/exec", []string{"create"}}, Fail},
		{Right{"rbac.authorization.k8s.io", "clusterrolebindings", []string{"create", "update", "patch"}}, Fail},
		{Right{"apps", "deployments", []string{"create", "update", "patch", "delete"}}, Warn},
		{Right{"argoproj.io", "applications", []string{"create", "update", "patch", "delete"}}, Warn},
	}
}

// Checks lists what to look at.
func (c Cluster) Checks() []Check { return []Check{c.needed, c.unwanted} }

func (c Cluster) area() area { return area("kubernetes " + c.Name) }

func (c Cluster) needed(ctx context.Context) []Finding {
	missing, err := c.which(ctx, c.Rights, false)
	switch {
	case err != nil:
		return []Finding{c.area().fail("reach", "check kubeconfig and context, and that this machine reaches the API server", "%s", reason(ctx, err))}
	case len(missing) > 0:
		return []Finding{c.area().fail("rights", "apply deploy/base/rbac.yaml, and bind its ClusterRole to the bot's user", "may not %s", some(missing))}
	}
	return []Finding{c.area().ok("rights", "all of %s", plural(len(c.Rights), "resource"))}
}

func (c Cluster) unwanted(ctx context.Context) (found []Finding) {
	for _, e := range excess() {
		has, err := c.which(ctx, []Right{e.Right}, true)
		switch {
		case err != nil:
			return nil // needed says so
		case len(has) > 0:
			found = append(found, Finding{string(c.area()), "rights too many", e.Level, "may " + strings.Join(has, ", "), "take it away: kubectl get clusterrolebindings,rolebindings -A -o wide shows who gave it"})
		}
	}
	if len(found) == 0 {
		return []Finding{c.area().ok("rights too many", "none; Secrets can't be read")}
	}
	return found
}

// which asks for each right, side by side, and names those for which the
// answer is as given.
func (c Cluster) which(ctx context.Context, rights []Right, answer bool) ([]string, error) {
	var mu sync.Mutex
	var named []string
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(8)
	for _, r := range rights {
		g.Go(func() error {
			var verbs []string
			for _, verb := range r.Verbs {
				may, err := c.Kubernetes.CanI(ctx, verb, r.Group, r.Resource, "")
				if err != nil {
					return fmt.Errorf("ask for the right to %s %s: %w", verb, r, err)
				}
				if may == answer {
					verbs = append(verbs, verb)
				}
			}
			if len(verbs) > 0 {
				mu.Lock()
				defer mu.Unlock()
				named = append(named, strings.Join(verbs, "/")+" "+r.String())
			}
			return nil
		})
	}
	err := g.Wait()
	return named, err
}
