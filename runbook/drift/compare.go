package drift

import (
	"fmt"
	"maps"
	"slices"

	"reconcilebot/runbook/manifest"
)

// field is one difference between two objects.
type field struct {
	path      manifest.Path
	op        manifest.Op
	git, live any
}

// compare lists what differs between an object as Git has it and as it is,
// field by field, sorted by path. What only the API server writes is left out.
func compare(git, live map[string]any) []field {
	var out []field
	for _, key := range keysOf(git, live) {
		switch key {
		case "status", "apiVersion", "kind":
		case "metadata":
			out = append(out, metadata(child(git, key), child(live, key))...)
		default:
			out = append(out, values(manifest.Path{manifest.Key(key)}, git[key], live[key], has(git, key), has(live, key))...)
		}
	}
	return out
}

// metadataFields are the parts of metadata that people write.
var metadataFields = [...]string{"annotations", "finalizers", "labels"}

// lastApplied is where client-side apply keeps a copy of what was applied.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

func metadata(git, live map[string]any) []field {
	var out []field
	for _, key := range metadataFields {
		path := manifest.Path{manifest.Key("metadata"), manifest.Key(key)}
		if key == "finalizers" {
			out = append(out, values(path, git[key], live[key], has(git, key), has(live, key))...)
			continue
		}
		// An empty map and none mean the same, so labels are compared one
		// by one even if a side has none at all.
		g, l := child(git, key), child(live, key)
		for _, name := range keysOf(g, l) {
			if name == lastApplied {
				continue
			}
			out = append(out, values(path.Child(manifest.Key(name)), g[name], l[name], has(g, name), has(l, name))...)
		}
	}
	return out
}

// values compares what two sides have at a path.
func values(path manifest.Path, git, live any, inGit, inLive bool) []field {
	inGit, inLive = inGit && git != nil, inLive && live != nil
	switch {
	case !inGit && !inLive:
		return nil
	case !inGit:
		return []field{{path: path, op: manifest.Add, live: live}}
	case !inLive:
		return []field{{path: path, op: manifest.Remove, git: git}}
	}
	if g, ok := git.(map[string]any); ok {
		if l, ok := live.(map[string]any); ok {
			return mappings(path, g, l)
		}
	}
	if g, ok := git.([]any); ok {
		if l, ok := live.([]any); ok {
			return lists(path, g, l)
		}
	}
	if manifest.SameAt(path, git, live) {
		return nil
	}
	return []field{{path, manifest.Set, git, live}}
}

func mappings(path manifest.Path, git, live map[string]any) []field {
	var out []field
	for _, key := range keysOf(git, live) {
		out = append(out, values(path.Child(manifest.Key(key)), git[key], live[key], has(git, key), has(live, key))...)
	}
	return out
}

// lists compares lists item by item where items can be told apart, and as
// wholes otherwise.
func lists(path manifest.Path, git, live []any) []field {
	if manifest.SameAt(path, git, live) {
		return nil
	}
	if keys := mergeKeys(path, git, live); keys != nil {
		out := keyed(path, keys, git, live)
		if len(out) > 0 || isMergeList(path) {
			return out
		}
		// The same items in another order, where order may matter.
		return []field{{path, manifest.Set, git, live}}
	}
	if len(git) != len(live) {
		return []field{{path, manifest.Set, git, live}}
	}
	var out []field
	for i := range git {
		out = append(out, values(path.Child(manifest.At(i)), git[i], live[i], true, true)...)
	}
	return out
}

func keyed(path manifest.Path, keys []string, git, live []any) []field {
	var out []field
	for _, item := range git {
		other, found := match(keys, item, live)
		out = append(out, values(path.Child(elem(keys, item)), item, other, true, found)...)
	}
	for _, item := range live {
		if _, found := match(keys, item, git); !found {
			out = append(out, values(path.Child(elem(keys, item)), nil, item, false, true)...)
		}
	}
	return out
}

