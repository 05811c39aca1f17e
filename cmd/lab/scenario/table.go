package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"reconcilebot/bot/slacksim"
	"reconcilebot/cmd/lab/world"
)

// all is the table of scenarios.
func all() []Scenario {
	return slices.Concat(driftScenarios(), speakScenarios(), []Scenario{
		{Name: "scaled-adopt", Does: "a manual scale becomes an approved, merged pull request", play: scaledAdopt},
		{Name: "scaled-revert", Does: "a manual scale is undone by a sync", play: scaledRevert},
		{Name: "scaled-again-after-adopt", Does: "the next manual scale is seen and stands until somebody decides", play: scaledAgain},
		{Name: "writeback-helm", Does: "a manual scale of what a Helm chart makes becomes a pull request for its values file", Chart: true, play: scaledHelm},
		{Name: "author-cannot-approve", Does: "who made the change cannot approve it", play: authorCannotApprove},
		{Name: "guest-cannot-approve", Does: "a guest can neither ask nor approve", play: guestCannotApprove},
		{Name: "deploy-applies", Does: "the API server takes deploy/base, whose rights are enough and not too many", play: deployApplies},
		{Name: "killed-between-approval-and-merge", Does: "the bot dies while the pull request is open", Alone: true, play: killedBeforeMerge},
		{Name: "killed-between-push-and-pull-request", Does: "the bot dies with the branch pushed", Alone: true, play: killedBeforePull},
		{Name: "argocd-down-then-back", Does: "Argo CD is away when the bot wants to look", Alone: true, play: argocdAway},
	}, forgeScenarios(), slackScenarios(), ticketScenarios(), pauseScenarios(), changeScenarios(), fieldScenarios(), rollbackScenarios(), policyScenarios())
}

func scaledAdopt(t *story) {
	t.toPull()
	t.reviewed()
	t.adopted()
}

// scaledHelm is scaledAdopt for an Application of which Git has no manifest:
// the number is a value of a chart.
func scaledHelm(t *story) {
	t.scaled()
	t.drifts()
	t.asks()
	t.found()
	t.adopts()
	t.approves()
	t.proposed()
	t.reviewed()
	t.merged()
	t.recorded("adopted into Git", reason, "carol")
	t.do("cluster and Git agree", func(ctx context.Context) error {
		want := strings.Replace(t.world.Text(), "replicaCount: 3", "replicaCount: 6", 1)
		return errors.Join(t.replicas(ctx, 6), t.inGit(ctx, want), t.spent())
	})
}

// scaledAgain scales a second time. With self-heal off that has to stand, which
// it does only if the merged commit was synced.
func scaledAgain(t *story) {
	scaledAdopt(t)
	t.do("kubectl scale, again", func(ctx context.Context) error {
		return t.kubectl(ctx, world.OnCall, "scale", "deployment/"+t.world.App, "--replicas=5")
	})
	t.drifts()
	t.asks()
	t.further++
	t.do("card, again", func(ctx context.Context) error {
		_, err := t.see(ctx, "the card with the second change", func(m slacksim.Message) bool {
			_, adopt := m.Button("Adopt into Git")
			return adopt && has(m, t.world.App, "6 → 5", "alice@example.com")
		})
		return err
	})
	t.do("the second change stands", func(ctx context.Context) error { return t.replicas(ctx, 5) })
}

func scaledRevert(t *story) {
	t.scaled()
	t.drifts()
	t.asks()
	t.found()
	t.reverts()
	t.approves()
	t.do("synced", func(ctx context.Context) error { return t.replicas(ctx, 3) })
	t.recorded("reverted to Git", "the queue is empty again")
	t.do("cluster and Git agree", func(ctx context.Context) error {
		if err := t.replicas(ctx, 3); err != nil {
			return err
		}
		return errors.Join(t.inGit(ctx, t.world.Text()), t.spent())
	})
}

func authorCannotApprove(t *story) {
	t.scaled()
	t.drifts()
	t.asks()
	t.found()
	t.adopts()
	t.do("the author is refused", func(ctx context.Context) error {
		if err := t.press(ctx, world.OnCall, "Approve"); err != nil {
			return err
		}
		return t.told(ctx, world.OnCall, "the refusal, with its reason", "can't approve this", "you")
	})
	t.untouched()
	t.approves() // another person's yes is still taken
	t.proposed()
}

func guestCannotApprove(t *story) {
	t.scaled()
	t.drifts()
	t.asks()
	t.found()
	t.adopts()
	t.do("the guest is refused", func(ctx context.Context) error {
		if err := t.press(ctx, world.Guest, "Approve"); err != nil {
			return err
		}
		return t.told(ctx, world.Guest, "the refusal, with its reason", "can't", "guest")
	})
	t.untouched()
	t.do("the guest's command is refused", func(ctx context.Context) error {
		if _, err := t.as(world.Guest).Slash(ctx, "/reconcile revert "+t.world.App+" because I want to"); err != nil {
			return err
		}
		return t.told(ctx, world.Guest, "the refusal, with its reason", "guest")
	})
}

// untouched checks that a refused approval had no effect.
func (t *story) untouched() {
	t.do("nothing happened", func(ctx context.Context) error {
		if n := len(t.rig.Git.Pulls(t.world)); n != 0 {
			return fmt.Errorf("%d pull requests were opened", n)
		}
		return t.replicas(ctx, 6)
	})
}

func killedBeforeMerge(t *story) {
	t.scaled()
	t.drifts()
	t.asks()
	t.found()
	t.adopts()
	t.approves()
	t.proposed()
	t.do("kill -9", func(context.Context) error { t.rig.KillBot(); return nil })
	t.reviewed() // while nobody is there to merge
	t.do("start again", t.rig.Bot.Start)
	t.adopted()
}

func killedBeforePull(t *story) {
	t.scaled()
	t.drifts()
	t.asks()
	t.found()
	t.adopts()
	held := t.rig.Git.HoldPull(t.world)
	defer held.Release()
	t.approves()
	t.pushed()
	t.do("pull request asked for", func(ctx context.Context) error {
		select {
		case <-held.Arrived():
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	t.do("kill -9", func(context.Context) error {
		t.rig.KillBot()
		held.Drop()
		return nil
	})
	t.do("start again", t.rig.Bot.Start)
	t.proposed()
	t.reviewed()
	t.adopted()
}

func argocdAway(t *story) {
	t.do("status", func(ctx context.Context) error {
		if _, err := t.as(world.OnCall).Slash(ctx, "/reconcile status "+t.world.App); err != nil {
			return err
		}
		return t.told(ctx, world.OnCall, "the status", t.world.App, "Synced")
	})
	t.scaled()
	t.drifts()
	t.do("Argo CD stops", func(context.Context) error { t.rig.Argo.Stop(); return nil })
	t.asks()
	t.do("the bot says so", func(ctx context.Context) error {
		var err error
		t.card, err = t.see(ctx, "that Argo CD is away", func(m slacksim.Message) bool { return has(m, t.world.App, "Argo CD, which can't be reached") })
		return err
	})
	t.do("Argo CD starts", t.rig.Argo.Start)
	t.found()
	t.adopts()
	t.approves()
	t.proposed()
	t.reviewed()
	t.adopted()
}
