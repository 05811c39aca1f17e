package state

import (
	"errors"
	"time"

	bolt "go.etcd.io/bbolt"
)

// MoveRoom gives a room another name, everywhere: the incident there, its
// reconciliations and what was said. Doing it again changes nothing. A room
// that goes by the new name already and has an incident of its own keeps it.
func (db *DB) MoveRoom(from, to Room) (moved int, err error) {
	if from == to || from == "" || to == "" {
		return 0, nil
	}
	err = db.update(func(tx *bolt.Tx, now time.Time) error {
		moved = 0
		if err := moveBinding(tx, from, to); err != nil {
			return err
		}
		n1, err1 := moveAll(tx, incidents, func(in *Incident) bool { return move(&in.Room, from, to) })
		n2, err2 := moveAll(tx, reconciliations, func(r *Reconciliation) bool { return move(&r.Room, from, to) })
		n3, err3 := moveAll(tx, messages, func(m *Message) bool { return move(&m.Room, from, to) })
		if moved = n1 + n2 + n3; moved == 0 {
			return errors.Join(err1, err2, err3)
		}
		return errors.Join(err1, err2, err3, note(tx, Entry{At: now, Kind: "room-moved", Data: encode(map[string]Room{"from": from, "to": to})}))
	})
	return moved, err
}

// moveBinding moves what says which incident is open in a room.
func moveBinding(tx *bolt.Tx, from, to Room) error {
	id, err := rooms.get(tx, from)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err == nil && !rooms.has(tx, to) {
		err = rooms.put(tx, to, id)
	}
	return errors.Join(err, rooms.delete(tx, from))
}

func move(room *Room, from, to Room) bool {
	if *room != from {
		return false
	}
	*room = to
	return true
}

// moveAll changes the records that change says it has changed. They are
// collected first: a bucket must not be written while it is walked.
func moveAll[K ~string, V any](tx *bolt.Tx, b bucket[K, V], change func(*V) bool) (int, error) {
	changed := map[K]V{}
	err := b.each(tx, "", func(key K, v V) bool {
		if change(&v) {
			changed[key] = v
		}
		return true
	})
	if err != nil {
		return 0, err
	}
	for key, v := range changed {
		if err := b.put(tx, key, v); err != nil {
			return 0, err
		}
	}
	return len(changed), nil
}
