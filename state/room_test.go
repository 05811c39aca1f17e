package state

import (
	"errors"
	"testing"
)

func TestMoveRoom(t *testing.T) {
	db := fresh(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := db.OpenIncident(Incident{ID: "INC-1", Room: "G1"})
	must(err)
	_, err = db.OpenIncident(Incident{ID: "INC-2", Room: "C2"})
	must(err)
	for id, room := range map[ReconciliationID]Room{"r1": "G1", "r2": "C2"} {
		_, _, err = db.Open(Reconciliation{ID: id, Room: room, Target: string(id)})
		must(err)
		must(db.SaveMessage(MessageKey("card/"+id), Message{Room: room, TS: "1.1"}))
	}
	for again := range 2 {
		n, err := db.MoveRoom("G1", "C1")
		must(err)
		if want := []int{3, 0}[again]; n != want {
			t.Errorf("time %d: %d records moved, want %d", again, n, want)
		}
		if in, err := db.IncidentIn("C1"); err != nil || in.ID != "INC-1" || in.Room != "C1" {
			t.Errorf("in the new room: %+v %v", in, err)
		}
		if _, err := db.IncidentIn("G1"); !errors.Is(err, ErrNotFound) {
			t.Errorf("in the old room: %v", err)
		}
		r, err := db.Reconciliation("r1")
		if err != nil || r.Room != "C1" || r.Rev != 1 {
			t.Errorf("the reconciliation: %+v %v", r, err)
		}
		if key, err := db.MessageAt("C1", "1.1"); err != nil || key != "card/r1" {
			t.Errorf("the message: %s %v", key, err)
		}
	}
	if r, err := db.Reconciliation("r2"); err != nil || r.Room != "C2" {
		t.Errorf("another room's reconciliation: %+v %v", r, err)
	}
	// Somebody has bound the channel by its new name before.
	_, err = db.OpenIncident(Incident{ID: "INC-3", Room: "C3"})
	must(err)
	_, err = db.MoveRoom("C2", "C3")
	must(err)
	if in, err := db.IncidentIn("C3"); err != nil || in.ID != "INC-3" {
		t.Errorf("the room that had an incident: %+v %v", in, err)
	}
	if in, err := db.Incident("INC-2"); err != nil || in.Room != "C3" {
		t.Errorf("the incident that came: %+v %v", in, err)
	}
}
