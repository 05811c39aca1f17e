package manifest

import (
	"path"

	"gopkg.in/yaml.v3"
)

// edited is a file with one more change, not yet proven.
type edited struct {
	file    string
	line    int
	content []byte
	hint    string
	// through is what the value is reached through, if that is shared.
	through *yaml.Node
	anchor  string
}

// explain names the anchor when an edit moved what is tied to it.
func (e edited) explain(r *Refusal) *Refusal {
	if r.Class != TouchesOthers && r.Class != ProofFailed {
		return r
	}
	if e.through != nil {
		return refuse(SharedSource, "Give this place a copy of its own in the file, by hand.", "the value comes from the anchor in line %d, which others use: %s", resolve(e.through).Line, r.Why)
	}
	if e.anchor != "" {
		return refuse(SharedSource, "Give this place a value of its own in the file, by hand.", "the value is the anchor &%s, which others use: %s", e.anchor, r.Why)
	}
	return r
}

// suggestion is the edit as it is to be proven.
func (e edited) suggestion(at origin) suggestion {
	at.line = e.line
	return suggestion{origin: at, hint: e.hint, writes: []write{{e.file, e.content}}}
}

// edit makes the change in the bytes of the manifest at a node.
func (q *question) edit(t *text, root *yaml.Node) (edited, *Refusal) {
	if r := guardFile(q.found.file, t, root); r != nil {
		return edited{}, r
	}
	return t.edit(q.found.file, root, q.change, q.structure)
}

// edit makes a change at a node in the bytes of a file.
func (t *text) edit(file string, root *yaml.Node, c Change, structure bool) (edited, *Refusal) {
	e := edited{file: file, line: root.Line}
	at, refusal := locate(root, c.Path)
	if structure && path.Ext(file) != ".json" && isShape(c, refusal) {
		s, refusal := t.reshape(root, c)
		if refusal != nil {
			return e, refusal
		}
		e.line, e.content = t.lineAt(s.start), s.apply(t.content)
		return e, s.verify(t, e.content)
	}
	if refusal != nil {
		return e, refusal
	}
	s, target, newKey, refusal := t.splice(at, file, c)
	if refusal != nil {
		return e, refusal
	}
	e.line = t.lineAt(s.start)
	if at.value == nil {
		e.hint = "Git has not stated this value so far."
	} else {
		e.hint, e.anchor = t.robot(s.start), at.value.Anchor
	}
	e.content, e.through = s.apply(t.content), at.through
	return e, verify(t, e.content, target, newKey)
}

// splice decides between changing a value and adding one.
func (t *text) splice(at spot, file string, c Change) (s splice, target *yaml.Node, newKey string, r *Refusal) {
	in := setting{json: path.Ext(file) == ".json", flow: at.flow}
	if at.value == nil {
		in.flow = in.flow || at.parent.Style&yaml.FlowStyle != 0
		if in.flow && usesJSONKeys(at.parent) {
			in.json = true
		}
		s, r = t.spliceKey(at.parent, at.key, c.Live, in)
		return s, at.parent, at.key, r
	}
	if n := resolve(at.value); n.Kind != yaml.ScalarNode {
		return s, nil, "", refuse(Structure, byHand, "%s is a map or a list in Git, and a single value live", c.Path)
	}
	s, r = t.spliceScalar(at.value, c.Live, in)
	return s, at.value, "", r
}

// usesJSONKeys tells whether a mapping in brackets quotes its keys.
func usesJSONKeys(n *yaml.Node) bool {
	return len(n.Content) > 0 && n.Content[0].Style&yaml.DoubleQuotedStyle != 0
}
