package soak

import (
	"context"
	"fmt"
	"time"

	"reconcilebot/commands/access"
	"reconcilebot/runbook"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// cluster is the only one there is.
const cluster = "production-eu"

func targetName(i int) string { return fmt.Sprintf("app-%05d", i) }

// targets lists so many targets, of which each has been changed by hand.
type targets int

func (n targets) Targets(context.Context) (list []drift.TargetInfo, err error) {
	for i := range int(n) {
		t := drift.Target{Cluster: cluster, Kind: drift.Application, Namespace: "argocd", Name: targetName(i)}
		list = append(list, drift.TargetInfo{Target: t, Sync: "OutOfSync", Health: "Healthy"})
	}
	return list, nil
}

// policy lets everyone decide and approve who is a full member.
func policy(people int) *access.Policy {
	var crew []string
	p := &access.Policy{}
	for i := range people {
		if mayDecide(i) {
			p.People = append(p.People, access.Person{Name: personName(i), Slack: personID(i), Kubernetes: []string{personName(i) + "@example.com"}})
			crew = append(crew, personName(i))
		}
	}
	p.Groups = map[string]access.Group{"crew": {Members: crew}}
	p.Rules = []access.Rule{{
		Targets: []string{cluster + "/*"}, See: []string{access.Everyone}, Decide: []string{"crew"},
		Approve: access.Approvers{By: []string{"crew"}, Count: 1},
	}}
	return p
}

// step is a step made of a function.
type step struct {
	id state.StepID
	do func(state.Reconciliation) runbook.Outcome
}

func (s step) ID() state.StepID { return s.id }

func (s step) Do(_ context.Context, r state.Reconciliation) runbook.Outcome { return s.do(r) }

// books are the survey and an adopt that reaches nothing: people see, decide
// and approve as always, and the work itself is a wait.
func books() []runbook.Book {
	survey := step{"survey", func(r state.Reconciliation) runbook.Outcome {
		return runbook.Result[book.Seen]{Step: "survey"}.Done(seen(r))
	}}
	plan := step{"plan", func(r state.Reconciliation) runbook.Outcome {
		return runbook.Result[book.Plan]{Step: "plan"}.Done(book.Plan{
			Seen: seen(r), Digest: planDigest(r), Made: time.Now(), Needs: book.Needs{Approvals: 1, From: []string{"@crew"}, Expires: expiry(r)},
		})
	}}
	approve := step{"approve", func(r state.Reconciliation) runbook.Outcome {
		votes := r.Standing(planDigest(r))
		if len(votes) == 0 {
			return runbook.Wait(time.Hour, runbook.ForPeople, "waiting for an approval")
		}
		return runbook.Result[book.Approval]{Step: "approve"}.Done(book.Approval{Votes: votes, At: time.Now()})
	}}
	work := step{"work", func(r state.Reconciliation) runbook.Outcome {
		if time.Since(r.Steps["work"].Started) < 300*time.Millisecond {
			return runbook.Wait(300*time.Millisecond, runbook.ForPoll, "waiting for the work to be done")
		}
		return runbook.Result[string]{Step: "work"}.Done("done")
	}}
	ballot := func(r state.Reconciliation) (runbook.Ballot, bool) {
		return runbook.Ballot{Digest: planDigest(r), Needed: 1, Expires: expiry(r), Made: []string{hand}}, r.Done("plan") && !r.Done("approve")
	}
	return []runbook.Book{
		{Name: runbook.Survey, Version: 1, Steps: []runbook.Step{survey}},
		{Name: book.Adopt, Version: 1, Ends: "adopted", Ballot: ballot, Steps: []runbook.Step{survey, plan, approve, work}},
	}
}

// hand is who made every change: nobody in the workspace, so that any two may
// ask and approve.
const hand = "somebody@example.com"

func planDigest(r state.Reconciliation) string { return "p-" + string(r.ID) }

func expiry(r state.Reconciliation) time.Time { return r.Opened.Add(24 * time.Hour) }

// seen is what differs in a target: the same, whenever somebody looks.
func seen(r state.Reconciliation) book.Seen {
	t, err := drift.ParseTarget(r.Target)
	if err != nil {
		return book.Seen{} // only targets that were listed can be opened
	}
	return book.Seen{Drift: drift.Drift{
		Target: t, Sync: "OutOfSync", Health: "Healthy", Digest: "d-" + string(r.ID),
		Changes: []drift.Change{{
			Object: manifest.Object{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "payments", Name: "web"}, UID: "u",
			Path: manifest.Path{manifest.Key("spec"), manifest.Key("replicas")}, Op: manifest.Set, Git: 3.0, Live: 6.0,
			Evidence: drift.Evidence{Kind: drift.ByAudit, Person: hand, Tool: "kubectl scale", At: r.Opened.Add(-4 * time.Minute)},
		}},
	}}
}
