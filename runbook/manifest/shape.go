package manifest

import (
	"bytes"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// shaped is an edit that adds or takes away whole keys or list items.
type shaped struct {
	splice
	// parent is the mapping or list that changes. Of its nodes, those from
	// gone to goneEnd go away, and came new ones take their place.
	parent        *yaml.Node
	gone, goneEnd int
	came          int
}

// isShape tells whether a change can only be made by adding or taking away
// more than a value.
func isShape(c Change, found *Refusal) bool {
	if _, ok := c.Live.([]any); ok && c.Op == Set {
		return true
	}
	return c.Op == Remove || c.Op == Add && (!isScalar(c.Live) || found != nil && found.Class == Structure)
}

// reshape finds the lines that go, or where new ones come and what they say.
func (t *text) reshape(root *yaml.Node, c Change) (shaped, *Refusal) {
	if list, ok := c.Live.([]any); ok && c.Op == Set {
		return t.rewrite(root, c.Path, list)
	}
	if c.Op == Remove {
		return t.cut(root, c.Path)
	}
	n := len(c.Path) - 1
	for ; n > 0; n-- {
		if at, r := locate(root, c.Path[:n]); r == nil && at.value != nil {
			break
		}
	}
	parent, r := owned(root, c.Path[:n])
	if r != nil {
		return shaped{}, r
	}
	value := c.Live
	for i := len(c.Path) - 1; i > n; i-- {
		if c.Path[i].Item != nil || c.Path[i].Pos > 0 {
			return shaped{}, missing(c.Path[:i])
		}
		value = map[string]any{c.Path[i].Key: value}
	}
	return t.grow(parent, c.Path[:n+1], value)
}

// owned is the mapping or list at a path, if it is written there in lines and
// nobody else uses it.
func owned(root *yaml.Node, path Path) (*yaml.Node, *Refusal) {
	at, r := locate(root, path)
	switch {
	case r != nil:
		return nil, r
	case at.value == nil:
		return nil, missing(path)
	case at.through != nil || at.value.Kind == yaml.AliasNode:
		return nil, refuse(SharedSource, byHand, "%s comes from an anchor that others use", path)
	case at.flow || at.value.Style&yaml.FlowStyle != 0 || at.value.Kind == yaml.ScalarNode || len(at.value.Content) == 0:
		return nil, refuse(Structure, byHand, "%s is not written in lines of its own", path)
	}
	return at.value, nil
}

// cut takes a key or a list item away.
func (t *text) cut(root *yaml.Node, path Path) (shaped, *Refusal) {
	parent, r := owned(root, path[:len(path)-1])
	if r != nil {
		return shaped{}, r
	}
	out := shaped{parent: parent}
	last, whole := path[len(path)-1], 1
	if parent.Kind == yaml.MappingNode {
		whole = 2
		out.gone = keyIndex(parent, last.Key)
	} else {
		item, r := listItem(parent, last, path)
		if r != nil {
			return shaped{}, r
		}
		out.gone = slices.Index(parent.Content, item)
	}
	out.goneEnd = out.gone + whole
	if out.gone < 0 || len(parent.Content) <= whole {
		return shaped{}, refuse(Structure, "Take "+path.String()+" out by hand.", "%s can't be taken away alone", path)
	}
	var ok bool
	if out.start, out.end, ok = t.linesOf(parent, out.gone); !ok {
		return shaped{}, refuse(Structure, "Take "+path.String()+" out by hand.", "%s does not stand on lines of its own", path)
	}
	return out, nil
}

// linesOf are the lines of a mapping's pair or a list's item.
func (t *text) linesOf(parent *yaml.Node, i int) (start, end int, ok bool) {
	at, ok := t.offset(parent.Content[i])
	if !ok {
		return 0, 0, false
	}
	start = t.lineStart(at)
	lead := string(t.content[start:at])
	indent, list := len(lead), false
	if parent.Kind == yaml.SequenceNode {
		dash := strings.TrimLeft(lead, " ")
		if !strings.HasPrefix(dash, "- ") || strings.TrimSpace(dash[1:]) != "" {
			return 0, 0, false
		}
		indent -= len(dash)
	} else {
		if strings.TrimSpace(lead) != "" {
			return 0, 0, false
		}
		value := parent.Content[i+1]
		list = value.Kind == yaml.SequenceNode
	}
	return start, t.pairEnd(at, indent, list), true
}

// grow adds a key or a list item behind the last one.
func (t *text) grow(parent *yaml.Node, path Path, value any) (shaped, *Refusal) {
	last, count := path[len(path)-1], len(parent.Content)
	out := shaped{parent: parent, gone: count, goneEnd: count, came: 1}
	before := count - 1
	if parent.Kind == yaml.MappingNode {
		out.came, before = 2, count-2
	} else if last.Item == nil {
		return shaped{}, refuse(Structure, byHand, "where %s belongs in the list can't be told", path)
	}
	start, end, ok := t.linesOf(parent, before)
	at, found := t.offset(parent.Content[before])
	if parent.Kind == yaml.MappingNode && found && !ok {
		// The only key of a list's item stands behind a dash.
		end, ok = t.pairEnd(at, parent.Content[before].Column-1, parent.Content[before+1].Kind == yaml.SequenceNode), true
	}
	if !ok || !found {
		return shaped{}, refuse(Structure, byHand, "the lines before %s can't be told", path)
	}
	indent := parent.Content[before].Column - 1
	var lines []string
	if parent.Kind == yaml.MappingNode {
		lines, ok = writePair(last.Key, value)
	} else {
		indent = len(t.content[start:at]) - len(bytes.TrimLeft(t.content[start:at], " "))
		lines, ok = writeItem(value)
	}
	if !ok {
		return shaped{}, refuse(Structure, byHand, "the live value of %s can't be written", path)
	}
	out.splice = t.newLines(end, indent, lines)
	return out, nil
}
