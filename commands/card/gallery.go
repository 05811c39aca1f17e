package card

import (
	"fmt"
	"strings"

	"reconcilebot/runbook"
	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/forge"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// Named is a message and what it shows.
type Named struct {
	Name string
	Message
}

// Gallery draws every kind of message there is, from made-up records.
func Gallery() []Named {
	var list []Named
	for _, part := range [][]Named{firstCards(), planCards(), diffCards(), overrideCards(), wayCards(), changeCards(), fieldCards(), endCards(), pauseCards(), ticketCards(), otherCards()} {
		list = append(list, part...)
	}
	return list
}

func draw(name string, s *sample) Named { return Named{name, Reconciliation(s.Facts)} }

func firstCards() []Named {
	at := func() *sample { return newSample(6) }
	change := func(edit func(*drift.Change)) *sample {
		s := at()
		c := s.scaled()
		edit(&c)
		return s.seen(c)
	}
	healed := change(func(c *drift.Change) {
		c.Outlook = drift.Outlook{Kind: drift.SelfHeal, Text: "Argo CD will put it back to 3 within seconds, because self-heal is on. Pausing first keeps it."}
	})
	manual := change(func(c *drift.Change) {
		c.Outlook = drift.Outlook{Kind: drift.ManualSync, Text: "it stays until somebody syncs payments-web, which will put it back to 3. Automated sync is off."}
	})
	return []Named{
		draw("looking", at()),
		draw("looking, Argo CD is down", at().wait("survey", runbook.ForOutage, "waiting for Argo CD, which can't be reached; this goes on by itself when it is back", 5)),
		draw("found one change", at().seen(at().scaled())),
		draw("found, self-heal on", healed),
		draw("found, automated sync off", manual),
		draw("found, undone already", change(func(c *drift.Change) {
			c.Outlook = drift.Outlook{Kind: drift.Undone, Text: "nothing more: self-heal undid this at 14:02:01, and here is what it was."}
		})),
		draw("found, another undone already", at().seen(at().scaled()).also(func(d *drift.Drift) {
			c := at().scaled()
			c.Path, c.Git, c.Live = path("spec.template.spec.containers[name=web].image"), "web:2.14.3", "web:2.14.2"
			c.Outlook = drift.Outlook{Kind: drift.Undone, Text: "nothing more happens: Argo CD undid it at 14:02:01 UTC, because self-heal is on."}
			d.Undone = []drift.Change{c}
		})),
		draw("found, the Application itself", at().seen().also(func(d *drift.Drift) {
			c := at().scaled()
			c.Object = manifest.Object{APIVersion: "argoproj.io/v1alpha1", Kind: "Application", Namespace: "argocd", Name: "payments-web"}
			c.Path, c.Git, c.Live = path("spec.source.targetRevision"), "main", "hotfix-1"
			c.Outlook.Text = "it stays until the next commit on main, which will put it back to main. Self-heal is off."
			d.Own, d.Parent = []drift.Change{c}, "apps-prod"
		})),
		draw("found, a rule hides changes", at().seen().also(func(d *drift.Drift) {
			d.Noise = []drift.Noise{{Why: "ignored by the Application's configuration", Count: 1, Paths: []string{"payments/Deployment/web spec.replicas"}}}
			d.Hiding = []string{"spec.ignoreDifferences ignores whatever kubectl-edit writes to Deployment: changes made by hand there show as Synced, and are not counted here"}
		})),
		draw("found, author unknown", change(func(c *drift.Change) {
			c.Evidence = drift.Evidence{Kind: drift.ByManager, Tool: "kubectl", Manager: "kubectl-edit", Note: "The audit log is not connected, so nobody can be named."}
		})),
		draw("found, nothing known", change(func(c *drift.Change) { c.Evidence = drift.Evidence{Kind: drift.Unknown} })),
		draw("found, invisible to Argo CD", change(func(c *drift.Change) {
			c.Path, c.Op, c.Git, c.Live, c.Invisible = path(`metadata.annotations["debug"]`), manifest.Add, nil, "on", true
			c.Outlook = drift.Outlook{Kind: drift.Kept, Text: "it stays. Argo CD takes no notice of it, and no sync removes it, until Git has this field, too."}
		})),
		draw("found many changes", many()),
		draw("found, several hands", severalHands()),
		draw("found, secret value", secret()),
		draw("found, cannot be proven", unprovable()),
		draw("found, another target on the branch", besides(at().seen(at().scaled()), 1)),
		draw("found, many targets on the branch", besides(at().seen(at().scaled()), 6)),
		draw("found, hostile text", hostile()),
		draw("nothing differs", at().seen()),
		draw("cannot judge", unjudgeable()),
	}
}

// besides has so many targets beside it, the last of them in another channel.
func besides(s *sample, n int) *sample {
	for i := range n {
		t := s.target()
		t.Name = fmt.Sprintf("ledger-%d", i+1)
		s.Beside = append(s.Beside, Beside{Target: t, Changes: i + 1, Elsewhere: n > 1 && i == n-1})
	}
	return s
}

func many() *sample {
	s := newSample(6)
	list := []drift.Change{s.scaled()}
	for i := range 20 {
		c := s.scaled()
		c.Path = path(fmt.Sprintf("spec.template.spec.containers[name=web].env[name=FLAG_%d].value", i))
		c.Git, c.Live = "off", "on"
		if i%2 == 1 {
			c.Object.Name = "worker"
		}
		list = append(list, c)
	}
	return s.seen(list...)
}

func severalHands() *sample {
	s := newSample(6)
	image := s.scaled()
	image.Path, image.Git, image.Live = path("spec.template.spec.containers[name=web].image"), "acme/web:1.4.2", "acme/web:1.4.3-hotfix"
	image.Evidence = drift.Evidence{Kind: drift.ByAudit, Person: "bob@example.com", Tool: "kubectl set image", At: s.at(4)}
	gone := s.scaled()
	gone.Object = manifest.Object{APIVersion: "policy/v1", Kind: "PodDisruptionBudget", Namespace: "payments", Name: "web"}
	gone.Path, gone.Op, gone.Live = nil, manifest.Remove, nil
	return s.seen(gone, image, s.scaled())
}

func secret() *sample {
	s := newSample(6)
	c := s.scaled()
	c.Object = manifest.Object{APIVersion: "v1", Kind: "Secret", Namespace: "payments", Name: "stripe"}
	c.Path, c.Git, c.Live, c.Masked = path("data.key"), "++++++++", "+++++++++", true
	return s.leave("survey", book.Seen{Drift: s.drift(c), Places: []book.Place{{
		Why: "The value belongs to a Secret, which is never read or written here.", Hint: "change it where your secrets are kept.",
	}}})
}

func unprovable() *sample {
	s := newSample(6)
	seen := book.Seen{Drift: s.drift(s.scaled()), Places: []book.Place{{
		Why:  "The value comes from chart web 4.2.1 (template deployment.yaml), which sets it without a value.",
		Hint: "add `resources` to the chart's values, or keep it as a post-render patch.",
	}}}
	return s.leave("survey", seen)
}

func hostile() *sample {
	s := newSample(6)
	c := s.scaled()
	c.Object.Name = "<!channel>"
	c.Git, c.Live = "*bold* `code` <https://evil.example|good>", "\u202eabc\u2066 & <@U1> \u200b```"
	c.Evidence.Person, c.Evidence.Tool = "<!here>", "_x_ ~y~"
	c.Outlook.Text = "> quoted <!everyone>"
	s.seen(c)
	s.Run.Incident, s.Run.OpenedBy.Name = "INC-<!subteam^S1>", "*eve*"
	return s
}

func unjudgeable() *sample {
	s := newSample(6)
	d := s.drift()
	d.Refused, d.Sync = "Argo CD can't render the source (ComparisonError): overlays/prod: kustomization.yaml: invalid field \"patchs\".", "Unknown"
	return s.leave("survey", book.Seen{Drift: d})
}

func planCards() []Named {
	two := newSample(9).decided(book.Adopt)
	plan := two.plan()
	plan.Needs.Disown, plan.Needs.Approvals, plan.Needs.Excluded = true, 2, []book.Excluded{{Name: "alice", Why: "asked for it"}}
	plan.Seen.Drift.Changes[0].Evidence = drift.Evidence{Kind: drift.ByManager, Tool: "kubectl", Note: "audit log not connected"}
	unread := newSample(9).decided(book.Adopt)
	sealed := unread.plan()
	sealed.Needs.Rules = forge.Rules{Why: "the token may not read them"}
	sealed.Proof.Consumers.Unbuildable = []manifest.Unbuildable{{Name: "production-eu/charts", Why: "a Helm chart"}}
	return []Named{
		draw("planning", newSample(7).decided(book.Adopt)),
		draw("planning a revert", newSample(7).decided(book.Revert)),
		draw("planning, GitHub is down", newSample(9).decided(book.Adopt).wait("plan", runbook.ForOutage, "waiting for GitHub, which can't be reached; this goes on by itself when it is back", 8)),
		draw("waiting for approval", newSample(7).decided(book.Adopt).planned()),
		draw("waiting for a second approval, author unknown", two.leave("plan", plan).vote("bob", true, 8)),
		draw("waiting for approval, rules unreadable", unread.leave("plan", sealed)),
		draw("waiting for approval of a revert", newSample(7).decided(book.Revert).planned()),
		draw("waiting for approval, planned anew", replannedSample()),
	}
}

func replannedSample() *sample {
	s := newSample(12).decided(book.Adopt)
	why := "spec.replicas is now 8 in the cluster"
	s.Run.Votes = []state.Vote{{By: person("bob"), Yes: true, Digest: "0ld0ld0ld", At: s.at(9), Void: why}}
	s.Run.Past = []state.Attempt{{Book: book.Adopt, Decision: s.Run.Decision, Why: why, At: s.at(10)}}
	plan := s.plan()
	plan.Seen.Drift.Changes[0].Live = float64(8)
	plan.Edits[0].After, plan.Digest = "  replicas: 8\n", "8a8a8a8a8a"
	return s.leave("plan", plan)
}

func wayCards() []Named {
	adopt := func(minute int) *sample { return newSample(minute).decided(book.Adopt).planned().approved() }
	return []Named{
		draw("approved", adopt(9)),
		draw("pushed", adopt(10).pushed()),
		draw("waiting for checks", adopt(12).pushed().opened().wait("merge", runbook.ForPoll, "waiting for checks: validate, policy", 10)),
		draw("waiting for a review", adopt(16).pushed().opened().wait("merge", runbook.ForPeople, "waiting for a review in GitHub by @acme/payments", 10)),
		draw("merged", adopt(29).pushed().opened().merged()),
		draw("on hold, Argo CD is down", adopt(35).pushed().opened().merged().wait("sync", runbook.ForOutage, "waiting for Argo CD, which can't be reached; this goes on by itself when it is back", 30)),
		draw("verifying", adopt(31).pushed().opened().merged().leave("sync", book.Synced{Revision: "9ab04f1c22", At: newSample(30).Now}).wait("verify", runbook.ForPoll, "waiting for Argo CD to show Synced and Healthy at 9ab04f1", 30)),
		draw("reverting", newSample(10).decided(book.Revert).planned().approved().wait("sync", runbook.ForPoll, "the sync runs", 9)),
		draw("failed to plan", newSample(8).decided(book.Adopt).fail("plan", "The edit can't be proven, so it isn't proposed.\nspec.replicas of Deployment web: the file is encrypted. Edit it by hand and commit.", 8)),
		draw("declined", newSample(9).decided(book.Adopt).planned().vote("bob", false, 9).fail("approve", "bob declined this plan. Nothing was changed.", 9)),
		draw("expired", newSample(40).decided(book.Adopt).planned().fail("approve", "Nobody approved this plan in time. Nothing was changed.", 38)),
		draw("failed after the pull request", adopt(50).pushed().opened().fail("merge", "Pull request #412 was closed without a merge, so Git stays as it is and the cluster does not match it. Start over and revert the cluster, so that both agree.", 49)),
		draw("failed after the merge", adopt(59).pushed().opened().merged().fail("verify", "Argo CD did not become Synced and Healthy within 15 min of the merge: Degraded.", 58)),
	}
}

func endCards() []Named {
	adopted := newSample(31).decided(book.Adopt).planned().approved().pushed().opened().merged().verified("9ab04f1c22").close("adopted", 31)
	reverted := newSample(12).decided(book.Revert).planned().approved().verified("1111111aaaa").close("reverted", 12)
	longer := newSample(45).decided(book.Adopt).planned().approved().pushed().opened().merged().verified("9ab04f1c22").close("adopted", 45)
	longer.Run.Past = []state.Attempt{{Book: book.Revert, Failure: &state.Failure{Step: "approve", Say: "bob declined this plan. Nothing was changed.", At: longer.at(8)}, Why: "begun again", At: longer.at(9)}}
	list := []Named{
		draw("adopted", adopted),
		draw("reverted", reverted),
		draw("adopted after another way", longer),
		draw("left", newSample(20).seen(newSample(6).scaled()).close("left", 20)),
		draw("left, nothing differed", newSample(20).seen().close("left", 20)),
		draw("left, not judged", unjudgeable().close("left", 20)),
		draw("nothing to do", newSample(9).decided(book.Adopt).leave("plan", book.Plan{}).close("nothing to do", 9)),
	}
	for _, kind := range []string{"decided", "merged", "closed"} {
		m, _ := Notice(adopted.Facts, kind)
		list = append(list, Named{"notice " + kind, m})
	}
	voted := newSample(9).decided(book.Adopt).planned().vote("bob", true, 9)
	declined := newSample(9).decided(book.Adopt).planned().vote("bob", false, 9)
	declined.Run.Votes[0].Reason = "6 replicas do not fit the quota; take 4"
	failed := newSample(8).decided(book.Adopt).fail("plan", "The edit can't be proven, so it isn't proposed.", 8)
	left := newSample(20).seen(newSample(6).scaled()).close("left", 20)
	left.By = "carol"
	for _, n := range []struct {
		kind string
		s    *sample
	}{{"approved", voted}, {"declined", declined}, {"failed", failed}, {"replanned", replannedSample()}, {"left", left}} {
		m, _ := Notice(n.s.Facts, n.kind)
		list = append(list, Named{"notice " + n.kind, m})
	}
	return list
}

func otherCards() []Named {
	s := newSample(47)
	in := state.Incident{ID: "INC-1234", Room: "C1", Ticket: "https://tickets.example.com/OPS-991", Commander: person("carol"), Opened: s.at(0)}
	waiting := newSample(16).decided(book.Adopt).planned().Run
	done := newSample(31).decided(book.Adopt).planned().approved().pushed().opened().merged().verified("9ab04f1c22").close("adopted", 31).Run
	done.Target = "production-eu/argocd/ledger-api"
	runs := []state.Reconciliation{waiting, done}
	closed := in
	closed.Closed, closed.ClosedBy = s.Now, person("carol")
	info := drift.TargetInfo{
		Target: drift.Target{Cluster: "production-eu", Kind: drift.Application, Namespace: "argocd", Name: "payments-web"},
		Sync:   "OutOfSync", Health: "Healthy", Automated: argocd.Automated{Present: true, Enabled: true},
		RepoURL: "https://github.example.com/acme/gitops.git", Path: "overlays/prod", TargetRevision: "main", URL: "https://argocd.example.com/applications/argocd/payments-web",
	}
	return []Named{
		{"incident opened", Opened(in, s.Now)},
		{"incident closed", Closed(closed, runs, s.Now)},
		{"status board", Board(in, runs, s.Now)},
		{"status board, empty", Board(in, nil, s.Now)},
		{"status of a target", Status(info, Standing{Run: &waiting}, s.Now)},
		{"status of a target, nothing open", Status(info, Standing{}, s.Now)},
		{"who touched it", Timeline(info, "", s.touches(), s.Now, s.Links)},
		{"who touched it, nobody known", Timeline(info, "deployment/web", s.touches()[2:], s.Now, s.Links)},
		{"orphans of a target", Orphans(s.strays("payments"), "payments-web", []drift.Prunable{{Kind: "PersistentVolumeClaim", Namespace: "payments", Name: "ledger"}}, s.Now)},
		{"orphans, none", Orphans(drift.Orphans{Cluster: "production-eu", Declared: 12, Targets: 3}, "", nil, s.Now)},
		{"summary", Summary(in, runs, s.Now, s.Links)},
		{"refusal, own change", Refusal("You can't approve this: you made the change (audit log, 14:02 UTC). @payments-owners and @platform can.")},
		{"refusal, no such target", Refusal(`There is no target "payment-web". Did you mean payments-web or payments-worker?`)},
		{"help", Help([]Usage{{Words: "drift [TARGET|all]", Summary: "Show what differs from Git"}, {Words: "adopt TARGET because …", Summary: "Take it into Git"}})},
		{"help on a command", HelpOn(Usage{Words: "drift [TARGET|all]", Summary: "Show what differs from Git", Who: "whom the policy lets see the target", Examples: []string{"drift payments-web"}})},
	}
}

// diffCards are the pages of a modal; they are drawn as messages here.
func diffCards() []Named {
	small := newSample(7).decided(book.Adopt).planned()
	large := large(120, 14)
	page := func(name string, s *sample, page int, posted bool) Named {
		m := Diff(s.Facts, page, posted)
		return Named{name, Message{Text: fallback(m.Title.Text, m.Blocks.BlockSet), Blocks: m.Blocks.BlockSet}}
	}
	return []Named{
		draw("waiting for approval, 120 changes in 14 files", large),
		page("all changes, first page", many(), 0, false),
		page("full diff", small, 0, false),
		page("full diff of 14 files, first page", large, 0, false),
		page("full diff of 14 files, second page", large, 1, false),
		page("full diff of 14 files, last page, posted", large, 99, true),
	}
}

// large is a plan of so many changes in so many files, one value of them long
// and full of what Slack reads as its own.
func large(changes, files int) *sample {
	s := newSample(7).decided(book.Adopt)
	plan := s.plan()
	plan.Seen.Drift.Changes, plan.Edits = nil, nil
	long := strings.Repeat("<&> \U0001F600 ", 1000)
	for i := range changes {
		c := s.scaled()
		c.Object.Name = fmt.Sprintf("web-%02d", i%files)
		c.Path, c.Git, c.Live = path(fmt.Sprintf("spec.template.spec.containers[name=web].env[name=FLAG_%d].value", i)), "off", "on"
		if i == 0 {
			c.Live = long
		}
		plan.Seen.Drift.Changes = append(plan.Seen.Drift.Changes, c)
	}
	for i := range files {
		e := manifest.Edit{File: fmt.Sprintf("overlays/prod/web-%02d.yaml", i), Line: 20, Before: "  value: off\n", After: "  value: on\n"}
		e.Unified = fmt.Sprintf("--- a/%[1]s\n+++ b/%[1]s\n", e.File)
		for h := range changes / files {
			value := "on"
			if i == 0 && h == 0 {
				value = long
			}
			e.Unified += fmt.Sprintf("@@ -%[1]d,3 +%[1]d,3 @@\n         - name: FLAG_%[2]d\n-          value: off\n+          value: %[3]s\n", 20+8*h, h, value)
		}
		plan.Edits = append(plan.Edits, e)
	}
	return s.leave("plan", plan)
}
