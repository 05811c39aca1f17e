package commands

import (
	"context"

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
	var err error
	if f.Filings, err = c.DB.Filings(r.ID); err != nil {
		c.Log.Warn("where the record stands on tickets can't be read", "run", r.ID, "err", err)
	}
	if b, ok := c.Engine.Book(r); ok {
		for _, s := range b.Steps {
			f.Steps = append(f.Steps, s.ID())
		}
	}
	return f
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
