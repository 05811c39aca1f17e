package state

import (
	"bytes"
	"encoding/json"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// bucket is a top-level bucket whose keys are Ks and whose values are Vs,
// stored as JSON.
type bucket[K ~string, V any] struct{ name string }

func (b bucket[K, V]) in(tx *bolt.Tx) *bolt.Bucket { return tx.Bucket([]byte(b.name)) }

func (b bucket[K, V]) has(tx *bolt.Tx, key K) bool { return b.in(tx).Get([]byte(key)) != nil }

func (b bucket[K, V]) get(tx *bolt.Tx, key K) (V, error) {
	var v V
	raw := b.in(tx).Get([]byte(key))
	if raw == nil {
		return v, fmt.Errorf("%s/%s: %w", b.name, key, ErrNotFound)
	}
	// Decode here: raw points into the file and dies with tx.
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("decode %s/%s: %w", b.name, key, err)
	}
	return v, nil
}

func (b bucket[K, V]) put(tx *bolt.Tx, key K, v V) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s/%s: %w", b.name, key, err)
	}
	if err := b.in(tx).Put([]byte(key), raw); err != nil {
		return fmt.Errorf("write %s/%s: %w", b.name, key, err)
	}
	return nil
}

func (b bucket[K, V]) delete(tx *bolt.Tx, key K) error {
	if err := b.in(tx).Delete([]byte(key)); err != nil {
		return fmt.Errorf("delete %s/%s: %w", b.name, key, err)
	}
	return nil
}

// each visits the records whose keys begin with prefix, in the order of their
// keys, until visit answers false.
func (b bucket[K, V]) each(tx *bolt.Tx, prefix string, visit func(K, V) (more bool)) error {
	return b.those(tx, prefix, nil, visit)
}

// naming visits the records in which a text stands as a value. Decoding is
// what takes time, so the others are passed over undecoded; visit still has
// to look where in the record the text stands.
func (b bucket[K, V]) naming(tx *bolt.Tx, text string, visit func(K, V) (more bool)) error {
	part, err := json.Marshal(text)
	if err != nil {
		return fmt.Errorf("look for %q in %s: %w", text, b.name, err)
	}
	return b.those(tx, "", part, visit)
}

func (b bucket[K, V]) those(tx *bolt.Tx, prefix string, part []byte, visit func(K, V) (more bool)) error {
	c := b.in(tx).Cursor()
	for key, raw := c.Seek([]byte(prefix)); key != nil; key, raw = c.Next() {
		if len(key) < len(prefix) || string(key[:len(prefix)]) != prefix {
			return nil
		}
		if !bytes.Contains(raw, part) {
			continue
		}
		var v V
		if err := json.Unmarshal(raw, &v); err != nil {
			return fmt.Errorf("decode %s/%s: %w", b.name, key, err)
		}
		if !visit(K(key), v) {
			return nil
		}
	}
	return nil
}
