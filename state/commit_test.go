package state

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// TestChangesShareWrites: those that come while one is being written go with
// the next, those that fail or panic spoil nothing, and each is told its own
// end.
func TestChangesShareWrites(t *testing.T) {
	db := fresh(t)
	const people = 60
	broken := errors.New("broken")
	first, began := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := db.commits.commit(func(*bolt.Tx) error { close(began); <-first; return nil }); err != nil {
			t.Error(err)
		}
	})
	<-began
	pages := func() int64 { s := db.bolt.Stats(); return s.TxStats.GetWrite() }
	before := pages()
	var panics atomic.Int32
	for i := range people {
		wg.Go(func() {
			defer func() {
				if recover() != nil {
					panics.Add(1)
				}
			}()
			err := db.commits.commit(func(tx *bolt.Tx) error {
				switch i {
				case 7:
					return broken
				case 8:
					panic("on purpose")
				}
				return messages.put(tx, MessageKey(fmt.Sprint(i)), Message{TS: "1"})
			})
			if want := map[int]error{7: broken}[i]; !errors.Is(err, want) {
				t.Errorf("change %d: %v, want %v", i, err, want)
			}
		})
	}
	for waiting := 0; waiting < people; runtime.Gosched() {
		db.commits.mu.Lock()
		waiting = len(db.commits.waiting)
		db.commits.mu.Unlock()
	}
	close(first)
	wg.Wait()
	if panics.Load() != 1 {
		t.Errorf("%d panics came up, want that of change 8", panics.Load())
	}
	for i := range people {
		_, err := db.Message(MessageKey(fmt.Sprint(i)))
		if failed := i == 7 || i == 8; errors.Is(err, ErrNotFound) != failed {
			t.Errorf("change %d: %v", i, err)
		}
	}
	if n := pages() - before; n > people {
		t.Errorf("%d pages were written for %d changes: they did not share", n, people)
	}
}

// TestWhatIsInNoHurry: it goes with what is, or after a moment alone, also
// where more wait than one write takes.
func TestWhatIsInNoHurry(t *testing.T) {
	db := fresh(t)
	put := func(key int) func(*bolt.Tx) error {
		return func(tx *bolt.Tx) error { return messages.put(tx, MessageKey(fmt.Sprint(key)), Message{TS: "1"}) }
	}
	if err := db.commits.patiently(put(0)); err != nil {
		t.Fatal(err)
	}
	const many = 2*maxShared + 50
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			if err := db.commits.patiently(put(1 + i)); err != nil {
				t.Error(err)
			}
		})
		if i%100 == 99 {
			wg.Go(func() {
				if err := db.commits.commit(put(-1 - i)); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	all, err := db.Messages("")
	if want := 1 + many + many/100; err != nil || len(all) != want {
		t.Errorf("%d of %d changes are on disk, %v", len(all), want, err)
	}
	db.commits.mu.Lock()
	defer db.commits.mu.Unlock()
	if len(db.commits.waiting) != 0 || db.commits.hurried != 0 || db.commits.writing {
		t.Errorf("after all is written: %d wait, %d of them in a hurry, writing %t", len(db.commits.waiting), db.commits.hurried, db.commits.writing)
	}
}
