package state

import (
	"encoding/json"
	"errors"
	"time"

	bolt "go.etcd.io/bbolt"
)

// DeliveryID names what a person did, once: it is made from what identifies
// the act itself (a trigger, a click's time), not from the envelope that
// brought it, so that the same act delivered twice has one id.
type DeliveryID string

// Delivery is something a person sent, as it arrived.
type Delivery struct {
	ID DeliveryID `json:"id"`
	// Mint is unique and made once: whatever handling this delivery creates
	// takes its id from here, so that handling it again creates nothing new.
	Mint     string          `json:"mint"`
	Kind     string          `json:"kind"`
	Payload  json.RawMessage `json:"payload"`
	Received time.Time       `json:"received"`
	// Tries counts how often handling began and never came to an end.
	Tries int `json:"tries"`
	// Answers is how often its response URL may have been used.
	Answers int       `json:"answers,omitempty"`
	Handled time.Time `json:"handled,omitzero"`
}

// Receive stores a delivery before it is acknowledged. fresh is false when
// the same act was stored before; the stored record is returned then.
func (db *DB) Receive(d Delivery) (stored Delivery, fresh bool, err error) {
	err = db.quietly(func(tx *bolt.Tx, now time.Time) error {
		before, err := deliveries.get(tx, d.ID)
		if err == nil {
			stored, fresh = before, false
			return nil
		}
		if !errors.Is(err, ErrNotFound) {
			return err
		}
		stored, fresh = d, true
		if stored.Received.IsZero() {
			stored.Received = now
		}
		if err := pending.put(tx, d.ID, pendingSince{now}); err != nil {
			return err
		}
		return deliveries.put(tx, d.ID, stored)
	})
	return stored, fresh, err
}

// Begin counts one more try at a delivery, and one more answer to it: the one
// that this try will most likely give, which then needs no write of its own.
func (db *DB) Begin(id DeliveryID) (d Delivery, err error) {
	err = db.quietly(func(tx *bolt.Tx, _ time.Time) error {
		var err error
		if d, err = deliveries.get(tx, id); err != nil {
			return err
		}
		d.Tries++
		d.Answers++
		return deliveries.put(tx, id, d)
	})
	return d, err
}

// Answered notes that so many answers to a delivery may have been given. One
// that is not stored was refused, and nobody will answer it again.
func (db *DB) Answered(id DeliveryID, answers int) error {
	return db.quietly(func(tx *bolt.Tx, _ time.Time) error {
		d, err := deliveries.get(tx, id)
		if errors.Is(err, ErrNotFound) || err == nil && d.Answers >= answers {
			return nil
		}
		if err != nil {
			return err
		}
		d.Answers = answers
		return deliveries.put(tx, id, d)
	})
}

// Postpone takes a try back: it came to an end, though not to a good one. Only
// tries that ended with the process are left to count. answers is how many
// were given by then.
func (db *DB) Postpone(id DeliveryID, answers int) error {
	return db.patiently(func(tx *bolt.Tx, _ time.Time) error {
		d, err := deliveries.get(tx, id)
		if err != nil {
			return err
		}
		d.Tries, d.Answers = max(d.Tries-1, 0), answers
		return deliveries.put(tx, id, d)
	})
}

// Handled notes that a delivery needs no more work.
func (db *DB) Handled(id DeliveryID) error {
	return db.patiently(func(tx *bolt.Tx, now time.Time) error {
		d, err := deliveries.get(tx, id)
		if err != nil {
			return err
		}
		d.Handled = now
		if err := pending.delete(tx, id); err != nil {
			return err
		}
		return deliveries.put(tx, id, d)
	})
}

// Unhandled lists the deliveries that still need work, oldest first.
func (db *DB) Unhandled() (list []Delivery, err error) {
	err = db.view(func(tx *bolt.Tx) error {
		return pending.each(tx, "", func(id DeliveryID, _ pendingSince) bool {
			var d Delivery
			if d, err = deliveries.get(tx, id); err == nil {
				list = append(list, d)
			}
			return err == nil
		})
	})
	sortBy(list, func(d Delivery) time.Time { return d.Received })
	return list, err
}

// ForgetDeliveries drops the deliveries handled before a time. Until then
// they are what keeps a repeated delivery from acting twice.
func (db *DB) ForgetDeliveries(before time.Time) (n int, err error) {
	err = db.patiently(func(tx *bolt.Tx, _ time.Time) error {
		var old []DeliveryID
		err := deliveries.each(tx, "", func(id DeliveryID, d Delivery) bool {
			if !d.Handled.IsZero() && d.Handled.Before(before) {
				old = append(old, id)
			}
			return true
		})
		if err != nil {
			return err
		}
		for _, id := range old {
			if err := deliveries.delete(tx, id); err != nil {
				return err
			}
		}
		n = len(old)
		return nil
	})
	return n, err
}
