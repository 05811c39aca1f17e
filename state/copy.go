package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// ErrHeld means that a running bot holds the file.
var ErrHeld = errors.New("another process holds the state file")

// Copy is a state file that is read and never written: a backup, or the file
// of a bot that does not run. It is not lifted to this release's schema.
type Copy struct{ bolt *bolt.DB }

// OpenCopy opens a file for reading. One that a running bot holds is ErrHeld,
// one of a newer release ErrNewer.
func OpenCopy(path string) (*Copy, error) {
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return nil, errors.Join(fmt.Errorf("open state file %s: there is none", path), err)
	}
	b, err := bolt.Open(path, 0o400, &bolt.Options{ReadOnly: true, Timeout: time.Second})
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, fmt.Errorf("open state file %s: %w", path, ErrHeld)
	case err != nil:
		return nil, fmt.Errorf("open state file %s: %w: it is damaged or not a state file", path, err)
	}
	c := &Copy{b}
	v, err := c.Schema()
	if err == nil && v == 0 {
		err = errors.New("it is no state file of reconcilebot")
	}
	if err == nil && v > schemaVersion {
		err = fmt.Errorf("schema %d, this release knows %d: %w", v, schemaVersion, ErrNewer)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open state file %s: %w", path, err), b.Close())
	}
	return c, nil
}

// Backup copies the file once more.
func (c *Copy) Backup(w io.Writer) error { return (&DB{bolt: c.bolt}).Backup(w) }

// Close closes the file.
func (c *Copy) Close() error { return c.bolt.Close() }

// Schema is the version that the file has.
func (c *Copy) Schema() (v int, err error) {
	err = c.bolt.View(func(tx *bolt.Tx) error {
		v, err = version(tx)
		return err
	})
	return v, err
}

// Known is the schema that this release writes.
func Known() int { return schemaVersion }

// Bucket is how much is in one part of the file.
type Bucket struct {
	Name    string `json:"name"`
	Records int    `json:"records"`
	// Bytes is what the records take, keys and values.
	Bytes int `json:"bytes"`
}

// Buckets lists the parts of the file.
func (c *Copy) Buckets() (list []Bucket, err error) {
	err = c.bolt.View(func(tx *bolt.Tx) error {
		for _, name := range bucketNames {
			b := Bucket{Name: name}
			if in := tx.Bucket([]byte(name)); in != nil {
				cursor := in.Cursor()
				for k, v := cursor.First(); k != nil; k, v = cursor.Next() {
					b.Records++
					b.Bytes += len(k) + len(v)
				}
			}
			list = append(list, b)
		}
		return nil
	})
	return list, err
}

// Records visits the records of a bucket whose keys begin with prefix, until
// visit answers false. raw is valid during the visit.
func (c *Copy) Records(name, prefix string, visit func(key string, raw json.RawMessage) (more bool)) error {
	return c.bolt.View(func(tx *bolt.Tx) error {
		in := tx.Bucket([]byte(name))
		if in == nil {
			return fmt.Errorf("there is no bucket %q: %w", name, ErrNotFound)
		}
		cursor := in.Cursor()
		for k, v := cursor.Seek([]byte(prefix)); k != nil && len(k) >= len(prefix) && string(k[:len(prefix)]) == prefix; k, v = cursor.Next() {
			if !visit(string(k), v) {
				break
			}
		}
		return nil
	})
}

// Journal visits the journal's entries in their order.
func (c *Copy) Journal(visit func(Entry) error) error {
	return c.bolt.View(func(tx *bolt.Tx) error {
		var inner error
		err := journal.each(tx, "", func(_ string, e Entry) bool {
			inner = visit(e)
			return inner == nil
		})
		return errors.Join(err, inner)
	})
}

// Unclosed lists the reconciliations that have not ended, oldest first.
func (c *Copy) Unclosed() ([]Reconciliation, error) { return (&DB{bolt: c.bolt}).Unclosed() }
