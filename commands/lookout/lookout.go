// Package lookout speaks first: it hears of changes made by hand as the audit
// log tells them, and of targets that have been out of sync for too long, and
// brings one card into the channel of the incident.
//
// It must never say the same twice, never say anything where nothing differs,
// and never decide anything: what it opens is a look, as if somebody had asked
// for one. It is quiet: a target that has a card gets no other, its card is
// drawn anew instead; and a channel gets no more than a few new cards in a
// while.
//
// Why it looks before it opens: most writes by hand change nothing that Git
// has a say in, and a card that says "nothing differs" to people who asked
// nothing is noise.
package lookout

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"reconcilebot/runbook"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/drift"
	"reconcilebot/state"
)

// Name is what the lookout goes by where people stand otherwise. It has no
// identity that could vote or decide.
const Name = "reconcilebot"

// site is one cluster, as the lookout needs it.
type site interface {
	Owners(context.Context, cluster.Write) ([]drift.Target, error)
	Targets(context.Context) ([]drift.TargetInfo, error)
}

// engine opens looks and repeats them.
type engine interface {
	Open(runbook.Opening) (r state.Reconciliation, joined bool, err error)
	Again(id state.ReconciliationID, by state.Person) (state.Reconciliation, error)
}

// Config is what a lookout needs.
type Config struct {
	DB     *state.DB
	Engine engine
	Sites  map[string]site
	// Look says what differs in a target and where it lives in Git.
	Look func(ctx context.Context, target string) (book.Seen, error)
	// Channel is the channel for a target, as the configuration has it; ""
	// for none.
	Channel func(drift.Target) state.Room
	// Every is how often targets are listed, OutOfSync how long one may be out
	// of sync before it is spoken of. A minute and a quarter of an hour if
	// zero.
	Every, OutOfSync time.Duration
	// Healing is how long after a look at what is about to be undone to look
	// once more; two seconds if zero.
	Healing time.Duration
	Log     *slog.Logger
	Now     func() time.Time
}

// Sites makes of surveyors what Config takes.
func Sites(surveyors map[string]*drift.Surveyor) map[string]site {
	sites := map[string]site{}
	for name, s := range surveyors {
		sites[name] = s
	}
	return sites
}

// Lookout watches. It is safe for concurrent use.
type Lookout struct {
	Config
	wake chan struct{}
	// onset is since when targets are out of sync; only the watch uses it.
	onset map[drift.Target]time.Time

	mu    sync.Mutex // guards what follows
	heard []cluster.Write
	again map[drift.Target]time.Time
	fresh map[state.Room][]time.Time
}

// New makes a lookout; Run starts it.
func New(c Config) *Lookout {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	for _, d := range []struct {
		value *time.Duration
		usual time.Duration
	}{{&c.Every, time.Minute}, {&c.OutOfSync, 15 * time.Minute}, {&c.Healing, 2 * time.Second}} {
		if *d.value == 0 {
			*d.value = d.usual
		}
	}
	return &Lookout{
		Config: c, wake: make(chan struct{}, 1), onset: map[drift.Target]time.Time{},
		again: map[drift.Target]time.Time{}, fresh: map[state.Room][]time.Time{},
	}
}

// backlog bounds what is heard and not looked at yet. What is beyond it is
// found by the watch, if it is out of sync.
const backlog = 10_000

// Hear takes writes from the audit log, and never waits.
func (l *Lookout) Hear(writes []cluster.Write) {
	l.mu.Lock()
	for _, w := range writes {
		if !drift.ByHand(w) {
			continue
		}
		if len(l.heard) == backlog {
			l.Log.Warn("more changes by hand are heard of than can be looked at; the rest waits for the next round")
			break
		}
		l.heard = append(l.heard, w)
	}
	l.mu.Unlock()
	l.poke()
}

func (l *Lookout) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Run looks until ctx ends.
func (l *Lookout) Run(ctx context.Context) error {
	round := time.NewTicker(l.Every)
	defer round.Stop()
	later := time.NewTimer(time.Hour)
	defer later.Stop()
	for {
		l.hearing(ctx)
		if due, ok := l.due(ctx); ok {
			later.Reset(due)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-l.wake:
		case <-later.C:
		case <-round.C:
			l.watch(ctx)
		}
	}
}

// abreast is how many targets are looked at at the same time.
const abreast = 4

// hearing deals with what was heard, target by target.
func (l *Lookout) hearing(ctx context.Context) {
	l.mu.Lock()
	heard := l.heard
	l.heard = nil
	l.mu.Unlock()
	byTarget := map[drift.Target][]string{}
	for _, w := range heard {
		for name, s := range l.Sites {
			owners, err := s.Owners(ctx, w)
			if err != nil {
				l.Log.Warn("whose object was changed by hand is not known", "cluster", name, "audit", w.AuditID, "err", err)
			}
			for _, t := range owners {
				byTarget[t] = append(byTarget[t], w.AuditID)
			}
		}
	}
	var g errgroup.Group
	g.SetLimit(abreast)
	for t, news := range byTarget {
		g.Go(func() error {
			if err := l.speak(ctx, t, news); err != nil && ctx.Err() == nil {
				l.Log.Warn("nothing is said of a change by hand", "target", t.String(), "err", err)
			}
			return nil
		})
	}
	_ = g.Wait() // what failed is in the log
}

// watch speaks of targets that have been out of sync for too long.
func (l *Lookout) watch(ctx context.Context) {
	for name, s := range l.Sites {
		list, err := s.Targets(ctx)
		if err != nil {
			l.Log.Info("the targets can't be listed", "cluster", name, "err", err)
			continue
		}
		for _, t := range list {
			if t.Sync != "OutOfSync" {
				delete(l.onset, t.Target)
				continue
			}
			since, known := l.onset[t.Target]
			if !known {
				l.onset[t.Target] = l.Now()
				continue
			}
			if l.Now().Sub(since) < l.OutOfSync {
				continue
			}
			if err := l.speak(ctx, t.Target, nil); err != nil {
				l.Log.Warn("nothing is said of a target that is out of sync", "target", t.String(), "err", err)
			}
		}
	}
}
