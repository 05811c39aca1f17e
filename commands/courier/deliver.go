package courier

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"reconcilebot/runbook/ticket"
	"reconcilebot/state"
)

// patience bounds one delivery.
const patience = 2 * time.Minute

// deliver brings a record to its ticket and notes how that went.
func (c *Courier) deliver(ctx context.Context, d delivery) {
	work, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("%s took longer than %s", d.system.Name(), patience))
	defer cancel()
	was := ticket.Comment{ID: d.filing.Comment, URL: d.filing.URL, Sum: d.filing.Sum, Final: d.filing.Final, Closed: d.filing.Closed}
	is, err := c.put(work, d.system, ticket.Post{Ticket: d.filing.Ticket, Record: d.record, Known: was})
	if err != nil && ctx.Err() != nil {
		return // the bot stops: this is looked at again after the restart
	}
	f, said := c.went(d, is, err)
	if err := c.DB.SaveFiling(f, said...); err != nil {
		c.Log.Error("how a record stands on its ticket was not stored", "run", d.r.ID, "system", f.System, "err", err)
	}
}

// went is what is to be noted of a delivery, and said about it.
func (c *Courier) went(d delivery, is ticket.Comment, err error) (state.Filing, []state.Said) {
	if err != nil {
		return c.untaken(d, err)
	}
	return c.filed(d, is)
}

// put is a system's Put; a panic there is an error of this one delivery.
func (c *Courier) put(ctx context.Context, s ticket.System, p ticket.Post) (is ticket.Comment, err error) {
	defer func() {
		if v := recover(); v != nil {
			c.Log.Error("a ticket system's client panicked", "system", s.Name(), "err", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = fmt.Errorf("the client of %s panicked", s.Name())
		}
	}()
	return s.Put(ctx, p)
}

// filed is a filing whose record is on the ticket. The thread is told of the
// first, and of one that follows a trouble that it was told of.
func (c *Courier) filed(d delivery, is ticket.Comment) (state.Filing, []state.Said) {
	f := state.Filing{
		Reconciliation: d.r.ID, System: d.system.Name(), Ticket: d.filing.Ticket, Rev: d.r.Rev,
		Comment: is.ID, URL: is.URL, Sum: is.Sum, Final: is.Final, Closed: is.Closed, Filed: c.Now().UTC(),
	}
	var said state.Said
	first := d.filing.Comment == ""
	if first || d.filing.Told != "" {
		said.Notice = Ticketed
	}
	if first || is.Final && !d.filing.Final {
		said.Kind = Ticketed
		said.Data = map[string]any{"system": f.System, "ticket": f.Ticket, "comment": f.URL, "sum": f.Sum, "final": f.Final}
	}
	c.Log.Info("a record is on its ticket", "run", d.r.ID, "system", f.System, "final", f.Final)
	return f, []state.Said{said}
}

// Times between two tries: after an outage, and after something that people
// have to mend.
const (
	leastOutage, mostOutage = time.Second, 5 * time.Minute
	leastMend, mostMend     = 30 * time.Second, time.Hour
	// tellAfter is how long an outage lasts before the thread is told.
	tellAfter = 30 * time.Second
)

// down is the kind of trouble that nobody has to mend.
const down = "down"

// untaken is a filing whose record did not reach the ticket. The thread is
// told once for each kind of trouble.
func (c *Courier) untaken(d delivery, err error) (state.Filing, []state.Said) {
	now := c.Now().UTC()
	f := d.filing
	refused, mend := errors.AsType[*ticket.Refused](err)
	why, say := down, d.filing.Ticket+" can't be reached."
	least, most := leastOutage, mostOutage
	if mend {
		why, say, least, most = string(refused.Why), refused.Say(), leastMend, mostMend
	} else if _, outage := errors.AsType[*ticket.Unavailable](err); !outage {
		why, say, least, most = "unknown", "Something broke on reconcilebot's side on the way to "+f.Ticket+"; its log says what.", leastMend, mostMend
	}
	if f.Trouble == "" || f.Why != why {
		f.Since = now
	}
	f.Trouble, f.Why, f.Tried = c.Redact(say), why, now
	f.Next = now.Add(min(max(now.Sub(f.Since)/2, least), most))
	if busy, ok := errors.AsType[*ticket.Unavailable](err); ok && busy.Until.After(f.Next) {
		f.Next = busy.Until.UTC()
	}
	level := c.Log.Warn
	if f.Told == why {
		level = c.Log.Debug
	}
	level("a record does not reach its ticket and is kept", "run", d.r.ID, "system", f.System, "why", why, "again", f.Next, "err", c.Redact(err.Error()))
	if f.Told == why || why == down && now.Sub(f.Since) < tellAfter {
		return f, nil
	}
	f.Told = why
	return f, []state.Said{{Notice: Untaken, Kind: Untaken, Data: map[string]any{"system": f.System, "ticket": f.Ticket, "why": why}}}
}

// ignoreMissing is for an incident that is not there: such a record has no
// ticket.
func ignoreMissing(err error) error {
	if errors.Is(err, state.ErrNotFound) {
		return nil
	}
	return err
}
