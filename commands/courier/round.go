package courier

import (
	"time"

	"reconcilebot/runbook/ticket"
	"reconcilebot/state"
)

// delivery is a record that is due on a ticket.
type delivery struct {
	r      state.Reconciliation
	system ticket.System
	record ticket.Record
	filing state.Filing
	// linked is true for a record that leads to the Slack thread.
	linked bool
}

func (d delivery) place() place { return place{d.r.ID, d.system.Name(), d.filing.Ticket} }

// round lists what is due now, and says when to look again. What it returns is
// marked as being worked on.
func (c *Courier) round() (due []delivery, next time.Duration) {
	ids, err := c.DB.Unfiled()
	if err != nil {
		c.Log.Error("what is due on the tickets was not read", "err", err)
		return nil, 5 * time.Second
	}
	next = idleRound
	for _, id := range ids {
		some, again, err := c.of(id)
		if err != nil {
			c.Log.Error("a record can't be brought to its ticket", "run", id, "err", err)
			continue
		}
		for _, d := range some {
			if c.take(d.place()) && c.still(d) {
				due = append(due, d)
			}
		}
		if again > 0 {
			next = min(next, again)
		}
	}
	return due, max(next, 10*time.Millisecond)
}

// of lists what is due of one reconciliation. When nothing is left to do for
// this revision, that is noted.
func (c *Courier) of(id state.ReconciliationID) (due []delivery, again time.Duration, err error) {
	r, err := c.DB.Reconciliation(id)
	if err != nil {
		return nil, 0, err
	}
	all, err := c.places(r)
	if err != nil {
		return nil, 0, err
	}
	// Asked before the record is drawn: one that is drawn later leads there.
	linked := c.Linked(r.ID)
	record, worth := c.Draw(r)
	if len(all) == 0 || !worth {
		return nil, 0, c.DB.Filed(r.ID, r.Rev)
	}
	record = record.Map(func(text string) string { return ticket.Mask(c.Redact(text)) })
	open := false
	for _, d := range all {
		if d.filing.Rev >= r.Rev && d.filing.Trouble == "" {
			continue
		}
		open = true
		d.record, d.linked = record, linked
		if wait := c.when(d).Sub(c.Now()); wait > 0 {
			if again == 0 || wait < again {
				again = wait
			}
			continue
		}
		due = append(due, d)
	}
	if !open {
		return nil, 0, c.DB.Filed(r.ID, r.Rev)
	}
	return due, again, nil
}

// still tells whether a delivery that was just taken stands as it was read:
// another one to the same place may have ended in between. If not, it is let
// go, to be looked at again.
func (c *Courier) still(d delivery) bool {
	now, err := c.DB.Filings(d.r.ID)
	if err == nil {
		same := state.Filing{Reconciliation: d.r.ID, System: d.filing.System, Ticket: d.filing.Ticket}
		for _, f := range now {
			if f.System == d.filing.System && f.Ticket == d.filing.Ticket {
				same = f
			}
		}
		if same == d.filing {
			return true
		}
	}
	c.free(d.place())
	c.nudge()
	return false
}

// places lists where a reconciliation's record belongs: each ticket of its
// incident, in each system that takes it.
func (c *Courier) places(r state.Reconciliation) (all []delivery, err error) {
	in, err := c.DB.Incident(r.Incident)
	if err != nil || len(in.Tickets()) == 0 || len(c.Systems) == 0 {
		return nil, ignoreMissing(err)
	}
	before, err := c.DB.Filings(r.ID)
	if err != nil {
		return nil, err
	}
	for _, address := range in.Tickets() {
		for _, s := range c.Systems {
			if !s.Takes(address) {
				continue
			}
			d := delivery{r: r, system: s, filing: state.Filing{Reconciliation: r.ID, System: s.Name(), Ticket: address}}
			for _, f := range before {
				if f.System == s.Name() && f.Ticket == address {
					d.filing = f
				}
			}
			all = append(all, d)
		}
	}
	return all, nil
}

// linkPatience is how long the first comment waits for the address of the
// Slack thread, which a note that can't be edited would lack for ever.
const linkPatience = 10 * time.Second

// when is the earliest time for a delivery.
func (c *Courier) when(d delivery) time.Time {
	f := d.filing
	switch {
	case f.Trouble != "" && f.Tried.Before(c.begun):
		// After a restart there may be a new token, or another config.
		return time.Time{}
	case f.Trouble != "":
		return f.Next
	case f.Comment == "" && !d.record.Final() && !d.linked:
		return d.r.Opened.Add(linkPatience)
	case f.Comment != "" && !d.record.Final():
		return f.Filed.Add(c.Pace)
	}
	return time.Time{}
}
