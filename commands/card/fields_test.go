package card

import (
	"encoding/json"
	"strings"
	"testing"

	"reconcilebot/runbook/book"
)

// The modal has a choice for each change, and offers no adoption that can't be
// proven.
func TestAskFields(t *testing.T) {
	s := severalHands()
	seen, _ := book.SeenIn(s.Run)
	seen.Places[1].Why = "the value is encrypted"
	raw, err := json.MarshalIndent(AskFields(s.Facts, seen), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "modal-fields.json", append(raw, '\n'))
	if n := strings.Count(string(raw), `"value": "adopt"`); n != 2 {
		t.Errorf("adoption is offered for %d of 3 changes, want 2", n)
	}
}

// https://docs.slack.dev/reference/views/modal-views: at most 100 blocks, and
// labels and hints within their bounds.
func TestAskFieldsOfMany(t *testing.T) {
	s := many()
	seen, _ := book.SeenIn(s.Run)
	long := strings.Repeat("long/", 400)
	for i := range seen.Drift.Changes {
		seen.Drift.Changes[i].Object.Name, seen.Drift.Changes[i].Live = long, long
	}
	m := AskFields(s.Facts, seen)
	if n := len(m.Blocks.BlockSet); n != MaxFields+2 {
		t.Errorf("%d blocks", n)
	}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), strings.Repeat("long/", 31)) {
		t.Error("a text is longer than 150 characters")
	}
}
