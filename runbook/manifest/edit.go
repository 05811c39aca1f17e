package manifest

import (
	"path"

	"gopkg.in/yaml.v3"
)

// edited is a file with one more change, not yet proven.
type edited struct {
	file    string
	content []byte
	// through is what the value is reached through, if that is shared.
	through *yaml.Node
	anchor  string
	// shape is set if more than one value changes.
	shape *shaped
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

// edit makes the change in the file's bytes. It fills in where the value is.
func (p *proposer) edit(v *Verdict, r Resource, content []byte) (edited, *Refusal) {
	t := parseText(content)
	root, err := nodeOf(t, r)
	if err != nil {
		return edited{}, refuse(Unreadable, byHand, "%s can't be edited: %v", v.File, err)
	}
	v.Line = root.Line
	if r := guardFile(v.File, t, root); r != nil {
		return edited{}, r
	}
	at, refusal := locate(root, v.Path)
	if p.req.Structure && path.Ext(v.File) != ".json" && isShape(v.Change, refusal) {
		s, refusal := t.reshape(root, v.Change)
		if refusal != nil {
			return edited{}, refusal
		}
		v.Line = t.lineAt(s.start)
		e := edited{file: v.File, content: s.apply(content), shape: &s}
		return e, s.verify(t, e.content)
	}
	if refusal != nil {
		return edited{}, refusal
	}
	s, target, newKey, refusal := t.splice(at, *v)
	if refusal != nil {
		return edited{}, refusal
	}
	v.Line = t.lineAt(s.start)
	if at.value == nil {
		v.Hint = "Git has not stated this value so far."
	} else if hint := t.robot(s.start); hint != "" {
		v.Hint = hint
	}
	e := edited{file: v.File, content: s.apply(content), through: at.through}
	if at.value != nil {
		e.anchor = at.value.Anchor
	}
	return e, verify(t, e.content, target, newKey)
}

// splice decides between changing a value and adding one.
func (t *text) splice(at place, v Verdict) (s splice, target *yaml.Node, newKey string, r *Refusal) {
	in := setting{json: path.Ext(v.File) == ".json", flow: at.flow}
	if at.value == nil {
		in.flow = in.flow || at.parent.Style&yaml.FlowStyle != 0
		if in.flow && usesJSONKeys(at.parent) {
			in.json = true
		}
		s, r = t.spliceKey(at.parent, at.key, v.Live, in)
		return s, at.parent, at.key, r
	}
	if n := resolve(at.value); n.Kind != yaml.ScalarNode {
		return s, nil, "", refuse(Structure, byHand, "%s is a map or a list in Git, and a single value live", v.Path)
	}
	s, r = t.spliceScalar(at.value, v.Live, in)
	return s, at.value, "", r
}

// usesJSONKeys tells whether a mapping in brackets quotes its keys.
func usesJSONKeys(n *yaml.Node) bool {
	return len(n.Content) > 0 && n.Content[0].Style&yaml.DoubleQuotedStyle != 0
}
