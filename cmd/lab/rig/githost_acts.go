package rig

import (
	"fmt"
	"time"

	"reconcilebot/cmd/lab/world"
	"reconcilebot/runbook/forge/githubsim"
)

// What people and GitHub itself can do on the Git host beside the bot.

// Protect sets what the main branch of a world asks for.
func (g *GitHost) Protect(w world.World, p githubsim.Protection) error {
	return g.sim.Protect(fullName(w), "main", p)
}

// Demand sets what a ruleset asks of the bot's own branches in a world.
func (g *GitHost) Demand(w world.World, d githubsim.Demand) error {
	return g.sim.Demand(fullName(w), "reconcile/", d)
}

// Conclude ends a check of a pull request's head: "success" or "failure".
func (g *GitHost) Conclude(w world.World, pull int, check, conclusion string) error {
	p, err := g.pull(w, pull)
	if err != nil {
		return err
	}
	return g.sim.SetCheck(fullName(w), p.HeadSHA, check, conclusion)
}

// Close closes a pull request without a merge.
func (g *GitHost) Close(w world.World, pull int) error { return g.sim.ClosePull(fullName(w), pull) }

// Merge merges a pull request as somebody.
func (g *GitHost) Merge(w world.World, pull int, login string) error {
	return g.sim.MergePull(fullName(w), pull, login, "squash")
}

// DeleteBranch deletes the branch of a pull request.
func (g *GitHost) DeleteBranch(w world.World, pull int) error {
	p, err := g.pull(w, pull)
	if err != nil {
		return err
	}
	return g.sim.DeleteBranch(fullName(w), p.Head)
}

// RevokeTokens ends all tokens of the bot's App at once; Minted is how many it
// ever got.
func (g *GitHost) RevokeTokens() { g.sim.RevokeTokens() }

// Minted is how many tokens the bot's App ever got.
func (g *GitHost) Minted() int { return g.sim.Minted() }

// Limit makes the host refuse all requests for a while, as one whose hour's
// allowance is used up.
func (g *GitHost) Limit(d time.Duration) { g.sim.SetLimited(time.Now().Add(d)) }

// Verified tells whether GitHub marks the head of a pull request as verified.
func (g *GitHost) Verified(w world.World, pull int) error {
	p, err := g.pull(w, pull)
	if err != nil {
		return err
	}
	if good, why := g.sim.Verified(fullName(w), p.HeadSHA); !good {
		return fmt.Errorf("commit %s is not verified: %s", p.HeadSHA, why)
	}
	return nil
}

func (g *GitHost) pull(w world.World, number int) (githubsim.Pull, error) {
	pulls := g.Pulls(w)
	if number < 1 || number > len(pulls) {
		return githubsim.Pull{}, fmt.Errorf("there is no pull request #%d in %s", number, fullName(w))
	}
	return pulls[number-1], nil
}
