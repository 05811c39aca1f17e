package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"reconcilebot/commands/access"
	"reconcilebot/commands/card"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
	"reconcilebot/state"
)

// clicked is a click or a submission of which everything was looked up anew:
// nothing that a button or a modal carries is believed.
type clicked struct {
	by     asker
	run    state.Reconciliation
	target drift.TargetInfo
	// digest is that of what was shown, flag what the button says besides.
	digest, flag string
}

// click answers a button.
func (c *Commands) click(ctx context.Context, req Request) (Reply, error) {
	// Several buttons of one card that do the same are numbered: Slack wants
	// each to have a name of its own.
	req.Action, _, _ = strings.Cut(req.Action, "/")
	need, ok := rightsOf()[req.Action]
	if !ok {
		return Reply{}, fault.New(fault.Invalid, "This button is from an older version and does nothing any more. Use the newest card, or /reconcile drift.")
	}
	k, err := c.clicked(ctx, req, req.Value, need)
	if err != nil {
		return Reply{}, err
	}
	switch req.Action {
	case card.ActionDiff, card.ActionDiffBack, card.ActionDiffFile:
		return c.diff(k, req.Action)
	case card.ActionAdopt:
		return c.askWhy(k, book.Adopt)
	case card.ActionRevert:
		return c.askWhy(k, book.Revert)
	case card.ActionFields:
		return c.askFields(k)
	case card.ActionRollback:
		return c.askRollback(k)
	case card.ActionDecline:
		return c.askNo(k)
	case card.ActionApprove:
		return c.approve(ctx, k)
	case card.ActionOverride:
		return c.askOverride(k)
	case card.ActionReview:
		return c.askFinding(k)
	case card.ActionPause:
		return c.askPause(k)
	case card.ActionExtend, card.ActionResume, card.ActionLook:
		return c.clickedPause(ctx, k, req)
	case card.ActionAccept:
		return c.accept(ctx, k)
	case card.ActionLeave:
		_, err = c.Engine.Leave(k.run.ID, k.by.Person)
	case card.ActionAgain:
		_, err = c.Engine.Again(k.run.ID, k.by.Person)
	case card.ActionRetry:
		_, err = c.Engine.Retry(k.run.ID, k.by.Person)
	}
	return Reply{}, err
}

// rightsOf says what each button takes. A plan may be declined by whoever may
// decide, too: saying no can do no harm.
func rightsOf() map[string][]access.Right {
	return map[string][]access.Right{
		card.ActionAdopt:  {access.Decide},
		card.ActionRevert: {access.Decide},
		card.ActionFields: {access.Decide},

		card.ActionRollback: {access.Decide},

		card.ActionLeave:   {access.Decide},
		card.ActionAgain:   {access.Decide},
		card.ActionRetry:   {access.Decide},
		card.ActionAccept:  {access.Decide},
		card.ActionPause:   {access.Pause},
		card.ActionExtend:  {access.Pause},
		card.ActionResume:  {access.Pause},
		card.ActionLook:    {access.See},
		card.ActionApprove: {access.Approve},
		card.ActionDecline: {access.Approve, access.Decide},

		card.ActionOverride: {access.Override},
		card.ActionReview:   {access.Approve},

		card.ActionDiff:     {access.See},
		card.ActionDiffBack: {access.See},
		card.ActionDiffFile: {access.See},
	}
}

// clicked looks everything up and checks one of the rights.
func (c *Commands) clicked(ctx context.Context, req Request, carried string, need []access.Right) (k clicked, err error) {
	id, digest, flag := card.Carried(carried)
	k.digest, k.flag = digest, flag
	k.run, err = c.DB.Reconciliation(id)
	if errors.Is(err, state.ErrNotFound) {
		return k, fault.New(fault.Invalid, "This card belongs to nothing that I know. Start anew with /reconcile drift.")
	}
	if err != nil {
		return k, err
	}
	// A card can be forwarded; what counts is where the incident is.
	if req.Room != "" && req.Room != k.run.Room {
		return k, fault.New(fault.Denied, "This works in the incident's own channel only. Go there.")
	}
	req.Room = k.run.Room
	if k.by, err = c.authenticate(ctx, req); err != nil {
		return k, err
	}
	if k.target, err = ofRun(k.run); err != nil {
		return k, err
	}
	for _, r := range need {
		if err = c.judge(ctx, rightTo(r, k.run, k.target, k.by.Person)); err == nil {
			break
		}
	}
	return k, err
}

