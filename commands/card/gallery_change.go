package card

import (
	"reconcilebot/runbook"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/git"
	"reconcilebot/runbook/manifest"
)

// changeCards are those of a change that is asked for through Git.
func changeCards() []Named {
	at := func(minute int) *sample { return newSample(minute).asked() }
	under := func(minute int) *sample { return at(minute).planned().approved() }
	return []Named{
		draw("planning a change", at(7)),
		draw("waiting for approval of a change", at(7).planned()),
		draw("changing, waiting for a review", under(16).pushed().opened().wait("merge", runbook.ForPeople, "waiting for a review in GitHub by @acme/payments, by 14:39 UTC", 10)),
		draw("change refused by the API server", at(8).fail("plan", "The API server would not take this, so it isn't proposed.\nDeployment.apps \"web\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0", 8)),
		draw("change not merged in time", under(50).pushed().opened().fail("merge", "The pull request was not merged in time (30m0s): waiting for a review in GitHub by @acme/payments. Try again to go on waiting, or start over.", 40)),
		draw("waiting for approval of a rollback", rollback(33)),
		draw("rolled back", rollback(58).approved().pushed().opened().merged().verified("77aa00bb11").close("rolled back", 58)),
		draw("changed", under(31).pushed().opened().merged().verified("9ab04f1c22").close("changed", 31)),
	}
}

// rollback undoes what was merged before.
func rollback(minute int) *sample {
	s := newSample(minute).asked()
	s.Run.Book, s.Run.Decision.Reason = book.Rollback, "six replicas exhaust the database"
	plan := s.plan()
	plan.Of = &git.Commit{SHA: "9ab04f1c22", Subject: "hotfix(reconcile): scale payments/web to 6 replicas for INC-1234", AuthorName: "reconcilebot"}
	plan.Seen.Drift.Changes[0].Evidence = drift.Evidence{Kind: drift.Asked}
	plan.Seen.Drift.Changes[0].Git, plan.Seen.Drift.Changes[0].Live = float64(6), float64(3)
	plan.Edits[0].Before, plan.Edits[0].After = "  replicas: 6\n", "  replicas: 3\n"
	plan.Needs.Excluded = []book.Excluded{{Name: "alice", Why: "asked for it"}}
	return s.leave("plan", plan)
}

// fieldCards are those of a decision for each field.
func fieldCards() []Named {
	label := newSample(6).scaled()
	label.Path, label.Op, label.Git, label.Live, label.Invisible = path("metadata.labels.debug"), manifest.Add, nil, "on", true
	label.Evidence.Person, label.Evidence.Tool = "bob@example.com", "kubectl label"
	part := func(minute int) *sample {
		s := newSample(minute).decided(book.Mixed)
		s.seen(s.scaled(), label)
		plan := s.plan()
		image := s.scaled()
		image.Path, image.Git, image.Live = path("spec.template.spec.containers[name=web].image"), "acme/web:1.4.2", "acme/web:1.4.3-hotfix"
		plan.Seen.Drift.Changes, plan.Do, plan.Open = []drift.Change{s.scaled(), image}, []book.Do{book.DoAdopt, book.DoRevert}, []drift.Change{label}
		plan.Actions = []book.Action{{Kind: "sync", Objects: []manifest.Object{web()}, Text: "Argo CD syncs Deployment payments/web and nothing else; nothing is pruned"}}
		return s.leave("plan", plan)
	}
	hand := newSample(10).decided(book.Revert)
	plan := hand.plan()
	plan.Seen.Drift.Changes = []drift.Change{label}
	plan.Actions = []book.Action{{Kind: "hand", Objects: []manifest.Object{web()}, Text: `no sync undoes metadata.labels.debug, which was added by hand: a person runs  kubectl patch deployment web -n payments --type=json -p '[{"op":"test","path":"/metadata/labels/debug","value":"on"},{"op":"remove","path":"/metadata/labels/debug"}]'`}}
	hand.leave("plan", plan)
	return []Named{
		draw("waiting for approval of a part", part(9)),
		draw("adopting and reverting", part(16).approved().pushed().opened().wait("merge", runbook.ForPeople, "waiting for a review in GitHub by @acme/payments", 10)),
		draw("adopted and reverted", part(31).approved().pushed().opened().merged().verified("9ab04f1c22").close("adopted and reverted", 31)),
		draw("waiting for approval of a revert by hand", hand),
	}
}
