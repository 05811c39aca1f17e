package manifest

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// rewrite changes a list that has no merge keys, such as a container's
// arguments: the items that differ go, and those that are live come, between
// the ones that are the same at both ends.
func (t *text) rewrite(root *yaml.Node, path Path, live []any) (shaped, *Refusal) {
	at, r := locate(root, path)
	no := refuse(Structure, "Edit "+path.String()+" by hand.", "%s is not written in lines of its own", path)
	switch {
	case r != nil:
		return shaped{}, r
	case at.value == nil:
		return shaped{}, missing(path)
	case at.through != nil || at.value.Kind == yaml.AliasNode:
		return shaped{}, refuse(SharedSource, byHand, "%s comes from an anchor that others use", path)
	case at.value.Kind != yaml.SequenceNode || len(at.value.Content) == 0 || len(live) == 0:
		return shaped{}, no
	}
	list := at.value
	first, last, lastLive := alike(list, live)
	if first == len(list.Content) && last == first && lastLive == len(live) && first == len(live) {
		return shaped{}, no
	}
	out := shaped{parent: list, gone: first, goneEnd: last, came: lastLive - first}
	var ok bool
	if at.flow || list.Style&yaml.FlowStyle != 0 {
		out.splice, ok = t.flowItems(list, first, last, live[first:lastLive])
	} else {
		out.splice, ok = t.blockItems(list, first, last, live[first:lastLive])
	}
	if !ok {
		return shaped{}, no
	}
	return out, nil
}

// alike tells which items differ: those from first to last of the nodes, to
// lastLive of the values. One item at least stays, to tell the indent from.
func alike(list *yaml.Node, live []any) (first, last, lastLive int) {
	same := func(n *yaml.Node, v any) bool {
		var have any
		return n.Decode(&have) == nil && exact(have, v)
	}
	last, lastLive = len(list.Content), len(live)
	for first < last && first < lastLive && same(list.Content[first], live[first]) {
		first++
	}
	for last > first && lastLive > first && same(list.Content[last-1], live[lastLive-1]) {
		last, lastLive = last-1, lastLive-1
	}
	return first, last, lastLive
}

// blockItems writes items on lines of their own in the place of others.
func (t *text) blockItems(list *yaml.Node, first, last int, live []any) (splice, bool) {
	before := max(first-1, 0)
	start, end, ok := t.linesOf(list, before)
	if !ok {
		return splice{}, false
	}
	line := t.lineOf(start)
	indent := len(line) - len(strings.TrimLeft(line, " "))
	if first > 0 {
		start = end
	} else {
		end = start
	}
	if last > first {
		if first > 0 {
			if start, _, ok = t.linesOf(list, first); !ok {
				return splice{}, false
			}
		}
		if _, end, ok = t.linesOf(list, last-1); !ok {
			return splice{}, false
		}
	}
	var lines []string
	for _, v := range live {
		more, ok := writeItem(v)
		if !ok {
			return splice{}, false
		}
		lines = append(lines, more...)
	}
	if len(lines) == 0 {
		return splice{start, end, ""}, true
	}
	s := t.newLines(start, indent, lines)
	s.end = end
	if end == len(t.content) && !strings.HasSuffix(string(t.content), "\n") && start < end {
		s.text = strings.TrimSuffix(s.text, t.lineEnding())
	}
	return s, true
}

// flowItems writes items within brackets in the place of others.
func (t *text) flowItems(list *yaml.Node, first, last int, live []any) (splice, bool) {
	json := false
	for _, n := range list.Content {
		if n.Kind != yaml.ScalarNode {
			return splice{}, false
		}
		json = json || n.Style&yaml.DoubleQuotedStyle != 0
	}
	var texts []string
	for _, v := range live {
		text, ok := encodeScalar(v, setting{flow: true, json: json})
		if !ok || !isScalar(v) {
			return splice{}, false
		}
		texts = append(texts, text)
	}
	written := strings.Join(texts, ", ")
	span := func(i int) (start, end int, ok bool) {
		n := list.Content[i]
		if start, ok = t.offset(n); !ok {
			return 0, 0, false
		}
		s, r := t.spliceScalar(n, "x", setting{flow: true})
		return start, s.end, r == nil
	}
	switch {
	case last > first && len(texts) > 0:
		start, _, ok := span(first)
		_, end, okEnd := span(last - 1)
		return splice{start, end, written}, ok && okEnd
	case last > first && last < len(list.Content):
		start, _, ok := span(first)
		end, _, okEnd := span(last)
		return splice{start, end, ""}, ok && okEnd
	case last > first && first > 0:
		_, start, ok := span(first - 1)
		_, end, okEnd := span(last - 1)
		return splice{start, end, ""}, ok && okEnd
	case first > 0:
		_, end, ok := span(first - 1)
		return splice{end, end, ", " + written}, ok
	default:
		start, _, ok := span(0)
		return splice{start, start, written + ", "}, ok
	}
}
