package card

import (
	"reconcilebot/runbook"
	"reconcilebot/runbook/book"
	"reconcilebot/state"
)

// overrideCards are about a plan that went on without its approval, and about
// votes that were taken back.
func overrideCards() []Named {
	offered := newSample(8).decided(book.Adopt).planned()
	offered.Overridable = true
	under := overridden(10).pushed().opened().wait("merge", runbook.ForPeople, "waiting for a review in GitHub by @acme/payments", 10)
	open := ended(overridden(31))
	done := ended(overridden(31))
	done.Run.Review = &state.Review{Since: done.at(9), Done: done.at(55), By: person("carol"), Finding: "right to go on: checkout was down; the quota is raised in #415"}
	done.Now = done.at(60)
	failed := overridden(50).pushed().opened().fail("merge", "Pull request #412 was closed without a merge, so Git stays as it is and the cluster does not match it. Start over and revert the cluster, so that both agree.", 49)
	lost := newSample(14).decided(book.Adopt).planned().vote("bob", true, 9)
	lost.Run.Votes[0].Void, lost.Run.Votes[0].VoidAt = "is deactivated in Slack", lost.at(13)
	unused := newSample(14).decided(book.Adopt).planned()
	unused.Run.Votes = overridden(9).Run.Votes
	unused.Run.Votes[0].Void, unused.Run.Votes[0].VoidAt = "may not override approvals for payments-web any more", unused.at(13)
	list := []Named{
		draw("waiting for approval, may be overridden", offered),
		draw("waiting for approval, a vote was taken back", lost),
		draw("overridden, under way", under),
		draw("overridden, stopped", failed),
		draw("overridden, not reviewed", open),
		draw("overridden, reviewed", done),
		{"status board, a review to be done", Board(state.Incident{ID: "INC-1234", Room: "C1", Commander: person("carol"), Opened: open.at(0)}, []state.Reconciliation{open.Run}, open.Now)},
	}
	for _, n := range []struct {
		name, kind string
		s          *sample
	}{
		{"notice overridden", "overridden", under},
		{"notice reviewed", "reviewed", done},
		{"notice review open", "review-open", open},
		{"notice vote taken back", "vote-void", lost},
		{"notice override taken back", "vote-void", unused},
	} {
		m, _ := Notice(n.s.Facts, n.kind)
		list = append(list, Named{n.name, m})
	}
	return list
}

func overridden(minute int) *sample {
	s := newSample(minute).decided(book.Adopt).planned()
	s.Run.Votes = []state.Vote{{By: person("dora"), Yes: true, Override: true, Digest: s.plan().Digest, At: s.at(9), Reason: "checkout is down, and nobody who may approve answers"}}
	s.Run.Review = &state.Review{Since: s.at(9)}
	return s.leave("approve", book.Approval{Votes: s.Run.Votes, At: s.at(9)}).leave("recheck", book.Checked{At: s.at(9)})
}

func ended(s *sample) *sample {
	return s.pushed().opened().merged().verified("9ab04f1c22").close("adopted", 31)
}
