package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// text is a file with the nodes of its documents and where they stand.
type text struct {
	content []byte
	// lines are the offsets at which lines begin, as the parser counts them.
	lines []int
	docs  []*yaml.Node
	err   error
}

// parseText parses a file; what can't be parsed has err set.
func parseText(content []byte) *text {
	t := &text{content: content, lines: lineStarts(content)}
	var err error
	if t.docs, err = parseDocs(content); err != nil {
		t.err = tell(err)
	}
	return t
}

// parseDocs gives the roots of all documents that hold something.
func parseDocs(content []byte) (docs []*yaml.Node, err error) {
	// The parser is a translation from C and may panic on odd input.
	defer func() {
		if r := recover(); r != nil {
			docs, err = nil, fmt.Errorf("the parser gave up: %v", r)
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	for {
		var doc yaml.Node
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return nil, err
		}
		if len(doc.Content) == 1 && doc.Content[0].Tag != "!!null" {
			docs = append(docs, doc.Content[0])
		}
	}
}

// lineStarts counts lines as YAML 1.1 does: a lone carriage return and the
// separators of Unicode end a line, too.
func lineStarts(b []byte) []int {
	starts := []int{0}
	if bytes.HasPrefix(b, bom) {
		starts[0] = len(bom)
	}
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == '\n', b[i] == '\r' && (i+1 == len(b) || b[i+1] != '\n'):
			starts = append(starts, i+1)
		case bytes.HasPrefix(b[i:], []byte("\xc2\x85")):
			starts = append(starts, i+2)
		case bytes.HasPrefix(b[i:], []byte("\xe2\x80\xa8")), bytes.HasPrefix(b[i:], []byte("\xe2\x80\xa9")):
			starts = append(starts, i+3)
		}
	}
	return starts
}

// offset turns a node's line and column into a place in the content. The
// parser's columns count characters, not bytes.
func (t *text) offset(n *yaml.Node) (int, bool) {
	if n.Line < 1 || n.Line > len(t.lines) {
		return 0, false
	}
	at := t.lines[n.Line-1]
	for range n.Column - 1 {
		if at >= len(t.content) {
			return 0, false
		}
		_, size := utf8.DecodeRune(t.content[at:])
		at += size
	}
	return at, at <= len(t.content)
}

// nodeOf finds the node of a rendered object: the document with its number
// or, where the two readers count documents differently, the one further on
// that names the same object.
func nodeOf(t *text, r Resource) (*yaml.Node, error) {
	if t.err != nil {
		return nil, t.err
	}
	if r.doc < len(t.docs) {
		if n := itemOf(t.docs[r.doc], r.item); n != nil && names(n, r.Object()) {
			return n, nil
		}
	}
	var found *yaml.Node
	for _, doc := range t.docs {
		n := itemOf(doc, r.item)
		if n == nil || !names(n, r.Object()) {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("it holds %s twice", r.Object())
		}
		found = n
	}
	if found == nil {
		return nil, fmt.Errorf("%s can't be told from the text around it", r.Object())
	}
	return found, nil
}

func itemOf(doc *yaml.Node, item int) *yaml.Node {
	if item < 0 {
		return doc
	}
	items := resolve(child(resolve(doc), "items"))
	if items == nil || items.Kind != yaml.SequenceNode || item >= len(items.Content) {
		return nil
	}
	return items.Content[item]
}

// names tells whether a node is the manifest of an object.
func names(n *yaml.Node, o Object) bool {
	n = resolve(n)
	meta := resolve(child(n, "metadata"))
	return scalarIs(child(n, "kind"), o.Kind) && scalarIs(child(n, "apiVersion"), o.APIVersion) &&
		(o.Name == "" || scalarIs(child(meta, "name"), o.Name)) &&
		(o.Namespace == "" || scalarIs(child(meta, "namespace"), o.Namespace))
}

func scalarIs(n *yaml.Node, value string) bool {
	n = resolve(n)
	return n != nil && n.Kind == yaml.ScalarNode && n.Value == value
}

// resolve follows an alias to its anchor. It must not be used to walk whole
// trees: that is what alias bombs wait for.
func resolve(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// child is the value of a mapping's key, also of one merged in; nil if there
// is none.
func child(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	if i := keyIndex(n, key); i >= 0 {
		return n.Content[i+1]
	}
	for _, from := range merged(n) {
		if i := keyIndex(from, key); i >= 0 {
			return from.Content[i+1]
		}
	}
	return nil
}

// keyIndex is where a key stands in a mapping's content; -1 if it does not.
func keyIndex(n *yaml.Node, key string) int {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := resolve(n.Content[i]); k.Kind == yaml.ScalarNode && k.Value == key && k.Tag != "!!merge" {
			return i
		}
	}
	return -1
}

// merged gives the mappings that a mapping merges in with "<<", one level
// deep: deeper ones are for the renderer to find.
func merged(n *yaml.Node) (list []*yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Tag != "!!merge" {
			continue
		}
		from := resolve(n.Content[i+1])
		candidates := []*yaml.Node{from}
		if from.Kind == yaml.SequenceNode {
			candidates = from.Content
		}
		for _, c := range candidates {
			if c = resolve(c); c.Kind == yaml.MappingNode {
				list = append(list, c)
			}
		}
	}
	return list
}
