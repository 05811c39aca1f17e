package drift

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/cluster"
)

// Weight is how much it would matter to lose an object.
type Weight int

// The weights, the heaviest first.
const (
	// Data is what can't be made again from anything else, or what much else
	// hangs on: Secrets, volume claims, namespaces, custom kinds, rights for the
	// whole cluster.
	Data Weight = iota
	// Running is what does the work: workloads, services, configuration.
	Running
	// Other is the rest.
	Other
)

// Orphan is an object that no target declares: a rebuild of the cluster from
// Git would not bring it back.
type Orphan struct {
	Kind      string    `json:"kind"`
	Namespace string    `json:"namespace,omitempty"`
	Name      string    `json:"name"`
	Weight    Weight    `json:"weight"`
	Created   time.Time `json:"created,omitzero"`
	// By is who or what made it, and Known how that is known. A person is
	// named by the audit log only.
	By    string       `json:"by"`
	Known EvidenceKind `json:"known"`
	// Mark is the target whose mark it carries without being declared by it;
	// "" for most.
	Mark string `json:"mark,omitempty"`
}

// Orphans is a report.
type Orphans struct {
	Cluster string `json:"cluster"`
	// Namespace is the one that was looked at; "" for the whole cluster.
	Namespace string   `json:"namespace,omitempty"`
	List      []Orphan `json:"orphans"`
	// Declared counts what targets declare, Targets those targets.
	Declared int `json:"declared"`
	Targets  int `json:"targets"`
	// Left are the kinds that could not be listed, because the right to is
	// missing: there may be more.
	Left []string `json:"left,omitempty"`
}

// sweeper is the part of a cluster that the report reads.
type sweeper interface {
	Sweep(ctx context.Context, namespace string) ([]cluster.Item, []string, error)
	List(ctx context.Context, apiVersion, kind, namespace string) ([]unstructured.Unstructured, error)
}

