package state

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// Errors that a caller decides by.
var (
	// ErrNotFound means that no record has that key.
	ErrNotFound = errors.New("not found")
	// ErrChanged means that the record moved since it was read.
	ErrChanged = errors.New("changed in the meantime")
	// ErrClosed means that the reconciliation has ended.
	ErrClosed = errors.New("closed already")
	// ErrDecided means that somebody decided before.
	ErrDecided = errors.New("decided already")
)

// timeUTC is a time that is always written in UTC.
type timeUTC = time.Time

// DB is the open file. It is safe for concurrent use.
type DB struct {
	path    string
	bolt    *bolt.DB
	commits *committer
	now     func() time.Time
	// changed gets a value, without blocking, whenever something is to be
	// said or redrawn.
	changed chan struct{}
	// toFile gets one likewise, for the tickets.
	toFile chan struct{}
}

// Open opens the file at path, creating it if it does not exist, and lifts it
// to this release's schema. A file from a newer release is refused with
// ErrNewer; a file that another process holds is refused after two seconds.
// now gives the time that records carry.
func Open(path string, now func() time.Time) (*DB, error) {
	b, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: 2 * time.Second})
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, held(path)
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("open state file %s: its folder %s does not exist; create it", path, filepath.Dir(path))
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum), errors.Is(err, berrors.ErrVersionMismatch):
		return nil, fmt.Errorf("open state file %s: %w: it is damaged or not a state file; put a backup in its place", path, err)
	case err != nil:
		return nil, fmt.Errorf("open state file %s: %w", path, err)
	}
	if err := b.Update(migrate); err != nil {
		return nil, errors.Join(fmt.Errorf("open state file %s: %w", path, err), b.Close())
	}
	// The name of the owner is for people alone: without it the lock still holds.
	_ = claim(path, now())
	return &DB{path: path, bolt: b, commits: &committer{bolt: b}, now: func() time.Time { return now().UTC() }, changed: make(chan struct{}, 1), toFile: make(chan struct{}, 1)}, nil
}

// Close waits for the transactions under way and closes the file.
func (db *DB) Close() error {
	_ = os.Remove(ownerPath(db.path)) // one that is left behind misleads nobody: the lock is free
	if err := db.bolt.Close(); err != nil {
		return fmt.Errorf("close state file: %w", err)
	}
	return nil
}

// Changed gets a value when something is to be said or redrawn: a hint to
// look at Notices and Redraws, never the only one.
func (db *DB) Changed() <-chan struct{} { return db.changed }

// Backup writes a consistent copy of the file to w while work goes on.
func (db *DB) Backup(w io.Writer) error {
	return db.bolt.View(func(tx *bolt.Tx) error {
		if _, err := tx.WriteTo(w); err != nil {
			return fmt.Errorf("copy state file: %w", err)
		}
		return nil
	})
}

// update is a writing transaction with one time for all that it writes, after
// which something may have to be said, redrawn or filed.
func (db *DB) update(work func(tx *bolt.Tx, now time.Time) error) error {
	err := db.quietly(work)
	if err == nil {
		for _, hint := range []chan struct{}{db.changed, db.toFile} {
			select {
			case hint <- struct{}{}:
			default:
			}
		}
	}
	return err
}

// quietly is one after which nothing more has to be said than before.
func (db *DB) quietly(work func(tx *bolt.Tx, now time.Time) error) error {
	return db.commits.commit(func(tx *bolt.Tx) error { return work(tx, db.now()) })
}

// patiently is a quiet one whose end nobody waits for: it may wait a moment for
// others to share a write with.
func (db *DB) patiently(work func(tx *bolt.Tx, now time.Time) error) error {
	return db.commits.patiently(func(tx *bolt.Tx) error { return work(tx, db.now()) })
}

func (db *DB) view(work func(tx *bolt.Tx) error) error { return db.bolt.View(work) }
