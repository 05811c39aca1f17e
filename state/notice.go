package state

import (
	"errors"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"
)

type (
	// NoticeID orders notices as they were written.
	NoticeID string
	// MessageKey names a message by what it is for.
	MessageKey string
)

// Notice is something still to be said about a reconciliation. It is written
// with the change that it tells of, and sent afterwards: a change that was
// rolled back is never announced.
type Notice struct {
	ID             NoticeID         `json:"id"`
	Reconciliation ReconciliationID `json:"reconciliation"`
	// Rev is the reconciliation's revision that the notice tells of.
	Rev  uint64    `json:"rev"`
	Kind string    `json:"kind"`
	At   time.Time `json:"at"`
}

// Message is where something was said.
type Message struct {
	Room Room   `json:"room"`
	TS   string `json:"ts"`
	// URL leads people there; "" while it is not known.
	URL string `json:"url,omitempty"`
	// Rev is the revision that it shows.
	Rev uint64 `json:"rev"`
	// Tried is when posting it began, for a message whose TS is not known yet:
	// from then on it may have arrived without our knowing, and must be looked
	// for before it is posted again.
	Tried time.Time `json:"tried,omitzero"`
	// File is the id of what was put there, for a file.
	File string `json:"file,omitempty"`
}

func enqueue(tx *bolt.Tx, n Notice) error {
	seq, err := notices.in(tx).NextSequence()
	if err != nil {
		return fmt.Errorf("number a notice: %w", err)
	}
	n.ID = NoticeID(fmt.Sprintf("%016x", seq))
	return notices.put(tx, n.ID, n)
}

// Notices lists what is still to be said, in order.
func (db *DB) Notices() (list []Notice, err error) {
	err = db.view(func(tx *bolt.Tx) error {
		return notices.each(tx, "", func(_ NoticeID, n Notice) bool {
			list = append(list, n)
			return true
		})
	})
	return list, err
}

// NoticeSent drops a notice and remembers where it was said.
func (db *DB) NoticeSent(id NoticeID, key MessageKey, m Message) error {
	return db.patiently(func(tx *bolt.Tx, _ time.Time) error {
		if err := notices.delete(tx, id); err != nil {
			return err
		}
		return messages.put(tx, key, m)
	})
}

// DropNotice forgets a notice that can never be sent, such as one for a room
// that is gone.
func (db *DB) DropNotice(id NoticeID, why string) error {
	return db.update(func(tx *bolt.Tx, now time.Time) error {
		n, err := notices.get(tx, id)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		entry := Entry{At: now, Reconciliation: n.Reconciliation, Kind: "not-said", Data: encode(map[string]string{"notice": n.Kind, "why": why})}
		if err := note(tx, entry); err != nil {
			return err
		}
		return notices.delete(tx, id)
	})
}

// Redraws lists the reconciliations whose card shows an older revision.
func (db *DB) Redraws() (list []ReconciliationID, err error) {
	err = db.view(func(tx *bolt.Tx) error {
		return redraws.each(tx, "", func(id ReconciliationID, _ uint64) bool {
			list = append(list, id)
			return true
		})
	})
	return list, err
}

// Redrawn remembers where a card stands and which revision it shows. It stays
// due when the reconciliation has moved on in the meantime.
func (db *DB) Redrawn(id ReconciliationID, key MessageKey, m Message) error {
	return db.patiently(func(tx *bolt.Tx, _ time.Time) error {
		due, err := redraws.get(tx, id)
		if err == nil && due <= m.Rev {
			err = redraws.delete(tx, id)
		}
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		return messages.put(tx, key, m)
	})
}

// Redraw asks for a card to be drawn again, though nothing changed.
func (db *DB) Redraw(id ReconciliationID) error {
	return db.update(func(tx *bolt.Tx, _ time.Time) error {
		r, err := reconciliations.get(tx, id)
		if err != nil {
			return err
		}
		return redraws.put(tx, id, r.Rev)
	})
}

// Linked notes the address of what stands at ts. If it was replaced in the
// meantime, nothing is noted.
func (db *DB) Linked(key MessageKey, ts, url string) error {
	return db.update(func(tx *bolt.Tx, _ time.Time) error {
		m, err := messages.get(tx, key)
		if err != nil || m.TS != ts {
			return err
		}
		m.URL = url
		return messages.put(tx, key, m)
	})
}

// SaveMessage remembers where something stands, or that posting it begins.
func (db *DB) SaveMessage(key MessageKey, m Message) error {
	return db.quietly(func(tx *bolt.Tx, _ time.Time) error { return messages.put(tx, key, m) })
}

// Message finds where something was said.
func (db *DB) Message(key MessageKey) (m Message, err error) {
	err = db.view(func(tx *bolt.Tx) error {
		var err error
		m, err = messages.get(tx, key)
		return err
	})
	return m, err
}

// Messages lists what was said under names that begin with a prefix.
func (db *DB) Messages(prefix string) (list map[MessageKey]Message, err error) {
	list = map[MessageKey]Message{}
	err = db.view(func(tx *bolt.Tx) error {
		return messages.each(tx, prefix, func(key MessageKey, m Message) bool {
			list[key] = m
			return true
		})
	})
	return list, err
}

// ForgetMessage forgets what is not there any more.
func (db *DB) ForgetMessage(key MessageKey) error {
	return db.quietly(func(tx *bolt.Tx, _ time.Time) error { return messages.delete(tx, key) })
}

// MessageAt finds what a message is for by where it stands.
func (db *DB) MessageAt(room Room, ts string) (key MessageKey, err error) {
	err = db.view(func(tx *bolt.Tx) error {
		found := false
		err := messages.naming(tx, ts, func(k MessageKey, m Message) bool {
			if m.Room == room && m.TS == ts {
				key, found = k, true
			}
			return !found
		})
		if err == nil && !found {
			err = fmt.Errorf("message %s in %s: %w", ts, room, ErrNotFound)
		}
		return err
	})
	return key, err
}
