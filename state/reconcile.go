package state

import (
	"errors"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"
)

// Open starts a reconciliation, or joins the one that already holds its
// lease, which is the target unless it says otherwise: two may not act on one
// target at a time. joined tells which.
func (db *DB) Open(r Reconciliation) (stored Reconciliation, joined bool, err error) {
	err = db.update(func(tx *bolt.Tx, now time.Time) error {
		if holder, err := leases.get(tx, r.lease()); err == nil {
			stored, err = reconciliations.get(tx, holder)
			// The same act again finds what it opened the first time.
			joined = stored.ID != r.ID
			return err
		}
		if before, err := reconciliations.get(tx, r.ID); err == nil {
			stored, joined = before, false
			return nil
		}
		stored, joined = r, false
		stored.Rev, stored.Opened = 1, now
		if err := leases.put(tx, r.lease(), r.ID); err != nil {
			return err
		}
		if err := open.put(tx, r.ID, r.Target); err != nil {
			return err
		}
		if err := redraws.put(tx, r.ID, stored.Rev); err != nil {
			return err
		}
		if err := toFile(tx, stored); err != nil {
			return err
		}
		entry := Entry{At: now, Incident: r.Incident, Reconciliation: r.ID, Kind: "opened", By: r.OpenedBy, Data: encode(map[string]string{"target": r.Target})}
		if err := note(tx, entry); err != nil {
			return err
		}
		return reconciliations.put(tx, r.ID, stored)
	})
	return stored, joined, err
}

// Said is something to be said in the reconciliation's thread, and an entry
// for the journal, both written with the change that they tell of.
type Said struct {
	// Notice is the kind of notice; empty says nothing.
	Notice string
	// Kind, By and Data make the journal entry; an empty Kind writes none.
	Kind string
	By   Person
	Data any
}

// Change reads a reconciliation, lets change edit it, and writes it back, all
// in one transaction, with what is to be said about it. change may be called
// more than once and must not call out. A closed reconciliation is ErrClosed.
// An error from change is returned as it is, and nothing is written.
func (db *DB) Change(id ReconciliationID, change func(r *Reconciliation, now time.Time) ([]Said, error)) (stored Reconciliation, err error) {
	err = db.update(func(tx *bolt.Tx, now time.Time) error {
		r, err := reconciliations.get(tx, id)
		if err != nil {
			return err
		}
		stored = r
		if r.IsClosed() {
			return fmt.Errorf("reconciliation %s: %w", id, ErrClosed)
		}
		said, err := change(&r, now)
		if err != nil {
			return err
		}
		r.Rev++
		stored = r
		return db.store(tx, r, said, now)
	})
	return stored, err
}

func (db *DB) store(tx *bolt.Tx, r Reconciliation, said []Said, now time.Time) error {
	if r.IsClosed() {
		if err := release(tx, r); err != nil {
			return err
		}
	}
	if err := redraws.put(tx, r.ID, r.Rev); err != nil {
		return err
	}
	if err := errors.Join(toFile(tx, r), r.remember(tx)); err != nil {
		return err
	}
	for _, s := range said {
		if err := s.write(tx, r, now); err != nil {
			return err
		}
	}
	return reconciliations.put(tx, r.ID, r)
}

func release(tx *bolt.Tx, r Reconciliation) error {
	if err := open.delete(tx, r.ID); err != nil {
		return err
	}
	holder, err := leases.get(tx, r.lease())
	if errors.Is(err, ErrNotFound) || err == nil && holder != r.ID {
		return nil
	}
	if err != nil {
		return err
	}
	return leases.delete(tx, r.lease())
}

func (s Said) write(tx *bolt.Tx, r Reconciliation, now time.Time) error {
	if s.Notice != "" {
		if err := enqueue(tx, Notice{Reconciliation: r.ID, Rev: r.Rev, Kind: s.Notice, At: now}); err != nil {
			return err
		}
	}
	if s.Kind == "" {
		return nil
	}
	return note(tx, Entry{At: now, Incident: r.Incident, Reconciliation: r.ID, Kind: s.Kind, By: s.By, Data: encode(s.Data)})
}

// Reconciliation finds one by its id.
func (db *DB) Reconciliation(id ReconciliationID) (r Reconciliation, err error) {
	err = db.view(func(tx *bolt.Tx) error {
		var err error
		r, err = reconciliations.get(tx, id)
		return err
	})
	return r, err
}

// Holding finds the open reconciliation that has a lease: a target's, or, with
// PauseLease of it, its pause.
func (db *DB) Holding(lease string) (r Reconciliation, err error) {
	err = db.view(func(tx *bolt.Tx) error {
		id, err := leases.get(tx, lease)
		if err != nil {
			return err
		}
		r, err = reconciliations.get(tx, id)
		return err
	})
	return r, err
}

// Unclosed lists the reconciliations that have not ended, oldest first.
func (db *DB) Unclosed() (list []Reconciliation, err error) {
	err = db.view(func(tx *bolt.Tx) error {
		var inner error
		err := open.each(tx, "", func(id ReconciliationID, _ string) bool {
			var r Reconciliation
			if r, inner = reconciliations.get(tx, id); inner == nil {
				list = append(list, r)
			}
			return inner == nil
		})
		return errors.Join(err, inner)
	})
	sortBy(list, func(r Reconciliation) time.Time { return r.Opened })
	return list, err
}

// OfIncident lists an incident's reconciliations, oldest first.
func (db *DB) OfIncident(id IncidentID) (list []Reconciliation, err error) {
	err = db.view(func(tx *bolt.Tx) error {
		return reconciliations.naming(tx, string(id), func(_ ReconciliationID, r Reconciliation) bool {
			if r.Incident == id {
				list = append(list, r)
			}
			return true
		})
	})
	sortBy(list, func(r Reconciliation) time.Time { return r.Opened })
	return list, err
}
