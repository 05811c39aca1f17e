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
		is = slices.Concat(is[:s.gone], is[s.gone+s.came:])
	}
	return slices.EqualFunc(was, is, s.same)
}
