package book

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/fault"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// Wish is one field of one object that somebody wants to have a value.
type Wish struct {
	// Object is kind/name or kind/namespace/name, as it was typed.
	Object string `json:"object"`
	// Path is the field, as manifest.ParsePath reads it, Value its new value as
	// it was typed.
	Path  string `json:"path"`
	Value string `json:"value"`
}

// ParseWish reads path=value. The first = outside of brackets and quotes
// separates them; a value may hold more of them.
func ParseWish(object, text string) (Wish, error) {
	depth, quoted := 0, false
	for i, r := range text {
		switch {
		case r == '"':
			quoted = !quoted
		case quoted:
		case r == '[':
			depth++
		case r == ']':
			depth--
		case r == '=' && depth == 0:
			w := Wish{Object: object, Path: text[:i], Value: text[i+1:]}
			if _, err := manifest.ParsePath(w.Path); err != nil || w.Path == "" {
				return w, fault.New(fault.Invalid, fmt.Sprintf("%q is no path to a field. Write it like spec.replicas or spec.template.spec.containers[name=web].image.", w.Path))
			}
			return w, nil
		}
	}
	return Wish{}, fault.New(fault.Invalid, fmt.Sprintf("%q says no value. Write it like spec.replicas=6; put quotes around the whole if it holds spaces.", text))
}

// Wishes are the choice that a decision to change something carries.
func Wishes(list []Wish) json.RawMessage {
	raw, err := json.Marshal(list)
	if err != nil { // texts always encode
		return nil
	}
	return raw
}

// WishesIn reads them.
func WishesIn(d state.Decision) ([]Wish, error) {
	var list []Wish
	if err := json.Unmarshal(d.Choice, &list); err != nil {
		return nil, fmt.Errorf("read what is asked for: %w", err)
	}
	return list, nil
}

// shorthands are what people call kinds.
// https://kubernetes.io/docs/reference/kubectl/#resource-types
var shorthands = map[string]string{
	"deploy": "deployment", "sts": "statefulset", "ds": "daemonset", "cm": "configmap", "svc": "service",
	"ing": "ingress", "hpa": "horizontalpodautoscaler", "pdb": "poddisruptionbudget", "cj": "cronjob", "netpol": "networkpolicy",
}

// isKind tells whether somebody means a kind.
func isKind(typed, kind string) bool {
	typed, kind = strings.ToLower(typed), strings.ToLower(kind)
	return typed == kind || typed == kind+"s" || typed == kind+"es" || shorthands[typed] == kind || strings.TrimSuffix(kind, "y")+"ies" == typed
}

// IsObject tells whether somebody means an object by kind/name or
// kind/namespace/name.
func IsObject(typed string, o manifest.Object) bool {
	kind, name, _ := strings.Cut(typed, "/")
	return isKind(kind, o.Kind) && (name == o.Name || name == o.Namespace+"/"+o.Name)
}

// find is the object that somebody means among those of a target.
func find(typed string, all []argocd.Managed) (argocd.Managed, error) {
	kind, name, _ := strings.Cut(typed, "/")
	namespace, inNamespace, found := strings.Cut(name, "/")
	if found {
		name = inNamespace
	}
	var fits []argocd.Managed
	var near []string
	for _, m := range all {
		if m.Target == nil || m.Hook {
			continue
		}
		near = append(near, strings.ToLower(m.Kind)+"/"+m.Name)
		if m.Name == name && isKind(kind, m.Kind) && (!found || m.Namespace == namespace) {
			fits = append(fits, m)
		}
	}
	switch len(fits) {
	case 1:
		return fits[0], nil
	case 0:
		slices.Sort(near)
		return argocd.Managed{}, fault.New(fault.Refused, fmt.Sprintf("Git has no %s for this target. It has %s.", typed, orNothing(some(slices.Compact(near)))))
	}
	return argocd.Managed{}, fault.New(fault.Refused, fmt.Sprintf("%s fits %d objects of this target. Write kind/namespace/name.", typed, len(fits)))
}

func orNothing(list string) string {
	if list == "" {
		return "nothing that can be read"
	}
	return list
}

// resolve finds the field that somebody means, and the value that Git has
// there. replicas alone stands for spec.replicas; image alone for that of the
// only container.
func (w Wish) resolve(object map[string]any) (path manifest.Path, git any, has bool, err error) {
	if path, err = manifest.ParsePath(w.Path); err != nil {
		return nil, nil, false, fmt.Errorf("read the path %q: %w", w.Path, err)
	}
	candidates := []manifest.Path{path}
	if len(path) == 1 {
		candidates = append(candidates, append(manifest.Path{manifest.Key("spec")}, path...))
		if containers, ok := podContainers.Get(object); ok && w.Path == "image" {
			if list, _ := containers.([]any); len(list) == 1 {
				if c, _ := list[0].(map[string]any); c["name"] != nil {
					candidates = append(candidates, podContainers.Child(manifest.Item("name", fmt.Sprint(c["name"]))).Child(manifest.Key("image")))
				}
			}
		}
	}
	for _, p := range candidates {
		if git, has = p.Get(object); has {
			return p, git, true, nil
		}
	}
	return path, nil, false, nil
}

var podContainers = manifest.Path{manifest.Key("spec"), manifest.Key("template"), manifest.Key("spec"), manifest.Key("containers")}

// value reads what was typed as the kind of value that Git has there. Where
// Git has none, it is read as YAML reads it.
func (w Wish) value(git any, has bool) (any, error) {
	if _, isText := git.(string); isText {
		return w.Value, nil
	}
	var v any
	if err := yaml.Unmarshal([]byte(w.Value), &v); err != nil {
		return nil, fault.New(fault.Invalid, fmt.Sprintf("The value %q of %s can't be read.", w.Value, w.Path))
	}
	switch n := v.(type) {
	case nil, map[string]any, []any:
		return nil, fault.New(fault.Invalid, fmt.Sprintf("%s can be set to a single value only, such as %s=6.", w.Path, w.Path))
	case int:
		v = int64(n)
	case uint64:
		v = float64(n)
	}
	if has && sort(v) != sort(git) {
		return nil, fault.New(fault.Refused, fmt.Sprintf("%s is %s in Git (%s), and %q is %s. Give a value of the same kind.", w.Path, sort(git), inline(git), w.Value, sort(v)))
	}
	return v, nil
}

// sort is the kind of a value, for people.
func sort(v any) string {
	switch v.(type) {
	case bool:
		return "true or false"
	case int64, float64, int:
		return "a number"
	case string:
		return "a text"
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	}
	return "nothing"
}
