package ticket

import (
	"context"
	"fmt"
)

// kept is one comment of ours as the system has it.
type kept struct{ id, url, body string }

// board is the part of a system that has comments which can be edited. Errors
// are this package's or *answer.
type board interface {
	// find looks for the comment that the bot wrote with the record's marker.
	find(ctx context.Context, r Record) (c kept, found bool, err error)
	write(ctx context.Context, body string, last bool) (kept, error)
	// edit answers with found false when the comment is not there any more.
	edit(ctx context.Context, id, body string, last bool) (c kept, found bool, err error)
}

// keep makes the one comment say what it should: it edits the one that is
// known, or the one that is found, and writes one only when there is none.
func keep(ctx context.Context, b board, p Post, body string) (Comment, error) {
	done := func(c kept) Comment {
		return Comment{ID: c.id, URL: c.url, Sum: sum(body), Final: p.Record.Final()}
	}
	if p.Known.ID != "" {
		c, found, err := b.edit(ctx, p.Known.ID, body, p.Record.Final())
		if err != nil {
			return Comment{}, fmt.Errorf("edit the record: %w", err)
		}
		if found {
			return done(c), nil
		}
		// Somebody deleted it. The record has to be there: it is written again.
	}
	c, found, err := b.find(ctx, p.Record)
	switch {
	case err != nil:
		return Comment{}, fmt.Errorf("look for the record: %w", err)
	case found && c.body == body:
		return done(c), nil
	case found:
		edited, still, err := b.edit(ctx, c.id, body, p.Record.Final())
		if err != nil {
			return Comment{}, fmt.Errorf("edit the record: %w", err)
		}
		if still {
			return done(edited), nil
		}
	}
	if c, err = b.write(ctx, body, p.Record.Final()); err != nil {
		return Comment{}, fmt.Errorf("write the record: %w", err)
	}
	return done(c), nil
}

// same tells whether the ticket says already what it would be made to say.
func same(p Post, body string) bool {
	return p.Known.ID != "" && p.Known.Sum == sum(body) && p.Known.Final == p.Record.Final()
}
