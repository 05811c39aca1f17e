package state

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
)

func TestARecordIsDueUntilItsTicketsShowIt(t *testing.T) {
	db := fresh(t)
	if _, err := db.OpenIncident(Incident{ID: "INC-1", Room: "C1", Ticket: "https://x.example.com/1"}); err != nil {
		t.Fatal(err)
	}
	r, _, err := db.Open(Reconciliation{ID: "r1", Incident: "INC-1", Target: "t"})
	if err != nil {
		t.Fatal(err)
	}
	due := func(want ...ReconciliationID) {
		t.Helper()
		if got, err := db.Unfiled(); err != nil || !slices.Equal(got, want) {
			t.Errorf("due are %v (%v), want %v", got, err, want)
		}
	}
	due("r1")
	moved, err := db.Change("r1", func(*Reconciliation, time.Time) ([]Said, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	// It moved while the older revision was on its way.
	if err := db.Filed("r1", r.Rev); err != nil {
		t.Fatal(err)
	}
	due("r1")
	for range 2 {
		if err := db.Filed("r1", moved.Rev); err != nil {
			t.Fatal(err)
		}
		due()
	}
}

func TestARecordWithoutATicketIsNeverDue(t *testing.T) {
	db := fresh(t)
	if _, err := db.OpenIncident(Incident{ID: "INC-1", Room: "C1"}); err != nil {
		t.Fatal(err)
	}
	for _, incident := range []IncidentID{"INC-1", "INC-2"} {
		if _, _, err := db.Open(Reconciliation{ID: "r" + ReconciliationID(incident), Incident: incident, Target: string(incident)}); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := db.Unfiled(); err != nil || len(list) != 0 {
		t.Errorf("due are %v, %v", list, err)
	}
}

func TestAFilingIsStoredWithWhatIsSaidOfIt(t *testing.T) {
	db := fresh(t)
	for _, id := range []ReconciliationID{"r1", "r12"} {
		if _, _, err := db.Open(Reconciliation{ID: id, Incident: "INC-1", Target: string(id)}); err != nil {
			t.Fatal(err)
		}
	}
	one := Filing{Reconciliation: "r1", System: "jira", Ticket: "https://x.example.com/browse/OPS-1", Comment: "7", Rev: 1}
	other := Filing{Reconciliation: "r12", System: "jira", Ticket: one.Ticket}
	if err := errors.Join(db.SaveFiling(one, Said{Notice: "ticketed", Kind: "ticketed"}), db.SaveFiling(other)); err != nil {
		t.Fatal(err)
	}
	if got, err := db.Filings("r1"); err != nil || len(got) != 1 || got[0] != one {
		t.Errorf("Filings = %+v, %v", got, err)
	}
	if list, err := db.Notices(); err != nil || len(list) != 1 || list[0].Kind != "ticketed" {
		t.Errorf("Notices = %+v, %v", list, err)
	}
	// The reconciliation has ended: that must not keep its record away.
	if _, err := db.Change("r1", func(r *Reconciliation, now time.Time) ([]Said, error) { r.Closed = now; return nil, nil }); err != nil {
		t.Fatal(err)
	}
	one.Final = true
	if err := db.SaveFiling(one); err != nil {
		t.Error(err)
	}
	if err := db.SaveFiling(Filing{Reconciliation: "r3"}); !errors.Is(err, ErrNotFound) {
		t.Errorf("a filing of nothing: %v", err)
	}
}

func TestAnotherTicketMakesTheRecordsDueAgain(t *testing.T) {
	db := fresh(t)
	in := Incident{ID: "INC-1", Room: "C1", Ticket: "https://x.example.com/1"}
	bind := func() {
		t.Helper()
		if _, err := db.OpenIncident(in); err != nil {
			t.Fatal(err)
		}
	}
	bind()
	r, _, err := db.Open(Reconciliation{ID: "r1", Incident: "INC-1", Target: "t"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, ticket string
		also         []string
		want         int
	}{
		{"the same", in.Ticket, nil, 0},
		{"another", "https://x.example.com/2", nil, 1},
		{"one more", "https://x.example.com/2", []string{"https://y.example.com/1"}, 1},
		{"the same two", "https://x.example.com/2", []string{"https://y.example.com/1"}, 0},
		{"none named", "", nil, 0},
		{"one fewer", "https://x.example.com/2", nil, 1},
	} {
		if err := db.Filed("r1", r.Rev); err != nil {
			t.Fatal(err)
		}
		in.Ticket, in.Also = c.ticket, c.also
		bind()
		if list, err := db.Unfiled(); err != nil || len(list) != c.want {
			t.Errorf("%s: due are %v (%v), want %d", c.name, list, err, c.want)
		}
	}
}

func TestAFileOfTheFirstSchemaIsLifted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	db, err := Open(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := db.Open(Reconciliation{ID: "r1", Incident: "INC-1", Target: "t"}); err != nil {
		t.Fatal(err)
	}
	err = db.bolt.Update(func(tx *bolt.Tx) error {
		return errors.Join(tx.DeleteBucket([]byte(unfiled.name)), tx.DeleteBucket([]byte(filings.name)), meta.put(tx, versionKey, 1))
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	lifted := openAt(t, path)
	if _, err := lifted.Reconciliation("r1"); err != nil {
		t.Error(err)
	}
	if _, err := lifted.OpenIncident(Incident{ID: "INC-1", Room: "C1", Ticket: "https://x.example.com/1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := lifted.Change("r1", func(*Reconciliation, time.Time) ([]Said, error) { return nil, nil }); err != nil {
		t.Error(err)
	}
	if list, err := lifted.Unfiled(); err != nil || len(list) != 1 {
		t.Errorf("Unfiled = %v, %v", list, err)
	}
}
