package manifest

import (
	"slices"

	"gopkg.in/yaml.v3"
)

// verify reads the edited file again and tells whether only those nodes went
// or came.
func (s shaped) verify(before *text, edited []byte) *Refusal {
	after := parseText(edited)
	same := after.err == nil && len(after.docs) == len(before.docs)
	for i := 0; same && i < len(before.docs); i++ {
		same = s.same(before.docs[i], after.docs[i])
	}
	if !same {
		return refuse(ProofFailed, byHand, "the edit would change more in the file than what was asked for")
	}
	return nil
}

func (s shaped) same(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.Tag != b.Tag || a.Value != b.Value || a.Anchor != b.Anchor {
		return false
	}
	was, is := a.Content, b.Content
	if a == s.parent {
		was = slices.Concat(was[:s.gone], was[s.goneEnd:])
		if len(is) != len(was)+s.came {
			return false
		}
		is = is[:len(was)]
	}
	return slices.EqualFunc(was, is, s.same)
}

// expected is an object as it is to be rendered after the edit.
func (s shaped) expected(object map[string]any) (map[string]any, error) {
	out, _ := clone(object).(map[string]any)
	if s.came == 0 {
		return out, s.path.Remove(out)
	}
	return out, s.path.Set(out, s.value)
}

func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = clone(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = clone(item)
		}
		return out
	}
	return v
}

// expectShape tells which paths differ, after looking whether the object is
// exactly as it was with the change made.
func (p *proposer) expectShape(after []Resource, i int, s *shaped) ([]moved, *Refusal) {
	no := refuse(ProofFailed, byHand, "after the edit, rendering does not show the live state at %s", s.path)
	if i >= len(after) {
		return nil, no
	}
	want, err := s.expected(p.rendered[i].Content)
	if err != nil {
		return nil, no
	}
	compare(want, after[i].Content, nil, func(Path) { err = no })
	if err != nil {
		return nil, no
	}
	var all []moved
	for _, m := range differences(p.rendered, after) {
		if m.resource == i && m.path != "" {
			all = append(all, m)
		}
	}
	return all, nil
}
