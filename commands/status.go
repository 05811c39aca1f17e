package commands

import (
	"context"

	"reconcilebot/commands/card"
)

// board wants the incident's state on one page, stands that of one target,
// summary the records so far.
type (
	board   struct{}
	stands  struct{ target string }
	summary struct{}
)

func parseStatus(w words) (act, error) {
	switch len(w.list) {
	case 0:
		return board{}, nil
	case 1:
		return stands{w.list[0]}, nil
	}
	return nil, usage("status [TARGET]", "status payments-web")
}

func parseSummary(w words) (act, error) {
	if len(w.list) > 0 {
		return nil, usage("summary", "summary")
	}
	return summary{}, nil
}

func (board) about() string    { return "" }
func (s stands) about() string { return s.target }
func (summary) about() string  { return "" }

func (board) run(ctx context.Context, c *Commands, call call) (Reply, error) {
	in, err := c.incident(call.Room)
	if err != nil {
		return Reply{}, err
	}
	runs, err := c.visibleRuns(ctx, in, call.by)
	if err != nil {
		return Reply{}, err
	}
	m := card.Board(in, runs, c.Now())
	return Reply{Public: &m}, nil
}

func (stands) run(ctx context.Context, c *Commands, call call) (Reply, error) {
	is, err := c.standing(ctx, call.on.TargetInfo)
	if err != nil {
		return Reply{}, err
	}
	m := card.Status(call.on.TargetInfo, is, c.Now())
	return Reply{Ephemeral: &m}, nil
}

func (summary) run(ctx context.Context, c *Commands, call call) (Reply, error) {
	in, err := c.incident(call.Room)
	if err != nil {
		return Reply{}, err
	}
	runs, err := c.visibleRuns(ctx, in, call.by)
	if err != nil {
		return Reply{}, err
	}
	m := card.Summary(in, runs, c.Now(), c.Links)
	return Reply{Public: &m}, nil
}
