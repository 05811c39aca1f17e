package drift

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/manifest"
)

// unseen finds fields that were added to the live object and are not in Git.
// Argo CD's three-way comparison takes no notice of them: to it, a field that
// Git does not mention is none of Git's business. They are known by their
// owner, who is not a GitOps controller.
func (s *survey) unseen(o manifest.Object, m argocd.Managed, managers []cluster.Manager) []field {
	var out []field
	for _, manager := range managers {
		who := authorOf(manager.Name)
		if who == gitops || manager.Subresource == "status" {
			continue
		}
		manager.Fields.Leaves().Iterate(func(p fieldpath.Path) {
			f, ok := added(p, m)
			if !ok || covered(out, f.path) {
				return
			}
			if why := harmless(who, manager.Name, o, m, f); why != "" {
				s.once(why, o, f.path)
				return
			}
			out = append(out, f)
		})
	}
	slices.SortFunc(out, func(a, b field) int { return strings.Compare(a.path.String(), b.path.String()) })
	return out
}

// once counts noise, each path one time only: a field may have several owners.
func (s *survey) once(why string, o manifest.Object, path manifest.Path) {
	name := o.String() + " " + path.String()
	if slices.ContainsFunc(s.drift.Noise, func(n Noise) bool { return slices.Contains(n.Paths, name) }) {
		return
	}
	s.noise(why, o, path)
}

// added follows an owned field from the root to the first step that Git has
// not, which is what was added. ok is false where Git has it all.
func added(owned fieldpath.Path, m argocd.Managed) (f field, ok bool) {
	var path manifest.Path
	var live, git any = m.Live, m.Target
	for i, pe := range owned {
		e, item, found := translate(pe, live, path)
		if !found || i == 0 && (e.Key == "status" || e.Key == "apiVersion" || e.Key == "kind") {
			return field{}, false
		}
		path, live = path.Child(e), item
		if len(path) == 2 && path[0].Key == "metadata" && !slices.Contains(metadataFields[:], e.Key) {
			return field{}, false
		}
		next, has := gitStep(git, e, pe)
		if !has && isLabels(path) {
			// A whole map of labels is not added: each label is.
			next, has = map[string]any{}, true
		}
		if !has || next == nil {
			return field{path: path, op: manifest.Add, live: live}, live != nil && !empty(live) && e.Key != lastApplied
		}
		git = next
	}
	return field{}, false
}

// isLabels tells whether a path leads to labels or annotations, also those of
// a template.
func isLabels(path manifest.Path) bool {
	n := len(path)
	return n > 1 && path[n-2].Key == "metadata" && (path[n-1].Key == "labels" || path[n-1].Key == "annotations")
}

// empty tells whether a value says nothing, as securityContext: {} does.
func empty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// translate turns a step of an owned path into one of ours, and takes it in
// the live object.
func translate(pe fieldpath.PathElement, live any, path manifest.Path) (e manifest.Elem, item any, ok bool) {
	if pe.FieldName != nil {
		e = manifest.Key(*pe.FieldName)
		item, ok = step(live, e)
		return e, item, ok
	}
	list, _ := live.([]any)
	for i, item := range list {
		if !isItem(pe, item) && (pe.Index == nil || *pe.Index != i) {
			continue
		}
		if keys := mergeKeys(path, list, nil); keys != nil {
			return elem(keys, item), item, true
		}
		if pe.Value != nil {
			return manifest.Item("", fmt.Sprint(item)), item, true
		}
		return manifest.At(i), item, true
	}
	return e, nil, false
}

// gitStep takes the same step in Git's object. An item whose keys are partly
// defaulted, as a port's protocol, is found by the ones that Git has.
func gitStep(git any, e manifest.Elem, pe fieldpath.PathElement) (any, bool) {
	if next, ok := step(git, e); ok {
		return next, true
	}
	list, _ := git.([]any)
	if pe.Key == nil {
		return nil, false
	}
	for _, item := range list {
		m, ok := item.(map[string]any)
		for _, key := range *pe.Key {
			v, set := m[key.Name]
			if ok && set && fmt.Sprint(v) != fmt.Sprint(key.Value.Unstructured()) {
				ok = false
			}
		}
		if ok {
			return item, true
		}
	}
	return nil, false
}

