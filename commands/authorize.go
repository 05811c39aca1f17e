package commands

import (
	"context"
	"errors"
	"fmt"
	"time"

	"reconcilebot/commands/access"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
	"reconcilebot/state"
)

// asker is somebody whose identity was checked just now.
type asker struct{ state.Person }

// authenticate checks who asks and where, from the workspace's own answers.
// Whatever can't be looked up is refused.
func (c *Commands) authenticate(ctx context.Context, req Request) (asker, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 10*time.Second, errors.New("the workspace takes too long to say who somebody is"))
	defer cancel()
	if err := access.Claimed(req.User, req.Team, c.Team).Err(); err != nil {
		return asker{}, err
	}
	m, err := c.Directory.Member(ctx, req.User, req.Team)
	if err != nil {
		return asker{}, &fault.Error{Kind: fault.Unavailable, Err: fmt.Errorf("look up member %s: %w", req.User, err),
			Say: "I can't check who you are: Slack does not answer. Nothing was done. Try again in a minute."}
	}
	if err := access.Account(m, req.User, c.Team).Err(); err != nil {
		return asker{}, err
	}
	room, err := c.Directory.Room(ctx, string(req.Room))
	if err != nil {
		return asker{}, &fault.Error{Kind: fault.Unavailable, Err: fmt.Errorf("look up channel %s: %w", req.Room, err),
			Say: "I can't look this channel up, so I do nothing here. If I am not in it, invite me with /invite @reconcile and try again."}
	}
	if err := access.Channel(room).Err(); err != nil {
		return asker{}, err
	}
	who, _ := c.Access.Person(m)
	return asker{who}, nil
}

// allow asks the policy for a right on a target.
func (c *Commands) allow(ctx context.Context, who asker, what access.Right, t drift.TargetInfo) error {
	return c.judge(ctx, access.Question{Who: who.Person, Right: what, Target: t})
}

// sees tells of each target whether somebody may see it.
func (c *Commands) sees(ctx context.Context, who asker) func(drift.TargetInfo) bool {
	return func(t drift.TargetInfo) bool { return c.allow(ctx, who, access.See, t) == nil }
}

// judge asks the policy, which may have to read lists that others keep.
func (c *Commands) judge(ctx context.Context, q access.Question) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 10*time.Second, errors.New("it takes too long to read who is in a group"))
	defer cancel()
	return c.Access.Judge(ctx, q).Err()
}

// ofRun is the target of a reconciliation, as its last look found it. Until
// there is one, nothing is known of where its Git is.
func ofRun(r state.Reconciliation) (drift.TargetInfo, error) {
	t, err := drift.ParseTarget(r.Target)
	if err != nil {
		return drift.TargetInfo{}, err
	}
	info := drift.TargetInfo{Target: t}
	seen, ok := book.SeenIn(r)
	if look, paused := book.InspectedIn(r); paused {
		seen.Drift, ok = look.Before, true
	}
	if ok {
		d := seen.Drift
		info.RepoURL, info.Path, info.TargetRevision = d.RepoURL, d.Path, d.TargetRevision
	}
	return info, nil
}

// mayApprove asks the policy about a yes to the plan of a reconciliation. The
// engine refuses once more who asked for it and who made the change.
func (c *Commands) mayApprove(ctx context.Context, k clicked) error {
	return c.judge(ctx, approving(k.run, k.target, k.by.Person))
}
