package drift

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"

	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/manifest"
)

// owners are the managers that own the field at a path, or a part of it, the
// latest first.
func owners(managers []cluster.Manager, live map[string]any, path manifest.Path) []cluster.Manager {
	var out []cluster.Manager
	for _, m := range managers {
		if owns(m.Fields, live, path) {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b cluster.Manager) int { return b.At.Compare(a.At) })
	return out
}

// owns follows a path through a set of owned fields. A field that is owned
// with nothing below it is owned as a whole.
func owns(set *fieldpath.Set, v any, path manifest.Path) bool {
	for i, e := range path {
		next, _ := step(v, e)
		pe, ok := element(set, e, next)
		if !ok {
			return false
		}
		below, more := set.Children.Get(pe)
		if i == len(path)-1 {
			return more || set.Members.Has(pe)
		}
		if !more {
			return set.Members.Has(pe)
		}
		set, v = below, next
	}
	return true
}

// element finds a path's step in a set. A list item that our path names by
// one key may be named by more in the set, so it is found by its content.
func element(set *fieldpath.Set, e manifest.Elem, item any) (found fieldpath.PathElement, ok bool) {
	if e.Item == nil && e.Pos == 0 {
		return fieldpath.PathElement{FieldName: &e.Key}, true
	}
	look := func(pe fieldpath.PathElement) {
		if !ok && isItem(pe, item) {
			found, ok = pe, true
		}
	}
	set.Members.Iterate(look)
	set.Children.Iterate(look)
	return found, ok
}

func isItem(pe fieldpath.PathElement, item any) bool {
	switch {
	case pe.Key != nil:
		m, ok := item.(map[string]any)
		for _, key := range *pe.Key {
			if v := key.Value.Unstructured(); ok && fmt.Sprint(v) != fmt.Sprint(m[key.Name]) {
				return false
			}
		}
		return ok
	case pe.Value != nil:
		return fmt.Sprint((*pe.Value).Unstructured()) == fmt.Sprint(item)
	}
	return false
}

// author is what kind of writer a field manager is.
type author int

const (
	stranger author = iota
	gitops
	controller
	hand
)

var (
	// gitopsManagers apply what is in Git. argocd-server is none: it writes
	// what people do in the UI.
	gitopsManagers = []string{"argocd-controller", "argocd-application-controller", "kustomize-controller", "gotk-kustomize-controller", "helm-controller", "flux-client-side-apply", "flux"}
	// controllers are parts of the cluster and what is commonly installed.
	controllers = regexp.MustCompile(`^(kube-controller-manager|kube-scheduler|kube-apiserver|kubelet|cloud-controller-manager|cluster-autoscaler|vpa-.*|cert-manager.*|cainjector|istiod|pilot-discovery|linkerd.*|keda.*|external-secrets.*)$|[-_](controller|operator|webhook|injector|manager|autoscaler)$`)
	// hands are tools that people work with.
	hands = regexp.MustCompile(`^(kubectl.*|helm|argocd-server|k9s|Mozilla|lens|OpenLens|Headlamp|headlamp-server|dashboard.*|rancher|oc|node-fetch|python-requests|OpenAPI-Generator|Go-http-client|curl|kubernetes-client|terraform.*|HashiCorp|pulumi.*|freelens)$`)
)

func authorOf(manager string) author {
	switch {
	case slices.Contains(gitopsManagers, manager):
		return gitops
	case hands.MatchString(manager):
		return hand
	case controllers.MatchString(manager):
		return controller
	}
	return stranger
}

// tools are kubectl's manager names. They are set by each command; scale sets
// none and is known by its subresource.
// https://github.com/kubernetes/kubectl, the constants named fieldManager
var tools = map[string]string{
	"kubectl-client-side-apply": "kubectl apply", "kubectl-last-applied": "kubectl apply", "kubectl-edit": "kubectl edit",
	"kubectl-patch": "kubectl patch", "kubectl-set": "kubectl set", "kubectl-label": "kubectl label",
	"kubectl-annotate": "kubectl annotate", "kubectl-create": "kubectl create", "kubectl-replace": "kubectl replace",
	"kubectl-rollout": "kubectl rollout", "kubectl-autoscale": "kubectl autoscale", "kubectl-expose": "kubectl expose",
	"kubectl-run": "kubectl run", "kubectl-taint": "kubectl taint",
	"argocd-server": "Argo CD's UI or API", "Mozilla": "a web page", "helm": "helm",
}

// tool says which tool a manager is, for people.
func tool(m cluster.Manager) string {
	switch {
	case m.Name == "kubectl" && m.Subresource != "":
		return "kubectl " + m.Subresource
	case m.Name == "kubectl" && m.Operation == "Apply":
		return "kubectl apply --server-side"
	case tools[m.Name] != "":
		return tools[m.Name]
	}
	return m.Name
}

// toolOf says which tool made an audited write.
func toolOf(w cluster.Write) string {
	agent, _, _ := strings.Cut(w.UserAgent, "/")
	name := w.FieldManager
	if name == "" || name == "kubectl" && w.Object.Subresource == "" {
		name = agent
	}
	if agent == "kubectl" && w.FieldManager == "" && w.Object.Subresource == "" && strings.HasPrefix(w.Verb, "delete") {
		return "kubectl delete"
	}
	operation := "Update"
	if w.FieldManager == "kubectl" && w.Verb == "patch" {
		operation = "Apply"
	}
	return tool(cluster.Manager{Name: name, Operation: operation, Subresource: w.Object.Subresource})
}
