package commands

import (
	"strconv"

	"reconcilebot/commands/card"
	"reconcilebot/runbook/book"
)

// diff shows a page of the full diff of the plan that the button belongs to,
// before there is one of all that differs, or puts the whole into the thread.
func (c *Commands) diff(k clicked, action string) (Reply, error) {
	plan, planned := book.PlanIn(k.run)
	seen, looked := book.SeenIn(k.run)
	switch {
	case planned && plan.Digest != k.digest:
		return Reply{}, c.stale(k.run, "The plan changed since this card was drawn. Look at the new card; its diff is there.")
	case !planned && (!looked || seen.Drift.Digest != k.digest):
		return Reply{}, c.stale(k.run, "What differs changed since this card was drawn. Look at the card again.")
	}
	page, err := strconv.Atoi(k.flag)
	if err != nil {
		page = 0
	}
	f := c.facts(k.run)
	if action != card.ActionDiffFile {
		return Reply{Modal: card.Diff(f, page, false)}, nil
	}
	return Reply{Modal: card.Diff(f, page, true), File: &ThreadFile{File: card.DiffFile(f), Run: k.run.ID, Room: k.run.Room}}, nil
}
