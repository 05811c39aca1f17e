package card

import "reconcilebot/runbook"

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
		draw("changed", under(31).pushed().opened().merged().verified("9ab04f1c22").close("changed", 31)),
	}
}
