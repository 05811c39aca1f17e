package state

import (
	"errors"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"
)

// Review is somebody else's look, afterwards, at what went on without the
// approval that is asked for. It is open until somebody has done it, however
// the reconciliation ended.
type Review struct {
	// Since is when it was asked for, Asked when people were reminded last.
	Since time.Time `json:"since"`
	Asked time.Time `json:"asked,omitzero"`
	// Done is when By did it, and Finding what they found.
	Done    time.Time `json:"done,omitzero"`
	By      Person    `json:"by,omitzero"`
	Finding string    `json:"finding,omitempty"`
	// Delivery is the act that did it, so that the same act does it once.
	Delivery DeliveryID `json:"delivery,omitempty"`
}

// Open tells whether the review is still to be done. There is none of what was
// not overridden.
func (r *Review) Open() bool { return r != nil && r.Done.IsZero() }

// ChangeReview reads a reconciliation, open or closed, lets change answer with
// its review as it is from now on, and writes that back, all in one
// transaction, with what is to be said about it. An error from change is
// returned as it is, and nothing is written.
func (db *DB) ChangeReview(id ReconciliationID, change func(r Reconciliation, now time.Time) (Review, []Said, error)) (stored Reconciliation, err error) {
	err = db.update(func(tx *bolt.Tx, now time.Time) error {
		r, err := reconciliations.get(tx, id)
		if err != nil {
			return err
		}
		stored = r
		review, said, err := change(r, now)
		if err != nil {
			return err
		}
		r.Review = &review
		r.Rev++
		stored = r
		return db.store(tx, r, said, now)
	})
	return stored, err
}

// remember keeps the list of open reviews in step.
func (r Reconciliation) remember(tx *bolt.Tx) error {
	switch {
	case r.Review.Open():
		return reviews.put(tx, r.ID, r.Review.Since)
	case reviews.has(tx, r.ID):
		return reviews.delete(tx, r.ID)
	}
	return nil
}

// OpenReviews lists the reconciliations with a review to be done, oldest
// first.
func (db *DB) OpenReviews() (list []Reconciliation, err error) {
	err = db.view(func(tx *bolt.Tx) error {
		var inner error
		err := reviews.each(tx, "", func(id ReconciliationID, _ timeUTC) bool {
			var r Reconciliation
			if r, inner = reconciliations.get(tx, id); inner == nil {
				list = append(list, r)
			}
			return inner == nil
		})
		return errors.Join(err, inner)
	})
	if err != nil {
		return nil, fmt.Errorf("list open reviews: %w", err)
	}
	sortBy(list, func(r Reconciliation) time.Time { return r.Review.Since })
	return list, nil
}
