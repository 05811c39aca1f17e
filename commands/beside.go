package commands

import (
	"strings"

	"reconcilebot/commands/card"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/forge"
	"reconcilebot/state"
)

// beside finds the other targets on the same branch of which open drift is
// known: those that are being dealt with. Nobody has looked at the others.
func (c *Commands) beside(r state.Reconciliation) (list []card.Beside) {
	mine, ok := book.SeenIn(r)
	if !ok || r.IsClosed() || mine.Drift.RepoURL == "" {
		return nil
	}
	open, err := c.DB.Unclosed()
	if err != nil {
		c.Log.Warn("what else is open can't be read", "run", r.ID, "err", err)
	}
	for _, other := range open {
		seen, ok := book.SeenIn(other)
		d := seen.Drift
		if !ok || other.ID == r.ID || len(d.Changes) == 0 || !sameRepository(d.RepoURL, mine.Drift.RepoURL) || d.TargetRevision != mine.Drift.TargetRevision {
			continue
		}
		list = append(list, card.Beside{Target: d.Target, Changes: len(d.Changes), Elsewhere: other.Room != r.Room})
	}
	return list
}

// sameRepository tells whether two addresses are of one repository, in
// whatever form.
func sameRepository(a, b string) bool {
	one, err := forge.ParseRepo(a)
	other, err2 := forge.ParseRepo(b)
	return a == b || err == nil && err2 == nil && strings.EqualFold(one.String(), other.String())
}
