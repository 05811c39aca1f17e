package manifest

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// supplier is a scalar that may supply a value.
type supplier struct {
	document
	n *yaml.Node
	// flow is true within brackets.
	flow  bool
	score int
}

// maxSuppliers bounds the scalars that are tried for one change.
const maxSuppliers = 12

// scalars edits a scalar that has the value as it is in Git now, wherever the
// path to it looks most alike. Which one supplies the value can't be told from
// looking: a patch by index says only a number. So they are tried.
func (s *search) scalars() (bool, error) {
	c := s.change
	if c.Op == Remove || !isScalar(c.Live) || c.Git != nil && !isScalar(c.Git) {
		return false, nil
	}
	now, _, found := lookup(s.object().Content, c.Path)
	if !found || !isScalar(now) {
		return false, nil
	}
	var list []supplier
	for _, d := range s.docs {
		f := finder{document: d, value: now, path: c.Path}
		if d.isOf(c.Object) && !d.isKustomization() {
			f.bonus = 2
		}
		switch {
		case d.isJSONPatch():
			f.operations()
		default:
			f.walk(d.root, nil, false)
		}
		list = append(list, f.found...)
	}
	slices.SortStableFunc(list, func(a, b supplier) int { return cmp.Compare(b.score, a.score) })
	for i, x := range list {
		if i == maxSuppliers {
			break
		}
		splice, r := x.t.spliceScalar(x.n, c.Live, setting{json: path.Ext(x.file) == ".json", flow: x.flow})
		var content []byte
		if r == nil {
			content = splice.apply(x.t.content)
			r = verify(x.t, content, x.n, "")
		}
		hint := ""
		if r == nil {
			hint = x.t.robot(splice.start)
		}
		if done, err := s.offer(x.document, x.line(x.n), x.layer, hint, content, r); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// finder looks for a value in a document.
type finder struct {
	document
	value any
	path  Path
	bonus int
	found []supplier
}

// walk looks below a node; at is the path to it, as text.
func (f *finder) walk(n *yaml.Node, at []string, flow bool) {
	flow = flow || n.Style&yaml.FlowStyle != 0
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			f.walk(n.Content[i+1], append(slices.Clip(at), n.Content[i].Value), flow)
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			f.walk(item, append(slices.Clip(at), strconv.Itoa(i)), flow)
		}
	case yaml.ScalarNode:
		if isValue(n, f.value) {
			f.found = append(f.found, supplier{f.document, n, flow, f.score(at)})
		}
	}
}

// operations looks in the values of JSON patch operations.
//
// Source: https://datatracker.ietf.org/doc/html/rfc6902
func (f *finder) operations() {
	for _, op := range f.root.Content {
		op = resolve(op)
		value, at := child(op, "value"), resolve(child(op, "path"))
		if value == nil || at == nil {
			continue
		}
		var steps []string
		for step := range strings.SplitSeq(strings.TrimPrefix(at.Value, "/"), "/") {
			steps = append(steps, strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
		}
		f.walk(value, steps, op.Style&yaml.FlowStyle != 0)
	}
}

// score counts how many steps from the end a path in a document shares with
// the path in the object. Positions in lists are taken for the same.
func (f *finder) score(at []string) int {
	n := 0
	for n < len(at) && n < len(f.path) {
		e, step := f.path[len(f.path)-1-n], at[len(at)-1-n]
		inList := e.Item != nil || e.Pos > 0
		if inList && !isDigits(step) && step != "-" || !inList && e.Key != step {
			break
		}
		n++
	}
	if n == len(f.path) && n == len(at) {
		return n + f.bonus + 1
	}
	return n + min(f.bonus, n)
}

// isValue tells whether a scalar reads as a value.
func isValue(n *yaml.Node, value any) bool {
	if text, ok := value.(string); ok {
		return n.Value == text && n.Tag != "!!null"
	}
	var v any
	return n.Decode(&v) == nil && exact(v, value)
}