// merging are the merge keys of the built-in kinds' lists, by the list's
// name; of several, the first that tells all items apart.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy
var merging = map[string][][]string{
	"containers": {{"name"}}, "initContainers": {{"name"}}, "ephemeralContainers": {{"name"}},
	"env": {{"name"}}, "volumes": {{"name"}}, "volumeMounts": {{"mountPath"}}, "volumeDevices": {{"devicePath"}},
	"ports":            {{"containerPort"}, {"port"}, {"containerPort", "protocol"}, {"port", "protocol"}},
	"imagePullSecrets": {{"name"}}, "secrets": {{"name"}}, "hostAliases": {{"ip"}}, "webhooks": {{"name"}},
	"topologySpreadConstraints": {{"topologyKey"}, {"topologyKey", "whenUnsatisfiable"}},
	"resourceClaims":            {{"name"}}, "schedulingGates": {{"name"}},
}

func isMergeList(path manifest.Path) bool {
	return len(path) > 0 && merging[path[len(path)-1].Key] != nil
}

// mergeKeys finds the fields that tell the items of both lists apart; nil if
// there are none. Lists that are not known, as in custom resources, are keyed
// by name where all items have one.
func mergeKeys(path manifest.Path, git, live []any) []string {
	candidates := [][]string{{"name"}}
	if isMergeList(path) {
		candidates = merging[path[len(path)-1].Key]
	}
	for _, keys := range candidates {
		if distinct(keys, git) && distinct(keys, live) {
			return keys
		}
	}
	return nil
}

// distinct tells whether every item has all keys, as scalars, and no two
// items have the same ones.
func distinct(keys []string, items []any) bool {
	seen := map[string]bool{}
	for _, item := range items {
		m, ok := item.(map[string]any)
		if !ok {
			return false
		}
		for _, key := range keys {
			switch m[key].(type) {
			case nil, map[string]any, []any:
				return false
			}
		}
		text := manifest.Path{elem(keys, item)}.String()
		if seen[text] {
			return false
		}
		seen[text] = true
	}
	return true
}

func elem(keys []string, item any) manifest.Elem {
	m, _ := item.(map[string]any)
	e := manifest.Elem{Item: map[string]string{}}
	for _, key := range keys {
		e.Item[key] = fmt.Sprint(m[key])
	}
	return e
}

func match(keys []string, item any, in []any) (any, bool) {
	want := elem(keys, item)
	for _, other := range in {
		if elem(keys, other).Equal(want) {
			return other, true
		}
	}
	return nil, false
}

// step follows one element of a path.
func step(v any, e manifest.Elem) (any, bool) {
	if i, ok := e.Index(); ok {
		l, _ := v.([]any)
		if i >= len(l) {
			return nil, false
		}
		return l[i], true
	}
	if e.Item == nil {
		m, _ := v.(map[string]any)
		out, ok := m[e.Key]
		return out, ok
	}
	l, _ := v.([]any)
	for _, item := range l {
		if fits(item, e.Item) {
			return item, true
		}
	}
	return nil, false
}

// fits tells whether a list item is the one that is named; the empty field
// name stands for the item itself.
func fits(item any, want map[string]string) bool {
	m, _ := item.(map[string]any)
	for key, value := range want {
		if key == "" {
			if fmt.Sprint(item) != value {
				return false
			}
			continue
		}
		if v, ok := m[key]; !ok || fmt.Sprint(v) != value {
			return false
		}
	}
	return true
}

// at follows a path to its end.
func at(v any, path manifest.Path) (any, bool) {
	ok := true
	for _, e := range path {
		if v, ok = step(v, e); !ok {
			return nil, false
		}
	}
	return v, true
}

func keysOf(a, b map[string]any) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}

func child(m map[string]any, key string) map[string]any {
	c, _ := m[key].(map[string]any)
	return c
}

func has(m map[string]any, key string) bool { _, ok := m[key]; return ok }

// text is the string at a path of map keys; "" if there is none.
func text(m map[string]any, keys ...string) string {
	var v any = m
	for _, key := range keys {
		in, _ := v.(map[string]any)
		v = in[key]
	}
	s, _ := v.(string)
	return s
}
