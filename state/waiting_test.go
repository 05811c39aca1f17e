package state

import (
	"testing"
	"time"
)

// TestWhatIsWaitingIsReadAsItIs: what was decoded before is another thing once
// it changed.
func TestWhatIsWaitingIsReadAsItIs(t *testing.T) {
	db := fresh(t)
	w := db.Waiting(func(id ReconciliationID) MessageKey { return MessageKey("card/" + id) })
	read := func() []Due {
		t.Helper()
		list, err := w.Read()
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	for _, id := range []ReconciliationID{"r-1", "r-2"} {
		if _, _, err := db.Open(Reconciliation{ID: id, Target: string(id), Room: "C1"}); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if list := read(); len(list) != 2 || !list[0].Redraw || list[0].Notice != nil || list[0].Card.TS != "" {
			t.Fatalf("%+v", list)
		}
	}
	if err := db.Redrawn("r-1", "card/r-1", Message{Room: "C1", TS: "7", Rev: 1}); err != nil {
		t.Fatal(err)
	}
	if list := read(); len(list) != 1 || list[0].Reconciliation.ID != "r-2" {
		t.Fatalf("%+v", list)
	}
	for range 2 {
		if _, err := db.Change("r-1", func(r *Reconciliation, _ time.Time) ([]Said, error) { return []Said{{Notice: "approved"}}, nil }); err != nil {
			t.Fatal(err)
		}
	}
	list := read()
	if len(list) != 2 || list[0].Reconciliation.Rev != 3 || list[0].Card.TS != "7" || list[0].Notice == nil || list[0].Notice.Rev != 2 {
		t.Fatalf("%+v", list)
	}
	if _, err := db.MoveRoom("C1", "C2"); err != nil {
		t.Fatal(err)
	}
	if list := read(); list[0].Reconciliation.Room != "C2" || list[0].Card.Room != "C2" {
		t.Fatalf("a room that moved is not seen: %+v", list[0])
	}
	if err := db.NoticeSent(list[0].Notice.ID, "n", Message{}); err != nil {
		t.Fatal(err)
	}
	if list := read(); list[0].Notice == nil || list[0].Notice.Rev != 3 {
		t.Fatalf("the next notice is not seen: %+v", list[0].Notice)
	}
}
