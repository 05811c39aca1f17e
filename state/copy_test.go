package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
)

func at() time.Time { return time.Date(2026, 3, 14, 14, 2, 0, 0, time.UTC) }

// written is a closed file with some entries in its journal.
func written(t *testing.T, entries int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	db, err := Open(path, at)
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		if err := db.Note(Entry{Kind: fmt.Sprintf("kind-%d", i), Data: json.RawMessage(`{"why":"<a> & b"}`)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestACopyIsRefusedWhereItCanNotBeTrusted(t *testing.T) {
	held := written(t, 1)
	db, err := Open(held, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	newer := written(t, 1)
	b, err := bolt.Open(newer, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.Update(func(tx *bolt.Tx) error { return meta.put(tx, versionKey, schemaVersion+1) }), b.Close()); err != nil {
		t.Fatal(err)
	}
	noise := filepath.Join(t.TempDir(), "noise")
	if err := os.WriteFile(noise, bytes.Repeat([]byte("noise"), 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.db")
	if b, err = bolt.Open(other, 0o600, nil); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{held: ErrHeld, newer: ErrNewer, noise: nil, other: nil, filepath.Join(t.TempDir(), "none"): nil} {
		c, err := OpenCopy(path)
		if err == nil {
			t.Errorf("%s was opened", path)
			_ = c.Close()
		}
		if want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
}

func TestABackupIsTheWhole(t *testing.T) {
	db, err := Open(written(t, 5), at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	to := filepath.Join(t.TempDir(), "backup.db")
	var out bytes.Buffer
	if err := errors.Join(db.Backup(&out), os.WriteFile(to, out.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	c, err := OpenCopy(to)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	var chain Chain
	if err := c.Journal(chain.Add); err != nil || chain.Count != 5 || chain.Last == "" {
		t.Errorf("%+v, %v", chain, err)
	}
	var again bytes.Buffer
	if err := c.Backup(&again); err != nil || again.Len() == 0 {
		t.Errorf("a copy of the copy: %d bytes, %v", again.Len(), err)
	}
	buckets, err := c.Buckets()
	if err != nil || len(buckets) != len(bucketNames) {
		t.Errorf("%+v, %v", buckets, err)
	}
}

// Whatever is done to an export is found, and where.
func TestAnAlteredExportIsFound(t *testing.T) {
	c, err := OpenCopy(written(t, 6))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	var lines [][]byte
	if err := c.Journal(func(e Entry) error {
		line, err := e.Line()
		lines = append(lines, line)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	sound := func(lines [][]byte) (int, error) {
		var chain Chain
		for _, line := range lines {
			if _, err := chain.AddLine(line); err != nil {
				return chain.Count, err
			}
		}
		return chain.Count, nil
	}
	if n, err := sound(lines); n != 6 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	swap := func(old, new string) func([][]byte) [][]byte {
		return func(l [][]byte) [][]byte { l[2] = bytes.Replace(l[2], []byte(old), []byte(new), 1); return l }
	}
	for name, alter := range map[string]func([][]byte) [][]byte{
		"a value":            swap("kind-2", "kind-9"),
		"a time":             swap("2026-03-14", "2026-03-13"),
		"its hash":           swap(`"hash":"`, `"hash":"0`),
		"a field more":       swap(`{"seq"`, `{"note":"x","seq"`),
		"the same key twice": swap(`{"seq"`, `{"kind":"kind-9","seq"`),
		"a space":            swap(`,"kind"`, `, "kind"`),
		"no JSON":            swap(`{`, ``),
		"one is missing":     func(l [][]byte) [][]byte { return append(l[:2:2], l[3:]...) },
		"two are swapped":    func(l [][]byte) [][]byte { l[2], l[3] = l[3], l[2]; return l },
		"one is twice":       func(l [][]byte) [][]byte { return append(l[:2:2], append([][]byte{l[1]}, l[2:]...)...) },
	} {
		t.Run(name, func(t *testing.T) {
			copied := make([][]byte, len(lines))
			for i, l := range lines {
				copied[i] = bytes.Clone(l)
			}
			if n, err := sound(alter(copied)); !errors.Is(err, ErrTampered) || n != 2 {
				t.Errorf("%d entries are sound, then %v", n, err)
			}
		})
	}
}

func FuzzAddLine(f *testing.F) {
	f.Add([]byte(`{"seq":1,"at":"2026-03-14T14:02:00Z","kind":"x","before":"","hash":""}`))
	f.Add([]byte(`{`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var c Chain
		if e, err := c.AddLine(line); err == nil {
			if again, err := e.Line(); err != nil || !bytes.Equal(again, bytes.TrimRight(line, "\r\n")) {
				t.Errorf("%q passes as %q", line, again)
			}
		}
	})
}
