package manifest

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// spot is where a path ends in a document.
type spot struct {
	// value is the node to change, an alias unresolved; nil if the last key
	// of the path is not there, and then parent is the mapping that lacks it.
	value, parent *yaml.Node
	// key is the last key of the path, if it is one.
	key string
	// flow is true within brackets. through is the first alias or merged
	// mapping on the way: what is changed there is changed for all its users.
	flow    bool
	through *yaml.Node
}

// locate follows a path through the nodes of a document.
func locate(root *yaml.Node, path Path) (spot, *Refusal) {
	at := spot{value: root}
	for i, e := range path {
		n := resolve(at.value)
		if at.value.Kind == yaml.AliasNode && at.through == nil {
			at.through = at.value
		}
		at.flow = at.flow || n.Style&yaml.FlowStyle != 0
		var r *Refusal
		switch {
		case e.Item != nil || e.Pos > 0:
			at.parent, at.key = n, ""
			at.value, r = listItem(n, e, path[:i+1])
		default:
			at, r = mapValue(at, n, e.Key, path[:i+1])
		}
		if r != nil {
			return spot{}, r
		}
		if at.value == nil && i < len(path)-1 {
			return spot{}, missing(path[:i+1])
		}
	}
	return at, nil
}

func missing(path Path) *Refusal {
	return refuse(Structure, "Add "+path.String()+" by hand.", "Git has no %s yet, and only single values can be added so far", path)
}

func mapValue(at spot, n *yaml.Node, key string, path Path) (spot, *Refusal) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return at, missing(path[:len(path)-1])
	}
	if n.Kind != yaml.MappingNode {
		return at, refuse(Structure, byHand, "%s is no map in Git", path[:len(path)-1])
	}
	at.parent, at.key, at.value = n, key, nil
	i := keyIndex(n, key)
	if i < 0 {
		// A key that is merged in is not there to be changed: a key of the
		// mapping's own beats it.
		if at.value = mergedMap(n, key); at.value != nil && at.through == nil {
			at.through = at.value
		}
		return at, nil
	}
	for j := i + 2; j+1 < len(n.Content); j += 2 {
		if n.Content[j].Value == key && n.Content[j].Kind == yaml.ScalarNode {
			return at, refuse(Ambiguous, "Take one of them away first.", "%s is there twice, in lines %d and %d", path, n.Content[i].Line, n.Content[j].Line)
		}
	}
	at.value = n.Content[i+1]
	return at, nil
}

// mergedMap gives a merged key's value if more of the path may follow in it.
func mergedMap(n *yaml.Node, key string) *yaml.Node {
	v := resolve(child(n, key))
	if v == nil || v.Kind == yaml.ScalarNode {
		return nil
	}
	return v
}

func listItem(n *yaml.Node, e Elem, path Path) (*yaml.Node, *Refusal) {
	if n.Kind != yaml.SequenceNode {
		return nil, refuse(Structure, byHand, "%s is no list in Git", path[:len(path)-1])
	}
	if i, ok := e.Index(); ok {
		if i >= len(n.Content) {
			return nil, missing(path)
		}
		return n.Content[i], nil
	}
	var found *yaml.Node
	for _, item := range n.Content {
		if !matchesNode(item, e.Item) {
			continue
		}
		if found != nil {
			return nil, refuse(Ambiguous, "Make the items differ first.", "%s fits two items, in lines %d and %d", path, found.Line, item.Line)
		}
		found = item
	}
	if found == nil {
		return nil, missing(path)
	}
	return found, nil
}

// defaults are fields of merge keys that manifests leave out and the API
// server fills in.
//
// Source: k8s.io/kubernetes v1.31, pkg/apis/core/v1/defaults.go.
func defaultOf(field string) (string, bool) { return "TCP", field == "protocol" }

func matchesNode(item *yaml.Node, fields map[string]string) bool {
	item = resolve(item)
	for field, value := range fields {
		n := resolve(child(item, field))
		if field == "" {
			n = item
		}
		if n == nil {
			if d, ok := defaultOf(field); !ok || d != value {
				return false
			}
			continue
		}
		if n.Kind != yaml.ScalarNode || n.Value != value {
			return false
		}
	}
	return item.Kind == yaml.MappingNode || fields[""] != ""
}

// lookup follows a path through a decoded object, and gives the path in
// positions: what a merge key means in this object.
func lookup(v any, path Path) (value any, at Path, found bool) {
	for i, e := range path {
		switch x := v.(type) {
		case map[string]any:
			next, ok := x[e.Key]
			if !ok || e.Item != nil || e.Pos > 0 {
				if i == len(path)-1 && e.Item == nil && e.Pos == 0 {
					at = at.Child(e)
				}
				return nil, at, false
			}
			v, at = next, at.Child(e)
		case []any:
			j := itemIndex(x, e)
			if j < 0 {
				return nil, at, false
			}
			v, at = x[j], at.Child(At(j))
		default:
			return nil, at, false
		}
	}
	return v, at, true
}

func matchesValue(item any, fields map[string]string) bool {
	if fields == nil {
		return false
	}
	object, isMap := item.(map[string]any)
	for field, value := range fields {
		v, ok := object[field]
		if field == "" {
			v, ok = item, isScalar(item)
		}
		if !ok {
			v, ok = defaultOf(field)
		}
		if text, _ := encodeJSON(v); !ok || strings.Trim(text, `"`) != value && v != any(value) {
			return false
		}
	}
	return isMap || fields[""] != ""
}
