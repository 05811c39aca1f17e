package manifest

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// pair is a key with its value, where the order of keys counts.
type pair struct {
	key   string
	value any
}

// writePairs writes pairs as lines.
func writePairs(pairs []pair) (lines []string) {
	for _, p := range pairs {
		more, _ := writePair(p.key, p.value)
		lines = append(lines, more...)
	}
	return lines
}

// asItem puts a dash before lines.
func asItem(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		switch {
		case i == 0:
			out[i] = "- " + line
		case line == "":
		default:
			out[i] = "  " + line
		}
	}
	return out
}

// append adds an item to a list under a key of a kustomization, and the key
// if it is not there. It tells the line where the item is.
func (d document) append(key string, lines []string) ([]byte, int, *Refusal) {
	if keyTwice(d.root, key) {
		return nil, 0, refuse(Ambiguous, "Take one of them away first.", "%s has the key %s twice, and Kustomize drops one", d.file, key)
	}
	if d.root.Kind != yaml.MappingNode || d.root.Style&yaml.FlowStyle != 0 || len(d.root.Content) == 0 {
		return nil, 0, refuse(Structure, byHand, "%s is not written in lines of its own", d.file)
	}
	list := child(d.root, key)
	var s shaped
	var r *Refusal
	switch {
	case list == nil:
		s, r = d.newList(key, lines)
	case list.Kind == yaml.SequenceNode && len(list.Content) > 0 && list.Style&yaml.FlowStyle == 0:
		s, r = d.longerList(list, lines)
	case list.Kind == yaml.SequenceNode && len(list.Content) == 0 && list.Anchor == "":
		s, r = d.firstItem(list, lines)
	default:
		r = refuse(Structure, byHand, "%s of %s is not written in lines of its own", key, d.file)
	}
	if r != nil {
		return nil, 0, r
	}
	content := s.apply(d.t.content)
	return content, d.t.lineAt(s.start), s.verify(d.t, content)
}

func keyTwice(n *yaml.Node, key string) bool {
	found := 0
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			found++
		}
	}
	return found > 1
}

// newList adds a key with a list of one item behind the last key.
func (d document) newList(key string, lines []string) (shaped, *Refusal) {
	count := len(d.root.Content)
	_, end, ok := d.t.linesOf(d.root, count-2)
	if !ok {
		return shaped{}, refuse(Structure, byHand, "the end of %s can't be told", d.file)
	}
	out := shaped{parent: d.root, gone: count, goneEnd: count, came: 2}
	indent := d.root.Content[count-2].Column - 1
	all := []string{key + ":"}
	lead := strings.Repeat(" ", d.listIndent())
	for _, line := range asItem(lines) {
		all = append(all, strings.TrimRight(lead+line, " "))
	}
	out.splice = d.t.newLines(end, indent, all)
	return out, nil
}

// listIndent is how far the file indents its lists.
func (d document) listIndent() int {
	for i := 0; i+1 < len(d.root.Content); i += 2 {
		if list := d.root.Content[i+1]; list.Kind == yaml.SequenceNode && list.Style&yaml.FlowStyle == 0 && len(list.Content) > 0 {
			return max(0, list.Column-d.root.Content[i].Column)
		}
	}
	return 0
}

// longerList adds an item behind the last one.
func (d document) longerList(list *yaml.Node, lines []string) (shaped, *Refusal) {
	count := len(list.Content)
	start, end, ok := d.t.linesOf(list, count-1)
	if !ok {
		return shaped{}, refuse(Structure, byHand, "the end of the list in line %d can't be told", list.Line)
	}
	first := d.t.lineOf(start)
	indent := len(first) - len(strings.TrimLeft(first, " "))
	out := shaped{parent: list, gone: count, goneEnd: count, came: 1}
	out.splice = d.t.newLines(end, indent, asItem(lines))
	return out, nil
}

// firstItem turns an empty list in brackets into one with an item.
func (d document) firstItem(list *yaml.Node, lines []string) (shaped, *Refusal) {
	start, ok := d.t.offset(list)
	if !ok || !strings.HasPrefix(string(d.t.content[start:]), "[") {
		return shaped{}, refuse(Structure, byHand, "the list in line %d can't be found again", list.Line)
	}
	end := start + strings.IndexByte(string(d.t.content[start:]), ']') + 1
	if end <= start || strings.TrimSpace(string(d.t.content[start+1:end-1])) != "" {
		return shaped{}, refuse(Structure, byHand, "the end of the list in line %d can't be told", list.Line)
	}
	for start > 0 && d.t.content[start-1] == ' ' {
		start--
	}
	line := d.t.lineOf(start)
	lead := strings.Repeat(" ", len(line)-len(strings.TrimLeft(line, " "))+d.listIndent())
	eol := d.t.lineEnding()
	return shaped{
		splice: splice{start, end, eol + lead + strings.Join(asItem(lines), eol+lead)},
		parent: list, came: 1,
	}, nil
}
