package card

import (
	"encoding/json"
	"time"

	"reconcilebot/runbook"
	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/state"
)

// pauseSample is a pause that alice asked for at 14:15, for 45 minutes.
func pauseSample(minute int) *sample {
	s := newSample(minute)
	p := &state.Pause{By: person("alice"), Reason: "need to hold replicas while the queue drains", From: s.at(15), Until: s.at(60)}
	s.Run.ID, s.Run.Book, s.Run.Pause, s.Run.Opened = "r-01JPAUSE", book.Pause, p, s.at(15)
	s.Run.Decision = state.Decision{By: p.By, Reason: p.Reason, At: p.From}
	s.Steps = []state.StepID{"inspect", "halt", "drain", "hold", "remind", "expire", "simulate", "approve", "recheck", "restore", "verify", "record"}
	return s
}

func (s *sample) inspected(h book.Hold) *sample {
	policy := json.RawMessage(`{"automated":{"prune":true,"selfHeal":true}}`)
	layer := book.Layer{Target: s.target(), Policy: policy, Automated: json.RawMessage(`{"prune":true,"selfHeal":true}`)}
	before := s.drift()
	before.Automated = argocd.Automated{Present: true, Enabled: true, Prune: true, SelfHeal: true}
	return s.leave("inspect", book.Inspected{Layers: []book.Layer{layer}, Hold: h, Before: before, At: s.at(15)})
}

// ignored is the parent of the samples, which lets a pause stand.
func ignored() book.Hold {
	return book.Hold{By: "Application apps-prod", Why: "parent apps-prod (app of apps) ignores this field, in its syncs, too."}
}

func (s *sample) held(late bool) *sample {
	h := book.Held{At: s.at(16), Over: "verified over 2 looks of apps-prod"}
	if late {
		h.Late = s.at(15).Add(time.Second)
	}
	return s.leave("halt", book.Halted{At: s.at(15), Ways: []string{argocd.ByPatch}}).leave("drain", book.Drained{At: s.at(15)}).leave("hold", h)
}

func (s *sample) watched(would string, minute int) *sample {
	return s.wait("remind", runbook.ForPeople, "25 min left; resuming now "+would, minute)
}

func (s *sample) asksToResume(edit func(*book.Simulation)) *sample {
	sim := book.Simulation{
		At: s.at(60), Undo: []drift.Change{s.scaled()}, Commits: 2, Full: true, Revision: "1111111aaaa", Digest: "5afe5afe",
		Needs: book.Needs{Approvals: 1, From: []string{"@payments-owners", "@platform"}, Excluded: []book.Excluded{{Name: "alice", Why: "asked for it and made the change"}}},
	}
	if edit != nil {
		edit(&sim)
	}
	return s.leave("remind", book.Held{At: s.at(50)}).leave("expire", book.Held{At: s.at(60)}).leave("simulate", sim)
}

func (s *sample) resumed(exact bool, minute int) *sample {
	s.leave("approve", book.Approval{Votes: s.Run.Votes, At: s.at(minute)}).leave("recheck", book.Checked{At: s.at(minute)})
	s.leave("restore", book.Restored{At: s.at(minute), Exact: exact})
	return s.leave("verify", book.Verified{Revision: "1111111aaaa", Sync: "Synced", Health: "Healthy", At: s.at(minute)})
}

func harmless(sim *book.Simulation) { sim.Undo, sim.Commits, sim.Full = nil, 0, false }

