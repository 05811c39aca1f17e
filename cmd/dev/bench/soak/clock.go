package soak

import "time"

// Hurry is how much faster Slack's clock runs than the machine's.
const Hurry = 20

// fastClock is Slack's clock.
type fastClock struct{ start time.Time }

func (c fastClock) Now() time.Time { return c.start.Add(time.Since(c.start) * Hurry) }

func (c fastClock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d/Hurry, f).Stop
}
