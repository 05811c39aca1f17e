package commands

import (
	"context"
	"errors"
	"fmt"
	"time"

	"reconcilebot/commands/card"
	"reconcilebot/runbook/fault"
	"reconcilebot/state"
)

// override wants to go on without the approval that is asked for.
type override struct{ target, reason string }

const overrideExample = "override payments-web because checkout is down and nobody who may approve answers"

func parseOverride(w words) (act, error) {
	if len(w.list) != 1 {
		return nil, usage("override TARGET because …", overrideExample)
	}
	if w.reason == "" {
		return nil, fault.New(fault.Invalid, "Say why this can't wait for an approval. For example: /reconcile "+overrideExample)
	}
	return override{w.list[0], w.reason}, nil
}

func (o override) about() string { return o.target }

func (o override) run(_ context.Context, c *Commands, call call) (Reply, error) {
	r, err := c.DB.Holding(call.on.Target.String())
	if errors.Is(err, state.ErrNotFound) {
		return Reply{}, fault.New(fault.Invalid, fmt.Sprintf("Nothing waits for an approval for %s. /reconcile adopt or revert makes a plan first.", call.on.Name))
	}
	if err != nil {
		return Reply{}, err
	}
	if r.Room != call.Room {
		return Reply{}, fault.New(fault.Denied, fmt.Sprintf("%s is being dealt with in another channel, for %s. Override it there, where those who are asked can see it.", call.on.Name, r.Incident))
	}
	ballot, _ := c.Engine.Ballot(r)
	return c.overridden(clicked{by: call.by, run: r, target: call.on.TargetInfo, digest: ballot.Digest}, o.reason)
}

// askOverride opens the modal that asks why there is no time for an approval.
func (c *Commands) askOverride(k clicked) (Reply, error) {
	if err := c.votable(k); err != nil {
		return Reply{}, err
	}
	return Reply{Modal: card.AskReason(card.Question{
		Title: "Override approval", Submit: "Go on without",
		About:   fmt.Sprintf("Carries out the plan for %s without the approval that is asked for. The channel is told, it is written into the record, and somebody else has to review it afterwards. The Git host's own rules still hold.", k.target.Short()),
		Label:   "Why can't this wait for an approval?",
		Hint:    "Goes to the channel, into the pull request and into the record.",
		Example: "Checkout is down and nobody who may approve answers",
		Carried: card.Carry(k.run.ID, k.digest, card.ActionOverride),
	})}, nil
}

// overridden goes on without the approval, at somebody's word.
func (c *Commands) overridden(k clicked, reason string) (Reply, error) {
	for _, v := range k.run.Standing(k.digest) {
		if v.Override && v.By.Is(k.by.Person) {
			return Reply{}, nil // the same act again
		}
	}
	if err := c.votable(k); err != nil {
		return Reply{}, err
	}
	_, err := c.Engine.Vote(k.run.ID, state.Vote{By: k.by.Person, Yes: true, Override: true, Reason: reason, Digest: k.digest})
	return Reply{}, err
}

// askFinding opens the modal in which somebody else reviews an override.
func (c *Commands) askFinding(k clicked) (Reply, error) {
	if !k.run.Review.Open() {
		return Reply{}, c.stale(k.run, "There is nothing to review here any more. The card shows how it stands.")
	}
	return Reply{Modal: card.AskReason(card.Question{
		Title: "Review the override", Submit: "Close the review",
		About:   fmt.Sprintf("The plan for %s went on without the approval that is asked for. Look at what was done and why; what you find goes into the record.", k.target.Short()),
		Label:   "What did you find?",
		Hint:    "Whether it was right to go on, and what is left to do.",
		Example: "Right to go on: checkout was down. The quota is raised in a pull request of its own",
		Carried: card.Carry(k.run.ID, k.digest, card.ActionReview),
	})}, nil
}

// reviewed closes the review, at the word of somebody who could have approved.
func (c *Commands) reviewed(ctx context.Context, k clicked, req Request) (Reply, error) {
	if err := c.mayApprove(ctx, k); err != nil {
		return Reply{}, err
	}
	_, err := c.Engine.Review(k.run.ID, k.by.Person, why(req.View), req.Delivery.ID)
	return Reply{}, err
}

// Reviews are asked for again this often while they are open, and looked for
// that often.
const (
	reviewAgain = 24 * time.Hour
	reviewLook  = 10 * time.Minute
)

// Remind asks again and again for the reviews that nobody has done, until ctx
// ends.
func (c *Commands) Remind(ctx context.Context) error {
	tick := time.NewTicker(reviewLook)
	defer tick.Stop()
	for {
		if err := c.remind(); err != nil {
			c.Log.Error("open reviews were not asked for again", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (c *Commands) remind() error {
	open, err := c.DB.OpenReviews()
	for _, r := range open {
		last := r.Review.Since
		if r.Review.Asked.After(last) {
			last = r.Review.Asked
		}
		if c.Now().Sub(last) < reviewAgain {
			continue
		}
		_, wrong := c.DB.ChangeReview(r.ID, func(r state.Reconciliation, now time.Time) (state.Review, []state.Said, error) {
			if !r.Review.Open() {
				return *r.Review, nil, nil
			}
			again := *r.Review
			again.Asked = now
			return again, []state.Said{{Notice: "review-open", Kind: "review-asked"}}, nil
		})
		err = errors.Join(err, wrong)
	}
	return err
}