func pauseCards() []Named {
	runs := func(minute int) *sample { return pauseSample(minute).inspected(ignored()).held(false) }
	extended := runs(40)
	extended.Run.Pause.Until = extended.at(90)
	extended.Run.Pause.Extended = []state.Extension{{By: person("bob"), At: extended.at(38), Until: extended.at(90)}}
	wanted := runs(40).asksToResume(func(sim *book.Simulation) {
		sim.Prune, sim.Restart = []string{"ConfigMap payments/debug"}, []string{"Deployment payments/web"}
		sim.Needs.Approvals = 2
	})
	wanted.Run.Pause.Resume = &state.Decision{By: person("carol"), Reason: "the queue is empty", At: wanted.at(39)}
	wanted.Run.Votes = []state.Vote{{By: person("bob"), Yes: true, Digest: "5afe5afe", At: wanted.at(40)}}
	over := runs(75).asksToResume(nil)
	over.Run.Votes = []state.Vote{{By: person("bob"), Yes: true, Digest: "5afe5afe", At: over.at(74)}}
	over.resumed(true, 75).close(book.Resumed, 75)
	undone := runs(30).leave("remind", book.Held{At: newSample(30).Now, Undone: &book.Undoing{Target: over.target(), By: "dora", At: newSample(30).Now}})
	none := pauseSample(16).inspected(book.Hold{
		Undone: true, By: "ApplicationSet shop-apps", Why: "ApplicationSet shop-apps would undo it within seconds.",
		Remedy: "in ApplicationSet shop-apps, spec.ignoreApplicationDifferences: [{jsonPointers: [/spec/syncPolicy/automated]}]; or a deny window in the AppProject",
	}).close(book.WouldNotHold, 16)
	moot := pauseSample(16).leave("inspect", book.Inspected{Moot: "Its automated sync is off, so nothing is undone until somebody syncs it."}).close(book.Moot, 16)
	refused := pauseSample(16).inspected(ignored()).leave("halt", book.Halted{At: newSample(16).Now,
		Refused: "Argo CD does not let reconcilebot's account change the sync policy. Whoever runs Argo CD can grant it: applications, update, in argocd-rbac-cm. `reconcilebot doctor` shows it."}).close(book.NotPaused, 16)
	list := []Named{
		draw("pausing", pauseSample(15)),
		draw("pausing, watching that it holds", pauseSample(15).inspected(ignored()).leave("halt", book.Halted{At: newSample(15).Now}).wait("hold", runbook.ForPoll, "watching that the pause holds", 15)),
		draw("paused", runs(35).watched("would undo 1 change (spec.replicas 6 → 3); 0 commits landed meanwhile", 20)),
		draw("paused, until the parent is synced", pauseSample(35).inspected(book.Hold{
			Until: "the next commit on main, which apps-prod follows", By: "Application apps-prod", Why: "parent apps-prod (app of apps) does not heal by itself.",
		}).held(true).watched("would undo nothing; 0 commits landed meanwhile", 20)),
		draw("paused, extended", extended.watched("would undo nothing; 3 commits landed meanwhile", 40)),
		draw("paused, Argo CD is down", runs(35).wait("remind", runbook.ForOutage, "waiting for Argo CD, which can't be reached; this goes on by itself when it is back", 30)),
		draw("pause asks about its end", runs(62).asksToResume(nil)),
		draw("pause asks, somebody wants to resume", wanted),
		draw("pause asks, author unknown", runs(62).asksToResume(func(sim *book.Simulation) { sim.Needs.Disown, sim.Needs.Approvals = true, 2 })),
		draw("pause asks, not judged", runs(62).asksToResume(func(sim *book.Simulation) {
			sim.Undo, sim.Refused, sim.Needs.Approvals = nil, "Argo CD can't render the source (ComparisonError).", 2
		})),
		draw("resuming", runs(60).asksToResume(harmless).leave("approve", book.Approval{At: newSample(60).Now})),
		draw("resumed, undoing", over),
		draw("resumed, undoing nothing", runs(60).asksToResume(harmless).resumed(false, 60).close(book.Resumed, 60)),
		draw("pause undone by somebody", undone.leave("restore", book.Restored{At: newSample(30).Now, Left: []drift.Target{over.target()}}).close(book.Undone, 30)),
		draw("pause would not hold", none),
		draw("nothing to pause", moot),
		draw("pause refused", refused),
		draw("pause stopped", pauseSample(16).fail("inspect", "Argo CD does not know this Application any more, or reconcilebot's account may not see it.", 16)),
	}
	for _, n := range []struct {
		kind string
		s    *sample
	}{
		{"paused", runs(16)}, {"pause-reminder", runs(50)}, {"pause-question", runs(60).asksToResume(nil)},
		{"pause-escalated", runs(70).asksToResume(nil)}, {"pause-extended", extended}, {"pause-ending", wanted},
		{"pause-undone", undone}, {"pause-stuck", runs(60).wait("restore", runbook.ForPeople, "Argo CD does not let reconcilebot's account change the sync policy.", 60)},
		{"resumed", over},
	} {
		m, _ := Notice(n.s.Facts, n.kind)
		list = append(list, Named{"notice " + n.kind, m})
	}
	merging := newSample(16).decided(book.Adopt).planned().approved().pushed().opened().wait("merge", runbook.ForPeople,
		"not merged yet: it would undo what was changed by hand in ledger-api. Adopt that first, or pause it, or accept here that it is undone. Where two wait for each other, pause one of them", 12)
	merging.Run.Wait.Asks = []state.Ask{{Target: "production-eu/argocd/ledger-api", Digest: "1ed9e4",
		Text: "ledger-api in production-eu: 1 change made by hand would be undone (spec.replicas of Deployment api, 5 → 2)"}}
	merging.Run.Accepted = []state.Acceptance{{Target: "production-eu/argocd/ledger-api", Digest: "1ed9e4", By: person("carol"), At: merging.at(15)}}
	m, _ := Notice(merging.Facts, "accepted")
	list = append(list, draw("merge would undo fixes of others", merging), Named{"notice accepted", m})
	in := state.Incident{ID: "INC-1234", Room: "C1", Commander: person("carol"), Opened: newSample(0).Now}
	now := newSample(35)
	run := runs(35).Run
	info := drift.TargetInfo{Target: now.target(), Sync: "OutOfSync", Health: "Healthy"}
	return append(list,
		Named{"status board with a pause", Board(in, []state.Reconciliation{run}, now.Now)},
		Named{"status of a paused target", Status(info, Standing{Pause: &run}, now.Now)},
		Named{"status of a target that others paused", Status(info, Standing{Others: []string{"Its automated sync was switched off (automated.enabled is false)."}}, now.Now)},
	)
}
