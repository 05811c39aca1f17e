package commands

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"reconcilebot/commands/access"
	"reconcilebot/commands/card"
	"reconcilebot/runbook"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
	"reconcilebot/state"
)

// look wants to see what differs in one target; lookAround in all that are
// out of sync; takeTo wants one adopted or reverted.
type (
	look       struct{ target string }
	lookAround struct{}
	takeTo     struct {
		book   state.BookName
		target string
		reason string
		// fields are the changes that are meant, with spaces between them; empty
		// means all.
		fields string
	}
)

func parseDrift(w words) (act, error) {
	switch {
	case len(w.list) > 1:
		return nil, usage("drift [TARGET|all]", "drift payments-web")
	case len(w.list) == 0 || strings.EqualFold(w.list[0], "all"):
		return lookAround{}, nil
	}
	return look{w.list[0]}, nil
}

// parseDecision parses the words of a decision: a target, and why.
func parseDecision(b state.BookName) func(words) (act, error) {
	return func(w words) (act, error) {
		example := string(b) + " payments-web because the checkout queue was backing up"
		if len(w.list) == 0 {
			return nil, usage(string(b)+" TARGET [KIND/NAME] [FIELD …] because …", example)
		}
		if w.reason == "" {
			return nil, fault.New(fault.Invalid, "Say why, for those who approve and for the record. For example: /reconcile "+example)
		}
		return takeTo{book: b, target: w.list[0], reason: w.reason, fields: strings.Join(w.list[1:], " ")}, nil
	}
}

func (l look) about() string     { return l.target }
func (lookAround) about() string { return "" }
func (t takeTo) about() string   { return t.target }

func (look) run(_ context.Context, c *Commands, call call) (Reply, error) {
	r, joined, err := c.open(call, call.on.Target, mint(call, ""))
	if err != nil || !joined {
		return Reply{}, err
	}
	_, looked := book.SeenIn(r)
	if r.Decided() || !looked {
		m := card.Answer(fmt.Sprintf("%s is open already, since %s: its card is in this channel.", call.on.Name, r.Opened.Format("15:04 UTC")))
		return Reply{Ephemeral: &m}, nil
	}
	if _, err := c.Engine.Again(r.ID, call.by.Person); err != nil {
		return Reply{}, err
	}
	m := card.Answer(fmt.Sprintf("Looking at %s again. Its card, in this channel since %s, is drawn anew.", call.on.Name, r.Opened.Format("15:04 UTC")))
	return Reply{Ephemeral: &m}, nil
}

// mint makes the id of what a request opens: the same for the same request,
// however often it is handled.
func mint(call call, target string) state.ReconciliationID {
	id := "r-" + call.Delivery.Mint
	if target != "" {
		sum := sha256.Sum256([]byte(target))
		id += "-" + hex.EncodeToString(sum[:4])
	}
	return state.ReconciliationID(id)
}

// open opens a reconciliation in the channel's incident, or joins the one
// that is open in this channel. One in another channel is not joined: its
// people are there.
func (c *Commands) open(call call, t drift.Target, id state.ReconciliationID) (r state.Reconciliation, joined bool, err error) {
	in, err := c.incident(call.Room)
	if err != nil {
		return r, false, err
	}
	r, joined, err = c.Engine.Open(runbook.Opening{ID: id, Incident: in.ID, Room: call.Room, Target: t.String(), By: call.by.Person})
	if err == nil && joined && r.Room != call.Room {
		err = fault.New(fault.Conflict, fmt.Sprintf("%s is being dealt with in another channel, for %s, since %s; %s asked. Two may not act on one target at a time: go on there.", t.Name, r.Incident, r.Opened.Format("15:04 UTC"), r.OpenedBy.Name))
	}
	return r, joined, err
}

// maxAround is how many cards one request may bring into a channel.
const maxAround = 10

func (lookAround) run(ctx context.Context, c *Commands, call call) (Reply, error) {
	if _, err := c.incident(call.Room); err != nil {
		return Reply{}, err
	}
	all, down := c.targets.all(ctx)
	var out []drift.TargetInfo
	for _, t := range all {
		if t.Sync != "Synced" && c.allow(ctx, call.by, access.See, t) == nil {
			out = append(out, t)
		}
	}
	var said []string
	for _, t := range out[:min(len(out), maxAround)] {
		if _, _, err := c.open(call, t.Target, mint(call, t.String())); err != nil {
			if fault.Of(err) == fault.Internal {
				return Reply{}, err
			}
			said = append(said, fault.Say(err, string(call.Delivery.ID)))
		}
	}
	m := card.Answer(strings.Join(append([]string{around(out, down)}, said...), "\n"))
	return Reply{Ephemeral: &m}, nil
}

// around says what a look at everything did, and what it did not.
func around(out []drift.TargetInfo, down []string) string {
	text := "Of the targets that you may see, none is out of sync."
	if len(out) > 0 {
		names := make([]string, 0, len(out))
		for _, t := range out[:min(len(out), maxAround)] {
			names = append(names, t.Name)
		}
		text = fmt.Sprintf("Out of sync: %d. Looking at %s.", len(out), strings.Join(names, ", "))
	}
	if n := len(out) - maxAround; n > 0 {
		text += fmt.Sprintf(" %d more are left out; name them one by one.", n)
	}
	if len(down) > 0 {
		text += " Argo CD can't be reached in " + strings.Join(down, ", ") + "."
	}
	return text + " Fields that were added by hand show in a look at one target alone: Argo CD calls such a target Synced."
}

func (t takeTo) run(_ context.Context, c *Commands, call call) (Reply, error) {
	if t.fields != "" {
		return c.takePart(call, t)
	}
	return c.takeUp(call, t.book, state.Decision{Reason: t.reason})
}

// visibleRuns are those of an incident that somebody may see.
func (c *Commands) visibleRuns(ctx context.Context, in state.Incident, who asker) ([]state.Reconciliation, error) {
	runs, err := c.DB.OfIncident(in.ID)
	return slices.DeleteFunc(runs, func(r state.Reconciliation) bool {
		t, err := ofRun(r)
		return err != nil || c.allow(ctx, who, access.See, t) != nil
	}), err
}