// FindOrphans lists what no target declares, in a namespace or, with "", in
// the whole cluster, the heaviest first. Children of other objects, defaults
// and the system's own objects are left out. writes gives the audited writes
// under a key; nil where there is no audit log.
func FindOrphans(ctx context.Context, name string, c sweeper, namespace string, writes func(context.Context, string) ([]cluster.Write, error)) (Orphans, error) {
	report := Orphans{Cluster: name, Namespace: namespace}
	declared, targets, err := declarations(ctx, c)
	if err != nil {
		return report, err
	}
	items, left, err := c.Sweep(ctx, namespace)
	if err != nil {
		return report, err
	}
	report.Left, report.Targets = left, targets
	for _, item := range items {
		switch {
		case declared[place(item.Group(), item.Kind, item.Namespace, item.Name)]:
			report.Declared++
			continue
		case item.Owned || ordinary(item):
			continue
		}
		o := Orphan{Kind: item.Kind, Namespace: item.Namespace, Name: item.Name, Weight: weigh(item), Created: item.Created, Mark: marked(item)}
		if o.By, o.Known, err = madeBy(ctx, item, writes); err != nil {
			return report, err
		}
		report.List = append(report.List, o)
	}
	slices.SortStableFunc(report.List, func(a, b Orphan) int {
		return cmp.Or(cmp.Compare(a.Weight, b.Weight), strings.Compare(a.By, b.By), strings.Compare(a.Kind, b.Kind),
			strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return report, nil
}

func place(group, kind, namespace, name string) string {
	return group + "|" + kind + "|" + namespace + "|" + name
}

// declarations are the objects that the cluster's Applications have in Git. A
// cluster without Argo CD has none.
func declarations(ctx context.Context, c sweeper) (map[string]bool, int, error) {
	apps, err := c.List(ctx, "argoproj.io/v1alpha1", Application, "")
	if _, none := errors.AsType[*cluster.NotFound](err); none {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	declared := map[string]bool{}
	for _, app := range apps {
		resources, _, _ := unstructured.NestedSlice(app.Object, "status", "resources")
		for _, r := range resources {
			m, _ := r.(map[string]any)
			if m["requiresPruning"] == true {
				// It carries the Application's mark and is in no Git.
				continue
			}
			declared[place(text(m, "group"), text(m, "kind"), text(m, "namespace"), text(m, "name"))] = true
		}
	}
	return declared, len(apps), nil
}

var (
	// system are the namespaces of the cluster itself.
	system = []string{"kube-system", "kube-public", "kube-node-lease"}
	// builtin are names that the cluster gives to objects of its own.
	builtin = regexp.MustCompile(`^(system:.*|system-.*|kubernetes|kube-root-ca\.crt|default|default-token-.*|cluster-admin|admin|edit|view|kubeadm:.*|legacy-.*)$`)
	// defaulted are the kinds in which a builtin name is the cluster's own.
	defaulted = []string{"ServiceAccount", "ConfigMap", "Service", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "PriorityClass", "Namespace", "Secret", "IngressClass", "RuntimeClass", "IPAddress", "ServiceCIDR", "AppProject"}
)

// ordinary tells whether every cluster has the object, or a controller keeps
// it for another.
func ordinary(i cluster.Item) bool {
	switch {
	case slices.Contains(system, i.Namespace), i.Kind == "Namespace" && (slices.Contains(system, i.Name) || i.Name == "default"):
		return true
	case i.Labels["kubernetes.io/bootstrapping"] == "rbac-defaults":
		return true
	case i.Labels["kustomize.toolkit.fluxcd.io/name"] != "" || i.Labels["helm.toolkit.fluxcd.io/name"] != "":
		// Flux declares it.
		return true
	case i.Kind == "Pod" || i.Kind == "ReplicaSet" || i.Kind == "IPAddress":
		return i.Owned || i.Kind == "IPAddress"
	case i.Kind == "PersistentVolume":
		// It comes with its claim, which is in the report.
		return true
	}
	return slices.Contains(defaulted, i.Kind) && builtin.MatchString(i.Name)
}

// weigh says how much it would matter to lose an object.
func weigh(i cluster.Item) Weight {
	switch i.Kind {
	case "Secret", "PersistentVolumeClaim", "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "Namespace", "StatefulSet":
		return Data
	case "Deployment", "DaemonSet", "CronJob", "Job", "Pod", "ReplicaSet", "Service", "Ingress", "ConfigMap", "Role", "RoleBinding", "ServiceAccount",
		"NetworkPolicy", "HorizontalPodAutoscaler", "PodDisruptionBudget", Application, "ApplicationSet", "AppProject", "StorageClass",
		"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
		return Running
	}
	return Other
}

// marked is the Application whose mark an object carries.
func marked(i cluster.Item) string {
	if app, _, found := strings.Cut(i.Annotations["argocd.argoproj.io/tracking-id"], ":"); found {
		return app
	}
	return i.Labels["argocd.argoproj.io/instance"]
}

// madeBy says who or what made an object: the audit log if it tells, else the
// first field manager, which names a tool.
func madeBy(ctx context.Context, i cluster.Item, writes func(context.Context, string) ([]cluster.Write, error)) (string, EvidenceKind, error) {
	if writes != nil {
		for _, key := range i.Keys() {
			list, err := writes(ctx, key)
			if err != nil {
				return "", Unknown, err
			}
			for _, w := range list {
				near := w.At.Sub(i.Created) < 2*slack && i.Created.Sub(w.At) < 2*slack
				if near && (w.Verb == "create" || w.Verb == "patch") {
					return w.User, ByAudit, nil
				}
			}
		}
	}
	if name := i.Annotations["meta.helm.sh/release-name"]; name != "" || strings.HasPrefix(i.Name, "sh.helm.release.v1.") {
		return "helm", ByManager, nil
	}
	managers := slices.Clone(i.Managers)
	slices.SortStableFunc(managers, func(a, b cluster.Manager) int { return a.At.Compare(b.At) })
	for _, m := range managers {
		if m.Subresource == "status" {
			continue
		}
		return tool(m), ByManager, nil
	}
	return "unknown", Unknown, nil
}

// Prunable is an object that holds data, that a target declares, and that a
// sync which prunes would delete as soon as it left Git.
type Prunable struct {
	Kind, Namespace, Name string
}

// Protection is the annotation that keeps Argo CD from deleting an object.
// https://argo-cd.readthedocs.io/en/stable/user-guide/sync-options/#no-prune-resources
const Protection = "argocd.argoproj.io/sync-options: Prune=false"

// holding are the kinds whose deletion takes data with it.
var holding = []string{"PersistentVolumeClaim", "Namespace", "CustomResourceDefinition", "StatefulSet"}

// PruneDangers lists what holds data in a target that prunes, without the
// annotation that protects it.
func (s *Surveyor) PruneDangers(ctx context.Context, t Target) ([]Prunable, error) {
	ref := argocd.Ref{Namespace: t.Namespace, Name: t.Name}
	app, err := s.Argo.App(ctx, ref)
	if err != nil || !app.Automated.Prune {
		return nil, err
	}
	objects, err := s.Argo.Managed(ctx, ref)
	if err != nil {
		return nil, err
	}
	var list []Prunable
	for _, m := range objects {
		if m.Hook || m.Live == nil || !slices.Contains(holding, m.Kind) {
			continue
		}
		options := text(child(child(m.Live, "metadata"), "annotations"), "argocd.argoproj.io/sync-options")
		if !strings.Contains(options, "Prune=false") && !strings.Contains(options, "Prune=confirm") {
			list = append(list, Prunable{m.Kind, m.Namespace, m.Name})
		}
	}
	return list, nil
}

// OrphansOf reports on what a target does not declare in the namespace that it
// deploys to.
func (s *Surveyor) OrphansOf(ctx context.Context, namespace string) (Orphans, error) {
	c, ok := s.Live.(sweeper)
	if !ok {
		return Orphans{}, fmt.Errorf("list what is in %s: %w", s.Name, errors.ErrUnsupported)
	}
	return FindOrphans(ctx, s.Name, c, namespace, s.Writes)
}
