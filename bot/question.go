package bot

import (
	"sync"
	"time"

	"reconcilebot/runbook/stopwatch"
	"reconcilebot/state"
)

// question is an act while it is being answered.
type question struct {
	act act
	d   state.Delivery
	// at is when its frame was read; zero when it comes from the disk.
	at    time.Time
	waits *stopwatch.Watch
}

// total is the time since the frame was read; zero after a restart.
func (q *question) total() time.Duration {
	if q.at.IsZero() {
		return 0
	}
	return time.Since(q.at)
}

// asked remembers who asked for something last in a channel, so that a card
// which can't be posted is not silent, and its way can be timed. It is safe
// for concurrent use.
type asked struct {
	now func() time.Time

	mu   sync.Mutex // guards what follows
	last map[askedKey]*question
}

type askedKey struct {
	room state.Room
	user string
}

func newAsked(now func() time.Time) *asked {
	return &asked{now: now, last: map[askedKey]*question{}}
}

func (a *asked) put(q *question) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for k, old := range a.last {
		if a.now().Sub(old.d.Received) > hookLife {
			delete(a.last, k)
		}
	}
	room := state.Room(q.act.Room)
	a.last[askedKey{room, q.act.User}], a.last[askedKey{room, ""}] = q, q
}

// by finds what somebody, or with an empty user anybody, asked for last in a
// channel; nil if nothing lately.
func (a *asked) by(room state.Room, user string) *question {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last[askedKey{room, user}]
}
