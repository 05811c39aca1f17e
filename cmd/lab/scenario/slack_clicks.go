package scenario

import (
	"context"
	"errors"
	"fmt"

	"reconcilebot/bot/slacksim"
	"reconcilebot/cmd/lab/world"
)

// slackStaleClick presses buttons that are on no card any more: a client that
// has not seen the edit still shows them.
func slackStaleClick(t *story) {
	t.scaled()
	t.drifts()
	t.asks()
	t.found()
	first := t.card.Versions
	t.adopts()
	plan := t.card.Versions
	t.do("a decision that is made already", func(ctx context.Context) error {
		if _, err := t.as(world.Platform).ActOnVersion(ctx, t.card.TS, first, "Revert cluster"); err != nil {
			return err
		}
		return t.told(ctx, world.Platform, "who decided, and what", "alice already chose to adopt this")
	})
	t.approves()
	t.do("a vote that is over", func(ctx context.Context) error {
		if err := t.approvedBy(ctx, world.AppOwner); err != nil {
			return err
		}
		if _, err := t.as(world.Platform).ActOnVersion(ctx, t.card.TS, plan, "Approve"); err != nil {
			return err
		}
		return t.told(ctx, world.Platform, "that the vote is over", "nothing to vote on here any more")
	})
	t.carriedOut()
}

// slackTwoPeople has two decide differently at once, then two approve at once.
func slackTwoPeople(t *story) {
	t.scaled()
	t.drifts()
	t.asks()
	t.found()
	alice, carol := t.as(world.OnCall), t.as(world.Platform)
	t.do("two modals are open", func(ctx context.Context) error {
		t.screen.Lock()
		if err := errors.Join(t.press(ctx, world.OnCall, "Adopt into Git"), t.press(ctx, world.Platform, "Revert cluster")); err != nil {
			t.screen.Unlock()
			return err
		}
		err := t.rig.Slack.Wait(ctx, "both modals", func() bool { return alice.OpenView() != nil && carol.OpenView() != nil })
		if err != nil {
			t.screen.Unlock()
		}
		return err
	})
	t.do("both are sent at once", func(ctx context.Context) error {
		defer t.screen.Unlock()
		send := func(p *slacksim.Place, label, why string) func() error {
			return func() error {
				inv, err := p.Submit(ctx, "", map[string]string{label: why})
				if err == nil && len(inv.Errors) > 0 {
					err = fmt.Errorf("the modal was refused: %v", inv.Errors)
				}
				return err
			}
		}
		return atOnce(send(alice, "Why was Git bypassed?", reason), send(carol, "Why is the change undone?", "the spike is over"))
	})
	adopted := false
	t.do("one of them holds, the other hears who was first", func(ctx context.Context) (err error) {
		t.card, err = t.see(ctx, "the plan that waits for approval", func(m slacksim.Message) bool {
			_, approve := m.Button("Approve")
			return approve && has(m, t.world.App)
		})
		if err != nil {
			return err
		}
		adopted = has(t.card, "Adopt into Git")
		if adopted {
			return t.told(ctx, world.Platform, "that alice was first", "alice already chose to adopt this")
		}
		return t.told(ctx, world.OnCall, "that carol was first", "carol already chose to revert this")
	})
	t.do("the same yes twice at once", func(ctx context.Context) error {
		yes := func() error { return t.press(ctx, world.AppOwner, "Approve") }
		if err := atOnce(yes, yes); err != nil {
			return err
		}
		return t.approvedBy(ctx, world.AppOwner)
	})
	if !adopted {
		t.do("synced", func(ctx context.Context) error { return t.replicas(ctx, 3) })
		t.recorded("reverted to Git", "the spike is over")
		return
	}
	t.carriedOut()
}

// slackExternalMember has somebody of another organisation press Approve, and
// then the application's owner while that organisation reads the channel.
func slackExternalMember(t *story) {
	t.planned()
	t.do("the stranger is refused", func(ctx context.Context) error {
		if err := t.stranger("mallory"); err != nil {
			return err
		}
		if err := t.press(ctx, "mallory", "Approve"); err != nil {
			return err
		}
		return t.told(ctx, "mallory", "the refusal, with its reason", "members of the workspace")
	})
	t.untouched()
	share := func(shared bool, event string) func(context.Context) error {
		return func(ctx context.Context) error {
			if err := t.rig.Slack.SetChannel(t.world.Channel, func(c *slacksim.Channel) { c.ExtShared = shared }); err != nil {
				return err
			}
			return t.acked(ctx, event)
		}
	}
	t.do("the channel is shared", share(true, "channel_shared"))
	t.do("nobody can approve there", func(ctx context.Context) error {
		if err := t.press(ctx, world.AppOwner, "Approve"); err != nil {
			return err
		}
		return t.told(ctx, world.AppOwner, "the refusal, with its reason", "Another organisation can read this channel")
	})
	t.untouched()
	t.do("the channel is the company's own again", share(false, "channel_unshared"))
	t.approves()
	t.carriedOut()
}

// slackLateModal sends a modal after what it is about has changed.
func slackLateModal(t *story) {
	t.scaled()
	t.drifts()
	t.asks()
	t.found()
	t.do("a modal is sent late", func(ctx context.Context) error {
		t.screen.Lock()
		defer t.screen.Unlock()
		alice, err := t.opens(ctx, world.OnCall, "Adopt into Git")
		if err != nil {
			return err
		}
		if err := t.kubectl(ctx, world.OnCall, "scale", "deployment/"+t.world.App, "--replicas=8"); err != nil {
			return err
		}
		if _, err := t.as(world.Platform).Slash(ctx, "/reconcile drift "+t.world.App); err != nil {
			return err
		}
		if _, err := t.see(ctx, "the card with what differs now", func(m slacksim.Message) bool { return m.TS == t.card.TS && has(m, "3 → 8") }); err != nil {
			return err
		}
		if _, err := alice.Submit(ctx, "", map[string]string{"Why was Git bypassed?": reason}); err != nil {
			return err
		}
		return t.told(ctx, world.OnCall, "that it is about something else now", "What differs changed since this card was drawn")
	})
	t.do("nothing is decided", func(ctx context.Context) error {
		_, err := t.see(ctx, "the card that still asks", func(m slacksim.Message) bool {
			_, adopt := m.Button("Adopt into Git")
			return m.TS == t.card.TS && adopt && has(m, "3 → 8")
		})
		if n := len(t.rig.Git.Pulls(t.world)); n != 0 {
			err = errors.Join(err, fmt.Errorf("%d pull requests were opened", n))
		}
		return err
	})
}
