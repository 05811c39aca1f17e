package commands

import (
	"context"
	"strings"

	"reconcilebot/commands/access"
	"reconcilebot/commands/card"
	"reconcilebot/state"
)

// understand parses the words of a command. In the thread of a reconciliation
// its target need not be named: words that name none are about that one.
func (c *Commands) understand(req Request) (command, act, error) {
	row, what, err := parse(c.rows, req.Text, "")
	if req.Kind != Mention || !row.who.OnTarget() || err == nil && what.about() != "" {
		return row, what, err
	}
	r, here := c.ofThread(req)
	if !here {
		return row, what, err
	}
	_, own, wrong := parse(c.rows, req.Text, r.Target)
	switch bare, _ := split(req.Text); {
	case wrong == nil && own.about() != "":
		return row, own, nil
	case err != nil && len(bare.list) == 1:
		return row, nil, wrong // what is missing beside the target
	}
	return row, what, err
}

// ofThread finds the reconciliation whose card or thread a message is in.
func (c *Commands) ofThread(req Request) (state.Reconciliation, bool) {
	for _, ts := range []string{req.Thread, req.Message} {
		if ts == "" {
			continue
		}
		key, err := c.DB.MessageAt(req.Room, ts)
		if err != nil {
			continue
		}
		// What a message is for has the id as one of its parts.
		for part := range strings.SplitSeq(string(key), "/") {
			r, err := c.DB.Reconciliation(state.ReconciliationID(part))
			if err == nil && r.Room == req.Room {
				return r, true
			}
		}
	}
	return state.Reconciliation{}, false
}

// shortcut answers the message shortcut. In the thread of a reconciliation it
// shows the card with all that can be done, elsewhere what is open in the
// channel.
func (c *Commands) shortcut(ctx context.Context, req Request) (Reply, error) {
	by, err := c.authenticate(ctx, req)
	if err != nil {
		return Reply{}, err
	}
	if r, here := c.ofThread(req); here {
		t, err := ofRun(r)
		if err != nil {
			return Reply{}, err
		}
		if err := c.allow(ctx, by, access.See, t); err != nil {
			return Reply{}, err
		}
		m := c.Card(ctx, r)
		return Reply{Ephemeral: &m}, nil
	}
	in, err := c.incident(req.Room)
	if err != nil {
		return Reply{}, err
	}
	runs, err := c.visibleRuns(ctx, in, by)
	if err != nil {
		return Reply{}, err
	}
	m := card.Board(in, runs, c.Now())
	return Reply{Ephemeral: &m}, nil
}