// harmless says why an added field is nobody's change; "" if it may be.
func harmless(who author, manager string, o manifest.Object, m argocd.Managed, f field) string {
	last := f.path[len(f.path)-1].Key
	switch {
	case last == "kubectl.kubernetes.io/restartedAt":
		return "restarted by hand (kubectl rollout restart)"
	case isDefault(f.path, f.live):
		return "set to its default"
	case isAssigned(o, f.path):
		return "assigned by the cluster"
	case m.NormalizedLive != nil && !present(m.NormalizedLive, f.path):
		return "ignored by the Application's configuration"
	case who == controller || who == stranger:
		return "written by " + manager
	}
	return ""
}

func present(m map[string]any, path manifest.Path) bool { _, ok := at(m, path); return ok }

// defaults are what the API server fills in, by the field's name. Whoever
// creates an object owns its defaults, too.
// https://kubernetes.io/docs/reference/kubernetes-api/
var defaults = map[string][]any{
	"protocol": {"TCP"}, "terminationMessagePath": {"/dev/termination-log"}, "terminationMessagePolicy": {"File"},
	"imagePullPolicy": {"Always", "IfNotPresent"}, "restartPolicy": {"Always"}, "dnsPolicy": {"ClusterFirst"},
	"schedulerName": {"default-scheduler"}, "terminationGracePeriodSeconds": {30}, "revisionHistoryLimit": {10},
	"progressDeadlineSeconds": {600}, "maxSurge": {"25%"}, "maxUnavailable": {"25%"}, "defaultMode": {420},
	"sessionAffinity": {"None"}, "internalTrafficPolicy": {"Cluster"}, "externalTrafficPolicy": {"Cluster"},
	"ipFamilyPolicy": {"SingleStack"}, "podManagementPolicy": {"OrderedReady"}, "partition": {0}, "replicas": {1},
	"failureThreshold": {3}, "periodSeconds": {10}, "successThreshold": {1}, "timeoutSeconds": {1}, "scheme": {"HTTP"},
	"completionMode": {"NonIndexed"}, "backoffLimit": {6}, "parallelism": {1}, "completions": {1}, "suspend": {false},
	"concurrencyPolicy": {"Allow"}, "successfulJobsHistoryLimit": {3}, "failedJobsHistoryLimit": {1},
	"podReplacementPolicy": {"TerminatingOrFailed"}, "manualSelector": {false}, "volumeMode": {"Filesystem"},
	"pathType": {"ImplementationSpecific"}, "allocateLoadBalancerNodePorts": {true}, "divisor": {"0"},
	"enableServiceLinks": {true}, "whenDeleted": {"Retain"}, "whenScaled": {"Retain"}, "expirationSeconds": {3607, 3600},
}

// typed are defaults of fields whose name says too little, by their parent's.
var typed = map[string][]any{
	"strategy.type": {"RollingUpdate"}, "updateStrategy.type": {"RollingUpdate"}, "spec.type": {"ClusterIP"},
	"hostPath.type": {""}, "fieldRef.apiVersion": {"v1"},
}

// isDefault tells whether a value is one that the API server would have
// filled in, or an object of nothing else.
func isDefault(path manifest.Path, v any) bool {
	if m, ok := v.(map[string]any); ok {
		for key, value := range m {
			if !isDefault(path.Child(manifest.Key(key)), value) {
				return false
			}
		}
		return true
	}
	last := path[len(path)-1].Key
	candidates := defaults[last]
	if len(path) > 1 {
		candidates = append(slices.Clone(candidates), typed[path[len(path)-2].Key+"."+last]...)
	}
	return slices.ContainsFunc(candidates, func(d any) bool { return manifest.Same(d, v) })
}

// isAssigned tells whether the cluster gives the field its value.
func isAssigned(o manifest.Object, path manifest.Path) bool {
	text := path.String()
	switch o.Kind {
	case "Service":
		last := path[len(path)-1].Key
		return slices.Contains([]string{"clusterIP", "clusterIPs", "ipFamilies", "nodePort", "healthCheckNodePort", "targetPort"}, last)
	case "PersistentVolumeClaim":
		return text == "spec.volumeName" || text == "spec.storageClassName"
	case "Pod":
		return text == "spec.nodeName" || text == "spec.serviceAccount"
	}
	return strings.HasSuffix(text, ".template.metadata.creationTimestamp") || strings.HasSuffix(text, ".spec.serviceAccount")
}
