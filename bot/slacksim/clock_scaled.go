package slacksim

import (
	"slices"
	"sync"
	"time"
)

// ScaledClock runs at a speed of its own, which can be changed, and can be
// moved ahead: a person who tries out what happens in half an hour need not
// wait for it. It is safe for concurrent use.
type ScaledClock struct {
	mu     sync.Mutex
	speed  float64
	real   time.Time // when now was
	now    time.Time
	alarms []*alarm
	next   *time.Timer // for the earliest alarm
}

// NewScaledClock returns a clock that begins at start and runs that many times
// as fast as the machine's.
func NewScaledClock(start time.Time, speed float64) *ScaledClock {
	return &ScaledClock{speed: speed, real: time.Now(), now: start}
}

// Now is the present time.
func (c *ScaledClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read()
}

func (c *ScaledClock) read() time.Time {
	return c.now.Add(time.Duration(float64(time.Since(c.real)) * c.speed))
}

// Speed tells how fast the clock runs.
func (c *ScaledClock) Speed() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.speed
}

// SetSpeed makes the clock run at another speed from now on.
func (c *ScaledClock) SetSpeed(speed float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.real = c.read(), time.Now()
	c.speed = speed
	c.arm()
}

// Advance moves the clock ahead; what becomes due thereby happens at once.
func (c *ScaledClock) Advance(d time.Duration) {
	c.mu.Lock()
	c.now, c.real = c.read().Add(d), time.Now()
	c.mu.Unlock()
	c.ring()
}

// AfterFunc calls f once, d from now by this clock, unless stop is called first.
func (c *ScaledClock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := &alarm{c.read().Add(d), f}
	c.alarms = append(c.alarms, a)
	c.arm()
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		i := slices.Index(c.alarms, a)
		if i >= 0 {
			c.alarms = slices.Delete(c.alarms, i, i+1)
		}
		return i >= 0
	}
}

// arm sets the machine's timer for the earliest alarm. The lock is held.
func (c *ScaledClock) arm() {
	if c.next != nil {
		c.next.Stop()
	}
	if len(c.alarms) == 0 || c.speed <= 0 {
		return
	}
	first := slices.MinFunc(c.alarms, func(a, b *alarm) int { return a.at.Compare(b.at) })
	left := time.Duration(float64(first.at.Sub(c.read())) / c.speed)
	c.next = time.AfterFunc(max(left, 0), c.ring)
}

// ring sets off what is due, in order of time, outside the lock.
func (c *ScaledClock) ring() {
	c.mu.Lock()
	now := c.read()
	var due, later []*alarm
	for _, a := range c.alarms {
		if a.at.After(now) {
			later = append(later, a)
		} else {
			due = append(due, a)
		}
	}
	c.alarms = later
	c.arm()
	c.mu.Unlock()
	slices.SortStableFunc(due, func(a, b *alarm) int { return a.at.Compare(b.at) })
	for _, a := range due {
		a.f()
	}
}
