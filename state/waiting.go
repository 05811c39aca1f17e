package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"

	bolt "go.etcd.io/bbolt"
)

// Waiting reads what is still to be said, again and again, and decodes a
// record only when it is another than before: with hundreds of them waiting
// for their turn, decoding all for every change would take more time than
// everything else together. It is not safe for concurrent use.
type Waiting struct {
	db   *DB
	card func(ReconciliationID) MessageKey

	runs  lately[ReconciliationID, Reconciliation]
	said  lately[NoticeID, Notice]
	cards lately[MessageKey, Message]
}

// Waiting makes a reader of what is still to be said. card names the message
// in which a reconciliation stands.
func (db *DB) Waiting(card func(ReconciliationID) MessageKey) *Waiting {
	seed := maphash.MakeSeed()
	return &Waiting{
		db: db, card: card,
		runs:  lately[ReconciliationID, Reconciliation]{bucket: reconciliations, seed: seed},
		said:  lately[NoticeID, Notice]{bucket: notices, seed: seed},
		cards: lately[MessageKey, Message]{bucket: messages, seed: seed},
	}
}

// Due is what is to be said about one reconciliation. It is shared with later
// readings: nobody may change it.
type Due struct {
	Reconciliation Reconciliation
	// Card is where its card stands; zero while there is none.
	Card Message
	// Redraw tells whether the card shows an older revision.
	Redraw bool
	// Notice is the first of what is to be said in its thread; nil for none.
	Notice *Notice
}

// Read lists what is due. What belongs to a reconciliation that is not there
// is left out.
func (w *Waiting) Read() (list []Due, err error) {
	err = w.db.view(func(tx *bolt.Tx) error {
		list = nil
		at := map[ReconciliationID]int{}
		err := w.redraws(tx, &list, at)
		if err == nil {
			err = w.notices(tx, &list, at)
		}
		return err
	})
	w.runs.forget()
	w.said.forget()
	w.cards.forget()
	return list, err
}

func (w *Waiting) redraws(tx *bolt.Tx, list *[]Due, at map[ReconciliationID]int) error {
	c := redraws.in(tx).Cursor()
	for key, _ := c.First(); key != nil; key, _ = c.Next() {
		d, err := w.due(tx, ReconciliationID(key), list, at)
		if err != nil {
			return err
		}
		if d != nil {
			d.Redraw = true
		}
	}
	return nil
}

func (w *Waiting) notices(tx *bolt.Tx, list *[]Due, at map[ReconciliationID]int) error {
	c := notices.in(tx).Cursor()
	for key, raw := c.First(); key != nil; key, raw = c.Next() {
		n, err := w.said.decode(NoticeID(key), raw)
		if err != nil {
			return err
		}
		d, err := w.due(tx, n.Reconciliation, list, at)
		if err != nil {
			return err
		}
		if d != nil && d.Notice == nil {
			d.Notice = &n
		}
	}
	return nil
}

// due finds a reconciliation's place in the list; nil if there is no such
// reconciliation.
func (w *Waiting) due(tx *bolt.Tx, id ReconciliationID, list *[]Due, at map[ReconciliationID]int) (*Due, error) {
	if i, known := at[id]; known {
		return &(*list)[i], nil
	}
	r, err := w.runs.get(tx, id)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	shown, err := w.cards.get(tx, w.card(id))
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	at[id] = len(*list)
	*list = append(*list, Due{Reconciliation: r, Card: shown})
	return &(*list)[at[id]], nil
}

// lately holds what was decoded by the last reading, by the sum of what it was
// decoded from.
type lately[K ~string, V any] struct {
	bucket   bucket[K, V]
	seed     maphash.Seed
	was, now map[K]decoded[V]
}

type decoded[V any] struct {
	sum uint64
	v   V
}

func (l *lately[K, V]) get(tx *bolt.Tx, key K) (v V, err error) {
	raw := l.bucket.in(tx).Get([]byte(key))
	if raw == nil {
		return v, fmt.Errorf("%s/%s: %w", l.bucket.name, key, ErrNotFound)
	}
	return l.decode(key, raw)
}

func (l *lately[K, V]) decode(key K, raw []byte) (V, error) {
	d, ok := l.was[key]
	if sum := maphash.Bytes(l.seed, raw); !ok || d.sum != sum {
		d = decoded[V]{sum: sum}
		if err := json.Unmarshal(raw, &d.v); err != nil {
			return d.v, fmt.Errorf("decode %s/%s: %w", l.bucket.name, key, err)
		}
	}
	if l.now == nil {
		l.now = map[K]decoded[V]{}
	}
	l.now[key] = d
	return d.v, nil
}

// forget drops what the last reading did not ask for.
func (l *lately[K, V]) forget() { l.was, l.now = l.now, nil }
