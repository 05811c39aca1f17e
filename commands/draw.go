package commands

import (
	"context"
	"slices"

	"reconcilebot/commands/card"
	"reconcilebot/state"
)

// Card draws the one message in the channel that a reconciliation has.
func (c *Commands) Card(_ context.Context, r state.Reconciliation) card.Message {
	return card.Reconciliation(c.facts(r))
}

// Notice draws what is said in the thread; false means that nothing is.
func (c *Commands) Notice(_ context.Context, r state.Reconciliation, kind string) (card.Message, bool) {
	f := c.facts(r)
	if e, ok := c.last(r, "left"); ok && kind == "left" {
		f.By = e.By.Name
	}
	return card.Notice(f, kind)
}

func (c *Commands) facts(r state.Reconciliation) card.Facts {
	f := card.Facts{Run: r, Now: c.Now(), Links: c.Links}
	f.Filings = c.filings(r)
	f.Overridable = c.Access.Overridable(r.Target)
	if b, ok := c.Engine.Book(r); ok {
		for _, s := range b.Steps {
			f.Steps = append(f.Steps, s.ID())
		}
	}
	f.Beside = c.beside(r)
	return f
}

// filings are where the record stands on tickets. What keeps it from a ticket
// that is not the incident's any more is nobody's concern. What can't be read
// is left out.
func (c *Commands) filings(r state.Reconciliation) []state.Filing {
	list, err := c.DB.Filings(r.ID)
	if err != nil {
		c.Log.Warn("where the record stands on tickets can't be read", "run", r.ID, "err", err)
	}
	if len(list) == 0 {
		return nil
	}
	in, err := c.DB.Incident(r.Incident)
	if err != nil {
		c.Log.Warn("the incident of a record can't be read", "run", r.ID, "err", err)
	}
	return slices.DeleteFunc(list, func(f state.Filing) bool {
		current := slices.Contains(in.Tickets(), f.Ticket) && c.Tickets != nil && slices.Contains(c.Tickets(f.Ticket), f.System)
		return !current && (f.Comment == "" || f.Trouble != "")
	})
}

// last finds the last journal entry of a kind. What it would say is left out
// when it can't be read.
func (c *Commands) last(r state.Reconciliation, kind string) (state.Entry, bool) {
	entries, err := c.DB.Journal(r.ID)
	if err != nil {
		c.Log.Warn("the journal can't be read", "run", r.ID, "err", err)
	}
	for i := len(entries) - 1; i >= 0; i-- {
		if entries[i].Kind == kind {
			return entries[i], true
		}
	}
	return state.Entry{}, false
}
