package state

import (
	"path/filepath"
	"testing"
	"time"
)

// TestAReviewOutlivesTheReconciliation: it is found until it is done, however
// the reconciliation ended, also after a restart.
func TestAReviewOutlivesTheReconciliation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	db := openAt(t, path)
	if _, _, err := db.Open(Reconciliation{ID: "r-1", Target: "a"}); err != nil {
		t.Fatal(err)
	}
	_, err := db.Change("r-1", func(r *Reconciliation, now time.Time) ([]Said, error) {
		r.Review, r.Closed = &Review{Since: now}, now
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	open := func(db *DB, want int) {
		t.Helper()
		if list, err := db.OpenReviews(); err != nil || len(list) != want {
			t.Errorf("%d reviews are open, %v, want %d", len(list), err, want)
		}
	}
	open(db, 1)
	if _, joined, err := db.Open(Reconciliation{ID: "r-2", Target: "a"}); err != nil || joined {
		t.Errorf("the target is held by what has ended: %v, %v", joined, err)
	}
	done, err := db.ChangeReview("r-1", func(r Reconciliation, now time.Time) (Review, []Said, error) {
		is := *r.Review
		is.Done, is.Finding = now, "fine"
		return is, []Said{{Notice: "reviewed"}}, nil
	})
	if err != nil || done.Review.Open() || !done.IsClosed() {
		t.Fatalf("%+v, %v", done, err)
	}
	open(db, 0)
	if holder, err := db.Holding("a"); err != nil || holder.ID != "r-2" {
		t.Errorf("the target's holder is %q, %v", holder.ID, err)
	}
	if list, err := db.Notices(); err != nil || len(list) != 1 {
		t.Errorf("%d notices, %v", len(list), err)
	}
}
