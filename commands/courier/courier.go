// Package courier brings the records of reconciliations to the incidents'
// tickets, and goes on until they are there.
//
// It must never hold up anything else: a reconciliation ends, and its record
// stands in Slack, whether or not a ticket system answers. It must never send
// what has not gone through Redact and the mask for secrets. And it gives no
// record up: what a ticket does not take is kept, and tried again until it
// does, or until people name another ticket.
//
// Why an outbox in the state and not a step of the book that waits: a waiting
// step would keep the target's lease, so that nobody could look at it again
// while somebody else's ticket system is down. And the record begins long
// before the book's last step, and ends with reconciliations that never reach
// it.
package courier

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"reconcilebot/runbook/ticket"
	"reconcilebot/state"
)

// What is said in the thread, and written in the journal.
const (
	// Ticketed tells where the record is; Untaken, what keeps it away.
	Ticketed = "ticketed"
	Untaken  = "ticket-trouble"
)

// Config is what a courier needs.
type Config struct {
	DB *state.DB
	// Systems are the ticket systems; a ticket gets the record from each that
	// takes it.
	Systems []ticket.System
	// Draw makes the record as it stands; false means that there is nothing
	// worth a ticket yet.
	Draw func(state.Reconciliation) (ticket.Record, bool)
	// Linked tells whether the record can lead to the Slack thread yet.
	Linked func(state.ReconciliationID) bool
	// Redact cuts the bot's own secrets out of a text.
	Redact func(string) string
	Log    *slog.Logger
	Now    func() time.Time // time.Now if nil
	// Pace is the time between two edits of one comment, but for the last one;
	// 5 s if zero.
	Pace time.Duration
}

// Courier delivers. It is safe for concurrent use.
type Courier struct {
	Config
	begun time.Time
	wake  chan struct{}

	mu   sync.Mutex // guards what follows
	busy map[place]bool
}

// place is one record on one ticket.
type place struct {
	id             state.ReconciliationID
	system, ticket string
}

// New makes a courier; Run starts it.
func New(c Config) *Courier {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Pace == 0 {
		c.Pace = 5 * time.Second
	}
	return &Courier{Config: c, begun: c.Now(), wake: make(chan struct{}, 1), busy: map[place]bool{}}
}

// Namer tells the names of the systems that take records for a ticket.
func Namer(systems []ticket.System) func(address string) []string {
	return func(address string) (names []string) {
		for _, s := range systems {
			if s.Takes(address) {
				names = append(names, s.Name())
			}
		}
		return names
	}
}

// idleRound is how often the store is looked at without a hint.
const idleRound = time.Minute

// atOnce bounds how many deliveries are under way: one that hangs must not
// keep the others.
const atOnce = 16

// Run delivers until ctx ends, and lets what is under way come to its end.
func (c *Courier) Run(ctx context.Context) error {
	var under sync.WaitGroup
	defer under.Wait()
	slots := make(chan struct{}, atOnce)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.DB.ToFile():
		case <-c.wake:
		case <-timer.C:
		}
		if ctx.Err() != nil {
			return nil
		}
		due, next := c.round()
		for _, d := range due {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return nil
			}
			under.Go(func() {
				defer func() { <-slots; c.free(d.place()); c.nudge() }()
				c.deliver(ctx, d)
			})
		}
		timer.Reset(next)
	}
}

func (c *Courier) nudge() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// take marks a place as being worked on; false when it is already.
func (c *Courier) take(p place) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy[p] {
		return false
	}
	c.busy[p] = true
	return true
}

func (c *Courier) free(p place) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.busy, p)
}
