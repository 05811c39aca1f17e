package drift

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"reconcilebot/runbook/manifest"
)

// Between lists what differs between two renders of the same source, field by
// field: Git is the value before, Live the one after. An object that is in one
// of them alone is one change with an empty path. Evidence and outlook are
// left out: nobody touched a cluster.
func Between(before, after []map[string]any) []Change {
	was, is := named(before), named(after)
	var list []Change
	for _, o := range slices.Concat(before, after) {
		name := nameIn(o)
		old, inOld := was[name]
		now, inNew := is[name]
		if !inOld && !inNew {
			continue // dealt with already
		}
		delete(was, name)
		delete(is, name)
		switch {
		case !inOld:
			list = append(list, Change{Object: name, Op: manifest.Add, Live: now})
		case !inNew:
			list = append(list, Change{Object: name, Op: manifest.Remove, Git: old})
		default:
			for _, f := range compare(old, now) {
				list = append(list, Change{Object: name, Path: f.path, Op: f.op, Git: f.git, Live: f.live})
			}
		}
	}
	for i := range list {
		hide(list[i].Object, &list[i])
	}
	return list
}

func named(objects []map[string]any) map[manifest.Object]map[string]any {
	by := map[manifest.Object]map[string]any{}
	for _, o := range objects {
		by[nameIn(o)] = o
	}
	return by
}

func nameIn(object map[string]any) manifest.Object {
	u := unstructured.Unstructured{Object: object}
	return manifest.Object{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
}
