package book

import (
	"fmt"
	"slices"
	"strings"

	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/manifest"
)

// onlyChanges checks two renders of the controller against each other: with
// the changes applied to the first, nothing may differ.
func onlyChanges(before, after []map[string]any, changes []drift.Change) error {
	want, got := byIdentity(before), byIdentity(after)
	for _, c := range changes {
		found := false
		for id, object := range want {
			if id.is(c.Object) {
				found = true
				if err := apply(object, c); err != nil {
					return err
				}
			}
		}
		if !found {
			return fmt.Errorf("%s %s/%s is not in the render", c.Object.Kind, c.Object.Namespace, c.Object.Name)
		}
	}
	for id, object := range want {
		other, ok := got[id]
		if !ok {
			return fmt.Errorf("%s is gone", id)
		}
		if !manifest.Same(object, other) {
			return fmt.Errorf("%s differs in more than what was decided", id)
		}
	}
	for id := range got {
		if _, ok := want[id]; !ok {
			return fmt.Errorf("%s is new", id)
		}
	}
	return nil
}

type identity struct{ group, kind, namespace, name string }

func (id identity) String() string {
	return strings.TrimSpace(id.kind + " " + strings.Trim(id.namespace+"/"+id.name, "/"))
}

// is compares with an object of the plan; a render may leave the namespace
// to the controller.
func (id identity) is(o manifest.Object) bool {
	return id.group == group(o.APIVersion) && id.kind == o.Kind && id.name == o.Name && (id.namespace == o.Namespace || id.namespace == "")
}

func group(apiVersion string) string {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		return ""
	}
	return group
}

func byIdentity(objects []map[string]any) map[identity]map[string]any {
	byID := map[identity]map[string]any{}
	for _, o := range objects {
		text := func(keys ...string) string {
			var at any = o
			for _, key := range keys {
				m, ok := at.(map[string]any)
				if !ok {
					return ""
				}
				at = m[key]
			}
			s, _ := at.(string)
			return s
		}
		byID[identity{group(text("apiVersion")), text("kind"), text("metadata", "namespace"), text("metadata", "name")}] = o
	}
	return byID
}

// apply sets or removes one field in a rendered object.
func apply(object map[string]any, c drift.Change) error {
	switch c.Op {
	case manifest.Remove:
		return c.Path.Remove(object)
	default:
		return c.Path.Set(object, c.Live)
	}
}

// sortedNames is for words: a fixed order, each once.
func sortedNames(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}
