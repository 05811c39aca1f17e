package runbook

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"reconcilebot/state"
)

// agenda says which reconciliation is to be looked at when, and keeps two
// workers from looking at the same one. It is safe for concurrent use.
type agenda struct {
	mu sync.Mutex
	// due holds when to look; absent means not before it is poked.
	due map[state.ReconciliationID]time.Time
	// busy are those that a worker has; true means look again afterwards.
	busy map[state.ReconciliationID]bool
	// spent is the time that looks at an unwritten wait took.
	spent map[state.ReconciliationID]time.Duration
	wake  chan struct{}
}

func newAgenda() *agenda {
	return &agenda{
		due:   map[state.ReconciliationID]time.Time{},
		busy:  map[state.ReconciliationID]bool{},
		spent: map[state.ReconciliationID]time.Duration{},
		wake:  make(chan struct{}, 1),
	}
}

func (a *agenda) put(id state.ReconciliationID, at time.Time) {
	a.mu.Lock()
	if _, busy := a.busy[id]; busy {
		a.busy[id] = true
	} else if have, ok := a.due[id]; !ok || at.Before(have) {
		a.due[id] = at
	}
	a.mu.Unlock()
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// take hands out the one that is due the longest, or says when the next is.
func (a *agenda) take(now time.Time) (id state.ReconciliationID, next time.Time, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for candidate, at := range a.due {
		if next.IsZero() || at.Before(next) {
			id, next = candidate, at
		}
	}
	if next.IsZero() || next.After(now) {
		return "", next, false
	}
	delete(a.due, id)
	a.busy[id] = false
	return id, next, true
}

// give takes one back. again is zero when only a poke should bring it up.
func (a *agenda) give(id state.ReconciliationID, again time.Time, now time.Time) {
	a.mu.Lock()
	poked := a.busy[id]
	delete(a.busy, id)
	a.mu.Unlock()
	if poked {
		again = now
	}
	if !again.IsZero() {
		a.put(id, again)
	}
}

// looked adds the time of a look that changed nothing.
func (a *agenda) looked(id state.ReconciliationID, took time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spent[id] += took
}

func (a *agenda) looks(id state.ReconciliationID) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.spent[id]
}

func (a *agenda) forget(id state.ReconciliationID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.spent, id)
}

// Poke asks for a reconciliation to be looked at now: somebody voted, or
// something happened that it may be waiting for.
func (e *Engine) Poke(id state.ReconciliationID) { e.agenda.put(id, e.now()) }

// Run takes every reconciliation on until ctx ends, beginning with those that
// a restart left under way. Steps under way are let go at their next border.
func (e *Engine) Run(ctx context.Context) error {
	unclosed, err := e.db.Unclosed()
	if err != nil {
		return err
	}
	for _, r := range unclosed {
		e.Poke(r.ID)
	}
	workers, _ := errgroup.WithContext(ctx)
	workers.SetLimit(e.workers)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		id, next, ok := e.agenda.take(e.now())
		if ok {
			workers.Go(func() error { e.work(ctx, id); return nil })
			continue
		}
		if !next.IsZero() {
			timer.Reset(next.Sub(e.now()))
		}
		select {
		case <-ctx.Done():
			return workers.Wait()
		case <-e.agenda.wake:
		case <-timer.C:
		}
	}
}

// work advances one reconciliation and puts it back on the agenda.
func (e *Engine) work(ctx context.Context, id state.ReconciliationID) {
	r, err := e.Advance(ctx, id)
	var again time.Time
	switch {
	case err != nil && ctx.Err() == nil:
		e.log.Error("a reconciliation did not advance", "run", id, "err", err)
		again = e.now().Add(10 * time.Second)
	case err == nil && r.Wait != nil:
		again = r.Wait.Until
	}
	e.agenda.give(id, again, e.now())
}
