package commands

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"reconcilebot/commands/card"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/fault"
	"reconcilebot/state"
)

// undo wants a merged commit undone, through Git: the one that is named, or
// the last one that was merged here for the target.
type undo struct{ target, commit, reason string }

const (
	undoUsage   = "rollback TARGET [COMMIT] because …"
	undoExample = "rollback payments-web because six replicas exhaust the database"
)

var commitName = regexp.MustCompile(`^[0-9a-f]{7,40}$`)

func parseRollback(w words) (act, error) {
	if len(w.list) < 1 || len(w.list) > 2 {
		return nil, usage(undoUsage, undoExample)
	}
	u := undo{target: w.list[0], reason: w.reason}
	if len(w.list) == 2 {
		if u.commit = strings.ToLower(w.list[1]); !commitName.MatchString(u.commit) {
			return nil, fault.New(fault.Invalid, fmt.Sprintf("%q is no commit. Give its SHA, at least seven digits of it, or leave it out to undo what was merged last here.", w.list[1]))
		}
	}
	if u.reason == "" {
		return nil, fault.New(fault.Invalid, "Say why, for those who approve and for the record. For example: /reconcile "+undoExample)
	}
	return u, nil
}

func (u undo) about() string { return u.target }

func (u undo) run(_ context.Context, c *Commands, call call) (Reply, error) {
	if u.commit == "" {
		last, err := c.lastMerge(call)
		if err != nil {
			return Reply{}, err
		}
		u.commit = last
	}
	return c.takeUp(call, book.Rollback, state.Decision{Reason: u.reason, Choice: book.UndoOf(u.commit)})
}

// lastMerge is the commit that was merged last for a target in this incident.
func (c *Commands) lastMerge(call call) (string, error) {
	in, err := c.incident(call.Room)
	if err != nil {
		return "", err
	}
	runs, err := c.DB.OfIncident(in.ID)
	if err != nil {
		return "", err
	}
	for i := len(runs) - 1; i >= 0; i-- {
		if m, ok := book.MergedIn(runs[i]); ok && runs[i].Target == call.on.Target.String() {
			return m.SHA, nil
		}
	}
	return "", fault.New(fault.Invalid, fmt.Sprintf("Nothing was merged for %s in %s. Name the commit: /reconcile rollback %s COMMIT because …", call.on.Name, in.ID, call.on.Name))
}

// askRollback opens the modal that asks why what was merged is undone.
func (c *Commands) askRollback(k clicked) (Reply, error) {
	if m, ok := book.MergedIn(k.run); !ok || m.SHA != k.digest {
		return Reply{}, fault.New(fault.Invalid, "This button belongs to no merge. Use the newest card.")
	}
	return Reply{Modal: card.AskReason(card.Question{
		Title: "Roll back", Submit: "Make the plan",
		About:   fmt.Sprintf("Undoes in %s what commit %s changed, by a pull request. Somebody else approves the plan before anything happens.", k.target.Short(), k.digest[:min(7, len(k.digest))]),
		Label:   "Why is it undone?",
		Hint:    "Goes to those who approve, into the pull request and into the record.",
		Example: "Six replicas exhaust the database's connections",
		Carried: card.Carry(k.run.ID, k.digest, card.ActionRollback),
	})}, nil
}

// rolledBack answers that modal.
func (c *Commands) rolledBack(ctx context.Context, k clicked, req Request) (Reply, error) {
	if m, ok := book.MergedIn(k.run); !ok || m.SHA != k.digest {
		return Reply{}, fault.New(fault.Invalid, "This form belongs to no merge. Use the newest card.")
	}
	req.Room = k.run.Room
	return undo{target: k.target.Name, commit: k.digest, reason: why(req.View)}.run(ctx, c, call{Request: req, by: k.by, on: onTarget{k.target}})
}
