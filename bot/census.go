package bot

import (
	"slices"
	"sync"
	"time"
)

// lingering is how long Slack may count a connection that is gone.
const lingering = time.Minute

// census counts the connections that are the bot's own, by which those of
// somebody else are found. It is safe for concurrent use.
type census struct {
	now func() time.Time

	mu   sync.Mutex // guards what follows
	here int
	gone []time.Time
	// seen is how many were somebody else's at the time at.
	seen int
	at   time.Time
}

func (c *census) came() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.here++
}

func (c *census) went() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.here--
	c.gone = append(c.gone, c.now())
}

// foreign says how many of so many connections of the app can't be the bot's
// own, neither now nor a moment ago. Two counts that Slack gave at about the
// same time may be read in either order, so for a moment the larger one holds.
func (c *census) foreign(all int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	c.gone = slices.DeleteFunc(c.gone, func(at time.Time) bool { return now.Sub(at) > lingering })
	n := max(all-c.here-len(c.gone), 0)
	if n < c.seen && now.Sub(c.at) <= lingering {
		return c.seen
	}
	c.seen, c.at = n, now
	return n
}
