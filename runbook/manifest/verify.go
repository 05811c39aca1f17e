package manifest

import (
	"gopkg.in/yaml.v3"
)

// verify reads an edited file again and tells whether nothing but one node
// has changed: a value, or a mapping that got one key more.
//
// It compares nodes as they are written, aliases as aliases, so that no
// amount of them can make it slow.
func verify(before *text, edited []byte, target *yaml.Node, newKey string) *Refusal {
	after := parseText(edited)
	if after.err != nil {
		return refuse(ProofFailed, byHand, "the file can't be read any more after the edit")
	}
	same := len(after.docs) == len(before.docs)
	for i := 0; same && i < len(before.docs); i++ {
		same = sameNodes(before.docs[i], after.docs[i], target, newKey)
	}
	if !same {
		return refuse(ProofFailed, byHand, "the edit would change more in the file than the one value")
	}
	return nil
}

func sameNodes(a, b, target *yaml.Node, newKey string) bool {
	if a == target && newKey == "" {
		return b.Kind == yaml.ScalarNode
	}
	if a.Kind != b.Kind || a.Tag != b.Tag || a.Value != b.Value || a.Anchor != b.Anchor {
		return false
	}
	extra := len(b.Content) - len(a.Content)
	if a == target {
		if extra != 2 || b.Content[len(b.Content)-2].Value != newKey {
			return false
		}
	} else if extra != 0 {
		return false
	}
	for i := range a.Content {
		if !sameNodes(a.Content[i], b.Content[i], target, newKey) {
			return false
		}
	}
	return true
}
