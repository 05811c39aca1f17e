package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"reconcilebot/commands/card"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/fault"
	"reconcilebot/state"
)

// Check validates a modal before it is acknowledged, by what it holds alone.
// It returns what is wrong by block id; empty means that it may close.
func (c *Commands) Check(req Request) map[string]string {
	if req.View.Callback != card.CallbackReason {
		return nil
	}
	text := why(req.View)
	switch n := utf8.RuneCountInString(text); {
	case n == 0:
		return map[string]string{card.BlockReason: "Say why, in a few words."}
	case n > card.MaxReason:
		return map[string]string{card.BlockReason: fmt.Sprintf("%d characters too long.", n-card.MaxReason)}
	}
	if _, asked := req.View.Values[card.BlockLength]; asked {
		if _, err := length(lasts(req.View)); err != nil {
			return map[string]string{card.BlockLength: fault.Say(err, "")}
		}
	}
	return nil
}

// why is the reason that was typed, as one sentence in which everything can
// be seen. What is typed into a modal comes without Slack's escapes.
func why(v View) string {
	return strings.Join(strings.Fields(visible(spaces(v.Values[card.BlockReason]))), " ")
}

// submit answers a modal. Rights are checked once more: they may have been
// taken away since it was opened.
func (c *Commands) submit(ctx context.Context, req Request) (Reply, error) {
	if req.View.Callback != card.CallbackReason {
		return Reply{}, fault.New(fault.Invalid, "This form is from an older version and does nothing any more. Use the newest card.")
	}
	for _, wrong := range c.Check(req) {
		return Reply{}, fault.New(fault.Invalid, wrong)
	}
	_, _, what := card.Carried(req.View.Metadata)
	need, ok := rightsOf()[what]
	if !ok {
		return Reply{}, fault.New(fault.Invalid, "This form is from an older version and does nothing any more. Use the newest card.")
	}
	k, err := c.clicked(ctx, req, req.View.Metadata, need)
	if err != nil {
		return Reply{}, err
	}
	switch what {
	case string(book.Adopt), string(book.Revert):
		return c.decided(k, req, state.BookName(what))
	case card.ActionFields:
		return c.decidedFields(k, req)
	case card.ActionRollback:
		return c.rolledBack(ctx, k, req)
	case card.ActionDecline:
		return c.declined(k, req)
	case card.ActionOverride:
		return c.overridden(k, why(req.View))
	case card.ActionReview:
		return c.reviewed(ctx, k, req)
	case card.ActionPause:
		return c.paused(ctx, k, req)
	}
	return Reply{}, fault.New(fault.Invalid, "This form can't do that.")
}

func (c *Commands) decided(k clicked, req Request, b state.BookName) (Reply, error) {
	return c.decide(k, req, b, nil)
}

// decide takes the decision of a form. The same form sent twice is no second
// decision.
func (c *Commands) decide(k clicked, req Request, b state.BookName, choice json.RawMessage) (Reply, error) {
	if k.run.Decision.Delivery != req.Delivery.ID || !k.run.Decided() {
		if err := c.undecided(k); err != nil {
			return Reply{}, err
		}
	}
	_, err := c.Engine.Decide(k.run.ID, b, state.Decision{By: k.by.Person, Reason: why(req.View), Choice: choice, Delivery: req.Delivery.ID})
	return Reply{}, err
}

// declined says no, and why.
func (c *Commands) declined(k clicked, req Request) (Reply, error) {
	if k.voted(false) {
		return Reply{}, nil
	}
	if err := c.votable(k); err != nil {
		return Reply{}, err
	}
	_, err := c.Engine.Vote(k.run.ID, state.Vote{By: k.by.Person, Digest: k.digest, Reason: why(req.View)})
	return Reply{}, err
}
