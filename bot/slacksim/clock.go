package slacksim

import (
	"sort"
	"sync"
	"time"
)

// Clock is the time that lifetimes, windows and timestamps are taken from.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f once, d from now, unless stop is called first.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}

// ManualClock stands still until it is advanced. It is safe for concurrent use.
type ManualClock struct {
	mu    sync.Mutex
	now   time.Time
	alarm []*alarm
}

type alarm struct {
	at time.Time
	f  func()
}

// NewManualClock returns a clock that stands at start.
func NewManualClock(start time.Time) *ManualClock { return &ManualClock{now: start} }

// Now is the time the clock stands at.
func (c *ManualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// AfterFunc arms an alarm that a later Advance sets off.
func (c *ManualClock) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := &alarm{c.now.Add(d), f}
	c.alarm = append(c.alarm, a)
	return func() bool { return c.disarm(a) }
}

func (c *ManualClock) disarm(a *alarm) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, b := range c.alarm {
		if a == b {
			c.alarm = append(c.alarm[:i], c.alarm[i+1:]...)
			return true
		}
	}
	return false
}

// Advance moves the clock and sets off what has become due, in order of time.
func (c *ManualClock) Advance(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	var due, later []*alarm
	for _, a := range c.alarm {
		if a.at.After(c.now) {
			later = append(later, a)
		} else {
			due = append(due, a)
		}
	}
	c.alarm = later
	c.mu.Unlock()
	sort.SliceStable(due, func(i, j int) bool { return due[i].at.Before(due[j].at) })
	for _, a := range due {
		a.f()
	}
}
