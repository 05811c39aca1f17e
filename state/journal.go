package state

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"
)

// ErrTampered means that the journal is not what was written.
var ErrTampered = errors.New("the journal was altered")

// Entry is one act or fact, never changed once written. Each carries the hash
// of the one before, so that none can be altered, dropped or moved unnoticed.
type Entry struct {
	Seq            uint64           `json:"seq"`
	At             time.Time        `json:"at"`
	Incident       IncidentID       `json:"incident,omitempty"`
	Reconciliation ReconciliationID `json:"reconciliation,omitempty"`
	Kind           string           `json:"kind"`
	By             Person           `json:"by,omitzero"`
	Data           json.RawMessage  `json:"data,omitempty"`
	Before         string           `json:"before"`
	Hash           string           `json:"hash"`
}

func entryKey(seq uint64) string { return fmt.Sprintf("%016x", seq) }

// sum is the hash over everything in the entry but the hash itself.
func (e Entry) sum() (string, error) {
	e.Hash = ""
	raw, err := json.Marshal(e)
	if err != nil {
		return "", fmt.Errorf("encode journal entry %d: %w", e.Seq, err)
	}
	h := sha256.Sum256(raw)
	return hex.EncodeToString(h[:]), nil
}

// note appends an entry within the transaction of what it tells of.
func note(tx *bolt.Tx, e Entry) error {
	b := journal.in(tx)
	if key, _ := b.Cursor().Last(); key != nil {
		last, err := journal.get(tx, string(key))
		if err != nil {
			return err
		}
		e.Before = last.Hash
	}
	seq, err := b.NextSequence()
	if err != nil {
		return fmt.Errorf("number a journal entry: %w", err)
	}
	e.Seq = seq
	if e.Hash, err = e.sum(); err != nil {
		return err
	}
	return journal.put(tx, entryKey(seq), e)
}

// Note appends an entry that belongs to no change of a record.
func (db *DB) Note(e Entry) error {
	return db.quietly(func(tx *bolt.Tx, now time.Time) error {
		e.At = now
		return note(tx, e)
	})
}

// Journal lists the entries of one reconciliation, or, for an empty id, all.
func (db *DB) Journal(id ReconciliationID) (list []Entry, err error) {
	keep := func(_ string, e Entry) bool {
		if id == "" || e.Reconciliation == id {
			list = append(list, e)
		}
		return true
	}
	err = db.view(func(tx *bolt.Tx) error {
		if id == "" {
			return journal.each(tx, "", keep)
		}
		return journal.naming(tx, string(id), keep)
	})
	return list, err
}
