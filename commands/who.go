package commands

import (
	"context"
	"strings"

	"reconcilebot/commands/card"
	"reconcilebot/runbook/fault"
)

// trace wants to see who and what touched a target, or one object of it.
type trace struct{ target, object string }

func parseWho(w words) (act, error) {
	if len(w.list) == 0 || len(w.list) > 2 {
		return nil, usage("who TARGET [OBJECT]", "who payments-web deployment/payments-web")
	}
	return trace{w.list[0], strings.Join(w.list[1:], "")}, nil
}

func (t trace) about() string { return t.target }

func (t trace) run(ctx context.Context, c *Commands, call call) (Reply, error) {
	if c.Timeline == nil {
		return Reply{}, fault.New(fault.Unavailable, "Who touched something can't be asked in this installation.")
	}
	touches, err := c.Timeline(ctx, call.on.Target, t.object)
	if err != nil {
		return Reply{}, err
	}
	m := card.Timeline(call.on.TargetInfo, t.object, touches, c.Now(), c.Links)
	return Reply{Ephemeral: &m}, nil
}
