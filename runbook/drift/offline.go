package drift

import (
	"encoding/base64"
	"slices"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/manifest"
)

// Compare says what somebody changed in a live object, from nothing but the
// object as Git renders it and as the API server returns it: no controller is
// asked. It is the same judgement as a Survey's as far as the two objects
// carry it, and says neither who nor what will happen next.
//
// With managed fields, a field that Git has not counts if somebody other than
// a controller owns it. Without them, it counts unless it is a default or
// bookkeeping.
func Compare(o manifest.Object, git, live map[string]any) []Change {
	git, managers := foldSecret(o, git), cluster.Managers(live)
	s := &survey{drift: &Drift{}}
	pair := argocd.Managed{Target: git, Live: live}
	var out []Change
	add := func(f field) {
		c := Change{Object: o, Path: f.path, Op: f.op, Git: f.git, Live: f.live}
		hide(o, &c)
		out = append(out, c)
	}
	for _, f := range compare(git, live) {
		switch {
		case f.op == manifest.Remove && isZero(f.git):
			// The API server stores no value that says nothing.
		case f.op == manifest.Add && (len(managers) > 0 || isNothing(o, f)):
		case f.op == manifest.Set && isForeign(managers, live, f.path):
		default:
			add(f)
		}
	}
	for _, f := range s.unseen(o, pair, managers) {
		if !isNothing(o, f) {
			add(f)
		}
	}
	return out
}

// isForeign tells whether controllers own a field and no person does.
func isForeign(managers []cluster.Manager, live map[string]any, path manifest.Path) bool {
	mine := owners(managers, live, path)
	return len(mine) > 0 && !slices.ContainsFunc(mine, func(m cluster.Manager) bool {
		return authorOf(m.Name) == hand || authorOf(m.Name) == stranger
	})
}

// marks are labels and annotations by which tools know their objects.
var marks = map[string]bool{
	"argocd.argoproj.io/tracking-id": true, "argocd.argoproj.io/instance": true, "app.kubernetes.io/instance": true,
	"kustomize.toolkit.fluxcd.io/name": true, "kustomize.toolkit.fluxcd.io/namespace": true,
	"helm.toolkit.fluxcd.io/name": true, "helm.toolkit.fluxcd.io/namespace": true,
	"meta.helm.sh/release-name": true, "meta.helm.sh/release-namespace": true, "app.kubernetes.io/managed-by": true,
	"deployment.kubernetes.io/revision": true, "deprecated.daemonset.template.generation": true,
	"kubectl.kubernetes.io/restartedAt": true, lastApplied: true,
}

// isNothing tells whether a field that only the cluster has is nobody's
// change by what it is.
func isNothing(o manifest.Object, f field) bool {
	last := f.path[len(f.path)-1]
	return marks[last.Key] && len(f.path) > 2 || empty(f.live) || isDefault(f.path, f.live) || isAssigned(o, f.path)
}

// isZero tells whether a value is one that the API server leaves out.
func isZero(v any) bool {
	return empty(v) || v == nil || v == false || v == "" || manifest.Same(v, 0)
}

// foldSecret moves a Secret's stringData into its data, as the API server
// does.
func foldSecret(o manifest.Object, git map[string]any) map[string]any {
	plain := child(git, "stringData")
	if !isSecret(o) || plain == nil {
		return git
	}
	data, out := map[string]any{}, map[string]any{}
	for key, v := range child(git, "data") {
		data[key] = v
	}
	for key := range plain {
		data[key] = base64.StdEncoding.EncodeToString([]byte(text(plain, key)))
	}
	for key, v := range git {
		if key != "stringData" {
			out[key] = v
		}
	}
	out["data"] = data
	return out
}