// accept agrees to what a merge undoes in another target. It takes the right to
// decide about that one, too.
func (c *Commands) accept(ctx context.Context, k clicked) (Reply, error) {
	other, err := drift.ParseTarget(k.flag)
	if err != nil {
		return Reply{}, fault.New(fault.Invalid, "This button belongs to nothing that I know. Use the newest card.")
	}
	if err := c.allow(ctx, k.by, access.Decide, drift.TargetInfo{Target: other}); err != nil {
		return Reply{}, err
	}
	_, err = c.Engine.Accept(k.run.ID, state.Acceptance{Target: k.flag, Digest: k.digest, By: k.by.Person})
	return Reply{}, err
}

// stale has the card drawn again, and says so.
func (c *Commands) stale(r state.Reconciliation, say string) error {
	if err := c.DB.Redraw(r.ID); err != nil {
		return err
	}
	return fault.New(fault.Conflict, say)
}

// undecided checks that what was shown is still what is to be decided.
func (c *Commands) undecided(k clicked) error {
	seen, looked := book.SeenIn(k.run)
	switch {
	case k.run.IsClosed():
		return c.stale(k.run, "This reconciliation has ended. Start a new one with /reconcile drift.")
	case k.run.Decided():
		return c.stale(k.run, fmt.Sprintf("%s already chose to %s this, at %s.", k.run.Decision.By.Name, k.run.Book, k.run.Decision.At.Format("15:04 UTC")))
	case !looked || seen.Drift.Digest != k.digest:
		return c.stale(k.run, "What differs changed since this card was drawn. Look at the card again and decide there.")
	}
	return nil
}

// askWhy opens the modal that asks for the reason of a decision.
func (c *Commands) askWhy(k clicked, b state.BookName) (Reply, error) {
	if err := c.undecided(k); err != nil {
		return Reply{}, err
	}
	q := card.Question{
		Title: "Adopt into Git", Submit: "Make the plan",
		About:   fmt.Sprintf("Takes what was changed by hand in %s into Git. Somebody else approves the plan before anything happens.", k.target.Short()),
		Label:   "Why was Git bypassed?",
		Hint:    "Goes to those who approve, into the pull request and into the record.",
		Example: "The checkout queue was backing up and there was no time for a pull request",
		Carried: card.Carry(k.run.ID, k.digest, string(b)),
	}
	if b == book.Revert {
		q.Title = "Revert cluster"
		q.About = fmt.Sprintf("Puts %s back to what Git says. Somebody else approves the plan before anything happens.", k.target.Short())
		q.Label = "Why is the change undone?"
		q.Hint = "Goes to those who approve, and into the record."
		q.Example = "The spike is over and the change is not needed any more"
	}
	return Reply{Modal: card.AskReason(q)}, nil
}

// askNo opens the modal that asks why a plan is declined.
func (c *Commands) askNo(k clicked) (Reply, error) {
	if err := c.votable(k); err != nil {
		return Reply{}, err
	}
	return Reply{Modal: card.AskReason(card.Question{
		Title: "Decline the plan", Submit: "Decline",
		About:   fmt.Sprintf("Nothing is changed in %s, and those who asked see why.", k.target.Short()),
		Label:   "Why not?",
		Hint:    "Goes into the thread and into the record.",
		Example: "Six replicas do not fit the quota; take four",
		Carried: card.Carry(k.run.ID, k.digest, card.ActionDecline),
	})}, nil
}

// votable checks that what was shown is still what is voted on.
func (c *Commands) votable(k clicked) error {
	ballot, open := c.Engine.Ballot(k.run)
	switch {
	case !open:
		return c.stale(k.run, "There is nothing to vote on here any more. The card shows how it stands.")
	case ballot.Digest != k.digest:
		return c.stale(k.run, "The plan changed since this card was drawn. Look at the new card and vote there.")
	}
	return nil
}

// voted tells whether this very vote was counted: a click may be handled
// twice, and pressed twice.
func (k clicked) voted(yes bool) bool {
	return slices.ContainsFunc(k.run.Standing(k.digest), func(v state.Vote) bool { return v.Yes == yes && v.By.Is(k.by.Person) })
}

func (c *Commands) approve(ctx context.Context, k clicked) (Reply, error) {
	if k.voted(true) {
		return Reply{}, nil
	}
	if err := c.votable(k); err != nil {
		return Reply{}, err
	}
	if err := c.mayApprove(ctx, k); err != nil {
		return Reply{}, err
	}
	_, err := c.Engine.Vote(k.run.ID, state.Vote{By: k.by.Person, Yes: true, Digest: k.digest, NotMine: k.flag == card.FlagNotMine})
	return Reply{}, err
}
