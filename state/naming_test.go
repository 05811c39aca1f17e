package state

import (
	"slices"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// TestNaming: records are found by a text that stands in them as a value, with
// whatever has to be escaped, and not by a part of it.
func TestNaming(t *testing.T) {
	db := fresh(t)
	for key, ts := range map[MessageKey]string{"a": "1.5", "b": "11.5", "c": `"<&>`, "d": "1.5"} {
		if err := db.SaveMessage(key, Message{Room: "C", TS: ts}); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string][]MessageKey{"1.5": {"a", "d"}, "11.5": {"b"}, `"<&>`: {"c"}, "5": nil, "": nil} {
		var got []MessageKey
		if err := db.view(func(tx *bolt.Tx) error {
			return messages.naming(tx, text, func(k MessageKey, _ Message) bool { got = append(got, k); return true })
		}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
