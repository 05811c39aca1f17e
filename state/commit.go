package state

import (
	"errors"
	"fmt"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
)

// committer has several changes share one write to disk. While one write is
// under way those who come wait, and all go with the next: a change waits for
// two writes at most, however many people write, and a lone one for its own
// only. It is safe for concurrent use.
//
// Some changes are in no hurry: nobody waits for what they note. They go with
// the next that is, so that the disk is free when one comes; alone they wait
// for patience at most.
//
// Why not bolt's own Batch: it closes a batch after a time, not when the disk
// is free, so that under load many small batches queue up before the disk.
type committer struct {
	bolt *bolt.DB

	mu      sync.Mutex // guards what follows
	waiting []*change
	// hurried is how many of them are in a hurry.
	hurried int
	writing bool
	// armed means that a timer runs for those that are not.
	armed bool
}

// change is something that somebody waits for.
type change struct {
	work    func(*bolt.Tx) error
	patient bool
	// turn tells the one who waits to write, done how it went.
	turn chan struct{}
	done chan error
}

// maxShared is how many changes share one write.
const maxShared = 256

// errAlone tells the one who waits to try alone: with others it failed, which
// may have been for what they did in the same transaction.
var errAlone = errors.New("try alone")

// patience is how long a change that is in no hurry waits for others.
const patience = 20 * time.Millisecond

// commit carries out a change and returns when it is on disk. work may be
// called more than once, of which the last time counts.
func (c *committer) commit(work func(*bolt.Tx) error) error {
	return c.carry(&change{work: work})
}

// patiently does the same, in no hurry.
func (c *committer) patiently(work func(*bolt.Tx) error) error {
	return c.carry(&change{work: work, patient: true})
}

func (c *committer) carry(ch *change) error {
	ch.turn, ch.done = make(chan struct{}, 1), make(chan error, 1)
	c.mu.Lock()
	c.waiting = append(c.waiting, ch)
	if !ch.patient {
		c.hurried++
	}
	switch {
	case c.writing:
	case ch.patient:
		c.next()
	default:
		c.writing = true
		ch.turn <- struct{}{}
	}
	c.mu.Unlock()
	for {
		select {
		case <-ch.turn: // more than once, where more wait than one write takes
			c.lead()
		case err := <-ch.done:
			return c.settle(ch, err)
		}
	}
}

// next gives the turn to the first of those who wait, at once if somebody is
// in a hurry. The lock is held, and nobody writes.
func (c *committer) next() {
	switch {
	case c.hurried > 0:
		c.writing = true
		c.waiting[0].turn <- struct{}{}
	case len(c.waiting) > 0 && !c.armed:
		c.armed = true
		time.AfterFunc(patience, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.armed = false
			if !c.writing && len(c.waiting) > 0 {
				c.writing = true
				c.waiting[0].turn <- struct{}{}
			}
		})
	}
}

func (c *committer) settle(ch *change, err error) error {
	if errors.Is(err, errAlone) {
		return c.bolt.Update(ch.work)
	}
	return err
}

// lead writes what waits, and gives the turn to those who came in the
// meantime.
func (c *committer) lead() {
	c.mu.Lock()
	n := min(len(c.waiting), maxShared)
	list := append([]*change(nil), c.waiting[:n]...)
	c.waiting = append([]*change(nil), c.waiting[n:]...)
	for _, ch := range list {
		if !ch.patient {
			c.hurried--
		}
	}
	c.mu.Unlock()
	c.write(list)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writing = false
	c.next()
}

// write carries out changes in one transaction. One that fails is left out and
// tried alone, so that it spoils nothing for the others.
func (c *committer) write(list []*change) {
	for len(list) > 0 {
		failed := -1
		err := c.bolt.Update(func(tx *bolt.Tx) error {
			for i, ch := range list {
				if err := careful(ch.work, tx); err != nil {
					failed = i
					return err
				}
			}
			return nil
		})
		if failed < 0 {
			for _, ch := range list {
				ch.done <- err
			}
			return
		}
		list[failed].done <- errAlone
		list = append(list[:failed:failed], list[failed+1:]...)
	}
}

// careful makes a panic an error: alone, it comes up where it belongs.
func careful(work func(*bolt.Tx) error, tx *bolt.Tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a change panicked: %v", p)
		}
	}()
	return work(tx)
}
