package scenario

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"reconcilebot/bot/slacksim"
	"reconcilebot/cmd/lab/world"
)

// slackParentDeleted deletes the card, and with it the thread's parent, while
// the pull request waits for its review: the state and the record have to be
// seen all the same.
func slackParentDeleted(t *story) {
	t.planned()
	t.approves()
	t.proposed()
	t.do("the card is deleted", func(ctx context.Context) error { return t.deletes(ctx, t.card.TS) })
	t.reviewed()
	t.adopted()
	t.do("there is a card again", func(ctx context.Context) error {
		_, err := t.see(ctx, "a card in the channel that says how it ended", func(m slacksim.Message) bool {
			return m.TS != t.card.TS && m.ThreadTS == "" && has(m, t.world.App, "reconciled")
		})
		return err
	})
}

// slackArchivedChannel archives the channel while the pull request is open.
// The work goes on; what could not be said is said when the channel is back.
func slackArchivedChannel(t *story) {
	t.planned()
	t.approves()
	t.proposed()
	archive := func(archived bool) func(context.Context) error {
		return func(context.Context) error {
			return t.rig.Slack.SetChannel(t.world.Channel, func(c *slacksim.Channel) { c.Archived = archived })
		}
	}
	t.do("the channel is archived", archive(true))
	t.reviewed()
	t.do("the work goes on", func(ctx context.Context) error {
		return t.rig.Git.Until(ctx, "the merge", func() bool {
			for _, p := range t.rig.Git.Pulls(t.world) {
				if p.State == "merged" {
					return true
				}
			}
			return false
		})
	})
	t.do("the channel is back", archive(false))
	t.do("somebody asks", func(ctx context.Context) error {
		_, err := t.as(world.OnCall).Slash(ctx, "/reconcile status "+t.world.App)
		return err
	})
	t.adopted()
}

// slackRevokedToken revokes the bot's token in the middle of a decision. The
// connections live on another token, so clicks go on arriving.
func slackRevokedToken(t *story) {
	t.planned()
	// Whom the bot looked up a moment ago it still knows; her it has never seen.
	t.do("a new colleague", func(context.Context) error {
		err := t.rig.Slack.AddUser(slacksim.User{ID: "U0NOOR", Name: "noor", RealName: "Noor Nieuw", TeamID: t.rig.Slack.Team().ID})
		return errors.Join(err, t.as(world.OnCall).Invite("noor"))
	})
	defer t.rig.Slack.Revoke("bot", false) // for the scenarios that come after
	t.do("the token is revoked", func(context.Context) error { t.rig.Slack.Revoke("bot", true); return nil })
	t.do("a click is answered all the same", func(ctx context.Context) error {
		if err := t.press(ctx, "noor", "Approve"); err != nil {
			return err
		}
		return t.told(ctx, "noor", "that nobody can be looked up", "can't check who you are", "Nothing was done")
	})
	t.untouched()
	t.do("the token is valid again", func(context.Context) error { t.rig.Slack.Revoke("bot", false); return nil })
	t.approves()
	t.carriedOut()
}

// slackUpdateRefused has Slack refuse the card's update as it did in the wild:
// first its blocks, then its length. What counts is that nobody can vote on
// what has been decided.
// https://github.com/NousResearch/hermes-agent/pull/35495
func slackUpdateRefused(t *story) {
	t.planned()
	t.do("Slack refuses the next updates", func(context.Context) error {
		for _, code := range []string{"invalid_blocks", "msg_too_long"} {
			t.rig.Slack.Fault(slacksim.Rule{Method: "chat.update", Channel: t.world.ChannelID, Error: code, Times: 1})
		}
		return nil
	})
	t.do("approval", func(ctx context.Context) error { return t.press(ctx, world.AppOwner, "Approve") })
	t.proposed()
	t.do("the card says so and asks for nothing", func(ctx context.Context) error { return t.approvedBy(ctx, world.AppOwner) })
	t.do("the plan is carried out once", t.onePull)
	t.carriedOut()
}

// crowd is more than the bot holds in memory at a time.
const crowd = 700

// slackOverflow sends more commands at once than the bot can hold, while it
// can look nobody up. Each is answered: now, with an excuse, or when Slack is
// well again.
func slackOverflow(t *story) {
	t.further = -1 // nobody reconciles anything in it
	t.do("a new colleague", func(context.Context) error {
		err := t.rig.Slack.AddUser(slacksim.User{ID: "U0CROWD", Name: "crowd", RealName: "Chris Rowd", TeamID: t.rig.Slack.Team().ID})
		return errors.Join(err, t.as(world.OnCall).Invite("crowd"))
	})
	var excused, taken atomic.Int64
	t.do("a burst of commands", func(ctx context.Context) error {
		t.rig.Slack.Fault(slacksim.Rule{Method: "users.info", User: "U0CROWD", Delay: 8 * time.Second, Times: 1})
		defer t.rig.Slack.ClearFaults()
		acts := make([]func() error, crowd)
		for i := range acts {
			acts[i] = func() error {
				inv, err := t.as("crowd").Slash(ctx, "/reconcile incident")
				switch {
				case err != nil:
					return err
				case inv.Text != "":
					excused.Add(1)
				default:
					taken.Add(1)
				}
				return nil
			}
		}
		return atOnce(acts...)
	})
	t.do("nobody is forgotten", func(ctx context.Context) error {
		if excused.Load() == 0 {
			return fmt.Errorf("all %d commands were taken: nothing overflowed", taken.Load())
		}
		return t.rig.Slack.Wait(ctx, fmt.Sprintf("%d answers", taken.Load()), func() bool {
			return int64(t.heard("crowd", t.world.Incident)) >= taken.Load()
		})
	})
	t.do("the bot is well", func(ctx context.Context) error {
		if _, err := t.as(world.OnCall).Slash(ctx, "/reconcile help"); err != nil {
			return err
		}
		return t.told(ctx, world.OnCall, "help", "A change made by hand ends in one of two ways")
	})
}
