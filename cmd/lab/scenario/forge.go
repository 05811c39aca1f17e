package scenario

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"reconcilebot/bot/slacksim"
	"reconcilebot/cmd/lab/world"
	"reconcilebot/runbook/forge/githubsim"
)

// forgeScenarios are about the Git host: its rules, and what else happens there.
func forgeScenarios() []Scenario {
	return []Scenario{
		{Name: "forge-signed-commits", Does: "a repository that takes verified commits only gets them", play: forgeSigned},
		{Name: "forge-two-reviews", Does: "two reviews are asked for, and waited for, before the merge", play: forgeTwoReviews},
		{Name: "forge-failing-check", Does: "a check that fails is named with its address, and passing later goes on", play: forgeFailingCheck},
		{Name: "forge-rule-that-cannot-be-met", Does: "a locked branch is told before anybody votes, and nothing is pushed", play: forgeLocked},
		{Name: "forge-merged-by-somebody-else", Does: "a merge by a person counts as well", play: forgeMergedByPerson},
		{Name: "forge-closed-unmerged", Does: "a pull request that is closed ends in words about what to do", play: forgeClosed},
		{Name: "forge-branch-deleted", Does: "a branch that is deleted ends in words about what to do", play: forgeBranchDeleted},
		{Name: "forge-base-changed-in-the-same-place", Does: "a change on main in the same place ends the pull request; nothing of it is lost", play: forgeConflict},
		{Name: "forge-app-tokens-revoked", Does: "all of the App's tokens end in the middle, and nobody notices", Alone: true, play: forgeTokens},
		{Name: "forge-rate-limit", Does: "the hour's allowance is used up in the middle; the bot waits, and goes on by itself", Alone: true, play: forgeLimited},
		{Name: "forge-away", Does: "the Git host is away in the middle; the bot says so, and goes on by itself", Alone: true, play: forgeAway},
	}
}

// usual is what a world's main branch asks for.
var usual = githubsim.Protection{Reviews: 1, CodeOwners: true, Checks: []string{"validate"}, DismissStale: true}

// ruled changes what the main branch asks for.
func (t *story) ruled(name string, change func(*githubsim.Protection)) {
	t.do(name, func(context.Context) error {
		p := usual
		change(&p)
		return t.rig.Git.Protect(t.world, p)
	})
}

// toPull is the way to the open pull request.
func (t *story) toPull() {
	t.scaled()
	t.drifts()
	t.asks()
	t.found()
	t.adopts()
	t.approves()
	t.proposed()
}

// reads waits until the card or its thread says all of these.
func (t *story) reads(stage string, says ...string) {
	t.do(stage, func(ctx context.Context) error {
		_, err := t.see(ctx, fmt.Sprintf("words with %q", says), func(m slacksim.Message) bool { return has(m, says...) })
		return err
	})
}

func forgeSigned(t *story) {
	t.ruled("signed commits only", func(p *githubsim.Protection) { p.Signed = true })
	t.do("on every branch", func(context.Context) error { return t.rig.Git.Demand(t.world, githubsim.Demand{Signed: true}) })
	t.toPull()
	t.do("the commit is verified", func(context.Context) error { return t.rig.Git.Verified(t.world, t.pull) })
	t.reviewed()
	t.adopted()
}

func forgeTwoReviews(t *story) {
	t.ruled("two reviews", func(p *githubsim.Protection) { p.Reviews = 2 })
	t.toPull()
	t.reviewed()
	t.reads("one is missing", "waiting for a review in GitHub")
	t.do("not merged", func(context.Context) error {
		if state := t.rig.Git.Pulls(t.world)[0].State; state != "open" {
			return errors.New("the pull request is " + state)
		}
		return nil
	})
	t.do("second review", func(ctx context.Context) error { return t.rig.Git.Approve(ctx, t.world, t.pull, world.AppOwner) })
	t.adopted()
}

func forgeFailingCheck(t *story) {
	t.ruled("another check", func(p *githubsim.Protection) { p.Checks = append([]string{"policy"}, p.Checks...) })
	t.toPull()
	t.do("it fails", func(context.Context) error { return t.rig.Git.Conclude(t.world, t.pull, "policy", "failure") })
	t.reads("it is named", "a check failed: policy", "/commit/")
	t.reviewed()
	t.do("it passes", func(context.Context) error { return t.rig.Git.Conclude(t.world, t.pull, "policy", "success") })
	t.adopted()
}

func forgeLocked(t *story) {
	t.ruled("a lock", func(p *githubsim.Protection) { p.Locked = true })
	t.scaled()
	t.drifts()
	t.asks()
	t.found()
	t.do("reason", func(ctx context.Context) error {
		return t.asked(ctx, world.OnCall, "Adopt into Git", "Why was Git bypassed?", reason)
	})
	t.reads("the refusal", "the branch is locked", "nothing was pushed")
	t.do("nothing was pushed", func(context.Context) error {
		if n := t.rig.Git.Pushes(t.world); n != 0 {
			return fmt.Errorf("%d branches were pushed", n)
		}
		return nil
	})
}

func forgeMergedByPerson(t *story) {
	t.toPull()
	t.reviewed()
	t.do("carol merges, or the bot was faster", func(context.Context) error {
		err := t.rig.Git.Merge(t.world, t.pull, world.Platform)
		if t.rig.Git.Pulls(t.world)[0].State == "merged" {
			return nil
		}
		return err
	})
	t.adopted()
}

func forgeClosed(t *story) {
	t.toPull()
	t.do("closed", func(context.Context) error { return t.rig.Git.Close(t.world, t.pull) })
	t.reads("what to do", "was closed without a merge", "revert the cluster")
}

func forgeBranchDeleted(t *story) {
	t.toPull()
	t.do("deleted", func(context.Context) error { return t.rig.Git.DeleteBranch(t.world, t.pull) })
	t.reads("what to do", "was closed without a merge", "revert the cluster")
}

func forgeConflict(t *story) {
	t.toPull()
	other := map[string]string{t.world.Manifest(): strings.Replace(t.world.Text(), "replicas: 3", "replicas: 4", 1)}
	t.do("bob commits to the same line", func(context.Context) error {
		_, err := t.rig.Git.Commit(t.world, world.AppOwner, "four replicas", other)
		return err
	})
	t.reads("what to do", "conflicts with it, and was closed", "Start over")
	t.do("bob's commit stands", func(ctx context.Context) error { return t.inGit(ctx, other[t.world.Manifest()]) })
}

func forgeTokens(t *story) {
	t.toPull()
	before := t.rig.Git.Minted()
	t.do("revoked", func(context.Context) error { t.rig.Git.RevokeTokens(); return nil })
	t.reviewed()
	t.adopted()
	t.do("one new token", func(context.Context) error {
		if n := t.rig.Git.Minted() - before; n != 1 {
			return fmt.Errorf("%d tokens were made anew", n)
		}
		return nil
	})
}

func forgeLimited(t *story) {
	t.scaled()
	t.drifts()
	t.asks()
	t.found()
	t.adopts()
	t.do("used up", func(context.Context) error { t.rig.Git.Limit(4 * time.Second); return nil })
	t.approves()
	t.reads("it is told", "GitHub's rate limit")
	t.proposed()
	t.reviewed()
	t.adopted()
}

func forgeAway(t *story) {
	t.toPull()
	t.do("away", func(context.Context) error { t.rig.Git.SetDown(true); return nil })
	t.reads("it is told", "waiting for GitHub, which can't be reached")
	t.do("back", func(context.Context) error { t.rig.Git.SetDown(false); return nil })
	t.reviewed()
	t.adopted()
}
