package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
	"reconcilebot/state"
)

// right is what something takes.
type right int

// The rights, each with more than the one before.
const (
	// anyone may: it shows nothing and does nothing.
	anyone right = iota
	// member is a full member of the workspace.
	member
	see
	decide
	approve
)

func (r right) words() string {
	return [...]string{
		anyone:  "anyone",
		member:  "every full member of the workspace",
		see:     "whom the policy lets see the target",
		decide:  "whom the policy lets decide about the target",
		approve: "whom the policy lets approve for the target, except who asked and who made the change",
	}[r]
}

// asker is somebody whose identity was checked just now.
type asker struct{ state.Person }

// authenticate checks who asks and where, from the workspace's own answers.
// Whatever can't be looked up is refused.
func (c *Commands) authenticate(ctx context.Context, req Request) (asker, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 10*time.Second, errors.New("the workspace takes too long to say who somebody is"))
	defer cancel()
	if c.Team == "" || req.User == "" || req.Team != "" && req.Team != c.Team {
		return asker{}, fault.New(fault.Denied, "This is for members of the workspace that reconcilebot is installed in. Ask one of them.")
	}
	m, err := c.Directory.Member(ctx, req.User, req.Team)
	if err != nil {
		return asker{}, &fault.Error{Kind: fault.Unavailable, Err: fmt.Errorf("look up member %s: %w", req.User, err),
			Say: "I can't check who you are: Slack does not answer. Nothing was done. Try again in a minute."}
	}
	if why := unfit(m, req.User, c.Team); why != "" {
		return asker{}, fault.New(fault.Denied, "You can't do this: "+why+" Ask a full member of the workspace.")
	}
	if err := c.fitRoom(ctx, req.Room); err != nil {
		return asker{}, err
	}
	return asker{c.Access.person(m)}, nil
}

// unfit says why an account may not act; empty if it may.
func unfit(m Member, user, team string) string {
	switch {
	case m.ID != user:
		return "Slack does not know your account."
	case m.Deleted:
		return "your account is deactivated."
	case m.Bot:
		return "bots don't decide here."
	case m.Stranger, m.Team != team:
		return "your account belongs to another organisation."
	case m.Guest:
		return "guests don't decide here."
	}
	return ""
}

// fitRoom refuses channels that others can read, or that the bot can't write
// to.
func (c *Commands) fitRoom(ctx context.Context, id state.Room) error {
	room, err := c.Directory.Room(ctx, string(id))
	switch {
	case err != nil:
		return &fault.Error{Kind: fault.Unavailable, Err: fmt.Errorf("look up channel %s: %w", id, err),
			Say: "I can't look this channel up, so I do nothing here. If I am not in it, invite me with /invite @reconcile and try again."}
	case room.ExtShared:
		return fault.New(fault.Denied, "Another organisation can read this channel, so nothing about clusters is said or done here. Use a channel of this workspace alone.")
	case room.Archived:
		return fault.New(fault.Invalid, "This channel is archived. Unarchive it, or use another one.")
	case !room.IsMember:
		return fault.New(fault.Invalid, "I am not in this channel, so I can't post here. Invite me with /invite @reconcile and try again.")
	}
	return nil
}

// allow checks a right on a target, against the first rule that covers it.
func (a *Access) allow(who asker, what right, t drift.Target) error {
	rule, ok := a.rule(t)
	if !ok {
		return fault.New(fault.Denied, fmt.Sprintf("No rule of the policy covers %s, so nobody may do anything about it here. The people who run reconcilebot can add one.", t.Short()))
	}
	list, doing := rule.See, "see"
	switch what {
	case decide:
		list, doing = rule.Decide, "decide about"
	case approve:
		list, doing = rule.Approve.By, "approve for"
	}
	if a.among(who, list, what != approve) {
		return nil
	}
	return fault.New(fault.Denied, fmt.Sprintf("You can't %s %s. %s", doing, t.Short(), a.could(list)))
}

// independent refuses the yes of somebody who asked for it or who made the
// change, in the words that help; the engine refuses it once more.
func (a *Access) independent(who asker, r state.Reconciliation, t drift.Target) error {
	why := ""
	if who.Is(r.Decision.By) {
		why = "you asked for it"
	}
	plan, _ := book.PlanIn(r)
	i := slices.IndexFunc(plan.Seen.Drift.Changes, func(c drift.Change) bool { return who.Writes(c.Evidence.Person) })
	if i >= 0 {
		e := plan.Seen.Drift.Changes[i].Evidence
		source := "audit log"
		if e.Kind == drift.ByController {
			source = "Argo CD"
		}
		if !e.At.IsZero() {
			source += ", " + e.At.UTC().Format("15:04 UTC")
		}
		why = "you made the change (" + source + ")"
	}
	if why == "" {
		return nil
	}
	rule, _ := a.rule(t)
	return fault.New(fault.Denied, fmt.Sprintf("You can't approve this: %s. %s", why, a.could(rule.Approve.By)))
}
