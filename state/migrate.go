package state

import (
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// ErrNewer is returned for a file that a newer release has written. An older
// release must not touch it: it would not know what it leaves out.
var ErrNewer = errors.New("the state file was written by a newer release")

// migrations[v] lifts a file from version v to v+1. The list only grows:
// files in the field have already run every released entry.
var migrations = []func(*bolt.Tx) error{
	0: createBuckets,
	1: createBuckets, // unfiled, filings and limits
	2: createBuckets, // reviews
}

func createBuckets(tx *bolt.Tx) error {
	for _, name := range bucketNames {
		if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
			return fmt.Errorf("create bucket %s: %w", name, err)
		}
	}
	return nil
}

func migrate(tx *bolt.Tx) error {
	have, err := version(tx)
	if err != nil {
		return err
	}
	if have > schemaVersion {
		return fmt.Errorf("schema %d, this release knows %d: %w", have, schemaVersion, ErrNewer)
	}
	for v := have; v < schemaVersion; v++ {
		if err := migrations[v](tx); err != nil {
			return fmt.Errorf("migrate schema %d to %d: %w", v, v+1, err)
		}
	}
	if have == schemaVersion {
		return nil
	}
	return meta.put(tx, versionKey, schemaVersion)
}

// version is 0 for a file that was never opened before.
func version(tx *bolt.Tx) (int, error) {
	if meta.in(tx) == nil {
		return 0, nil
	}
	v, err := meta.get(tx, versionKey)
	if errors.Is(err, ErrNotFound) {
		return 0, nil
	}
	return v, err
}
