package state

import (
	"time"

	bolt "go.etcd.io/bbolt"
)

// Limit remembers until when a service wants something left alone, named by
// whoever asks it. A restart must not be a way round that.
func (db *DB) Limit(name string, until time.Time) error {
	return db.patiently(func(tx *bolt.Tx, _ time.Time) error { return limits.put(tx, name, until.UTC()) })
}

// Limits lists what is to be left alone, and until when; it drops those that
// are over.
func (db *DB) Limits() (list map[string]time.Time, err error) {
	list = map[string]time.Time{}
	err = db.quietly(func(tx *bolt.Tx, now time.Time) error {
		var over []string
		err := limits.each(tx, "", func(name string, until time.Time) bool {
			if until.After(now) {
				list[name] = until
			} else {
				over = append(over, name)
			}
			return true
		})
		for _, name := range over {
			if err == nil {
				err = limits.delete(tx, name)
			}
		}
		return err
	})
	return list, err
}
