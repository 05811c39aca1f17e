package state

import (
	"encoding/json"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"
)

// Fact is something that was seen to be done to an object. What Data means is
// the business of whoever saw it.
type Fact struct {
	// Object is the object's identity; facts are found by it.
	Object string          `json:"object"`
	ID     string          `json:"id"`
	At     time.Time       `json:"at"`
	Data   json.RawMessage `json:"data"`
}

func (f Fact) key() string {
	return fmt.Sprintf("%s/%s/%s", f.Object, f.At.UTC().Format("20060102T150405.000000000"), f.ID)
}

// Learn stores facts. One that is known already is left as it is, so the same
// report may arrive any number of times.
func (db *DB) Learn(list []Fact) error {
	return db.quietly(func(tx *bolt.Tx, _ time.Time) error {
		for _, f := range list {
			if facts.has(tx, f.key()) {
				continue
			}
			if err := facts.put(tx, f.key(), f); err != nil {
				return err
			}
		}
		return nil
	})
}

// Facts lists what is known of an object, oldest first.
func (db *DB) Facts(object string) (list []Fact, err error) {
	err = db.view(func(tx *bolt.Tx) error {
		return facts.each(tx, object+"/", func(_ string, f Fact) bool {
			list = append(list, f)
			return true
		})
	})
	return list, err
}

// ForgetFacts drops the facts from before a time.
func (db *DB) ForgetFacts(before time.Time) (n int, err error) {
	err = db.patiently(func(tx *bolt.Tx, _ time.Time) error {
		var old []string
		err := facts.each(tx, "", func(key string, f Fact) bool {
			if f.At.Before(before) {
				old = append(old, key)
			}
			return true
		})
		if err != nil {
			return err
		}
		for _, key := range old {
			if err := facts.delete(tx, key); err != nil {
				return err
			}
		}
		n = len(old)
		return nil
	})
	return n, err
}
