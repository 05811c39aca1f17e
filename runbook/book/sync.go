package book

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"reconcilebot/runbook"
	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// refresh has the controller look at the branch until it has seen the merge.
type refresh struct{ *systems }

func (refresh) ID() state.StepID { return refreshed.Step }

func (s refresh) Do(ctx context.Context, r state.Reconciliation) runbook.Outcome {
	t, c, err := s.target(r)
	if err != nil {
		return runbook.Fail(err)
	}
	m, err := merged.From(r)
	if err != nil {
		return runbook.Fail(err)
	}
	app, err := c.Argo.Refresh(ctx, ref(t), false)
	if err != nil {
		return s.outcome(r, s.ID(), "refresh "+t.Name, err)
	}
	has, err := s.contains(ctx, app, m.SHA)
	if err != nil {
		return s.outcome(r, s.ID(), "look for the merge in what "+t.Name+" follows", err)
	}
	if !has {
		return s.patience(r, s.ID(), "waiting for Argo CD to see "+short(m.SHA))
	}
	return refreshed.Done(app.Sync.Revision)
}

// contains tells whether the revision that the controller compared with has a
// commit in its history: a later commit may have overtaken ours.
func (s *systems) contains(ctx context.Context, app argocd.App, sha string) (bool, error) {
	if app.Sync.Revision == sha {
		return true, nil
	}
	if app.Sync.Revision == "" || len(app.Sources) == 0 {
		return false, nil
	}
	repo, err := s.Repo(ctx, app.Sources[0].RepoURL)
	if err != nil {
		return false, err
	}
	if err := repo.Fetch(ctx); err != nil {
		return false, err
	}
	return repo.Contains(ctx, app.Sync.Revision, sha)
}

func short(sha string) string { return sha[:min(7, len(sha))] }

// patience waits a little more, up to the bound on verification.
func (s *systems) patience(r state.Reconciliation, id state.StepID, why string) runbook.Outcome {
	since := s.Now()
	if r.Wait != nil && r.Wait.Step == id {
		since = r.Wait.Since
	}
	if s.Now().Sub(since) > s.Timing.Verify {
		return runbook.Fail(fault.New(fault.Refused, fmt.Sprintf("The end state was not reached within %s: %s. Try again to go on waiting, or look at the Application in Argo CD.", s.Timing.Verify, why)))
	}
	return runbook.Wait(runbook.Poll(since, s.Now(), s.Timing.PollController, 15*time.Second), runbook.ForPoll, why)
}

// syncAdopted asks for a sync if the merged value is not in the cluster yet,
// which is when something else put it back in the meantime, and if automated
// sync has not attempted the merged commit: it would otherwise do so at the
// next change by hand, and undo that although self-heal is off
// (controller/appcontroller.go, alreadyAttemptedSync, in Argo CD 2.14).
type syncAdopted struct{ *systems }

func (syncAdopted) ID() state.StepID { return synced.Step }

func (s syncAdopted) Do(ctx context.Context, r state.Reconciliation) runbook.Outcome {
	return s.sync(ctx, r, func(app argocd.App) bool {
		// What a pause holds back now, it holds back no longer when it ends.
		app.Automated.Enabled = app.Automated.Enabled || s.Paused != nil && s.Paused(r.Target)
		return unattempted(app)
	})
}

// syncReverted puts the objects of the plan back to what Git says.
type syncReverted struct{ *systems }

func (syncReverted) ID() state.StepID { return synced.Step }

func (s syncReverted) Do(ctx context.Context, r state.Reconciliation) runbook.Outcome {
	return s.sync(ctx, r, func(argocd.App) bool { return false })
}

// sync looks first: if nothing of the plan differs, nothing is asked for; if
// an operation runs, it is waited for, ours from before a crash included.
// attempt tells whether the objects are to be synced although they do not
// differ; that is left alone while anything else differs, which such a sync
// could undo.
func (s *systems) sync(ctx context.Context, r state.Reconciliation, attempt func(argocd.App) bool) runbook.Outcome {
	t, c, err := s.target(r)
	if err != nil {
		return runbook.Fail(err)
	}
	plan, err := planned.From(r)
	if err != nil {
		return runbook.Fail(err)
	}
	app, err := c.Argo.Refresh(ctx, ref(t), false)
	if err != nil {
		return s.outcome(r, synced.Step, "refresh "+t.Name, err)
	}
	if running(app) {
		return s.underWay(ctx, c, r, app)
	}
	ours := ourOperation(app, r.ID)
	if ours && slices.Contains([]string{"Failed", "Error"}, app.Operation.Phase) {
		return runbook.Fail(fault.New(fault.Refused, "Argo CD's sync failed: "+app.Operation.Message+" Try again once that is mended, or start over."))
	}
	left, others, err := s.differing(ctx, c, t, plan)
	if err != nil {
		return s.outcome(r, synced.Step, "compare "+t.Name, err)
	}
	if bySync := slices.DeleteFunc(slices.Clone(left), stays); len(left) > 0 {
		if len(bySync) == 0 {
			return s.hand(r, left)
		}
		left = bySync
	}
	infos := map[string]string{
		reconciliationInfo: string(r.ID), "incident": string(r.Incident), "asked by": r.Decision.By.Name,
	}
	if len(left) == 0 {
		if len(others) > 0 || !attempt(app) {
			done := Synced{Revision: app.Sync.Revision, Needed: ours && app.Operation.Infos[attemptInfo] == "", At: s.Now().UTC()}
			if attempt(app) {
				done.Held = len(others)
			}
			return synced.Done(done)
		}
		left, infos[attemptInfo] = plan.Seen.Drift.Changes, "nothing differs; the commit is to count as synced"
	}
	err = c.Argo.Sync(ctx, ref(t), argocd.SyncRequest{Resources: resources(left), Infos: infos})
	switch {
	case isA[*argocd.Busy](err):
		return s.patience(r, synced.Step, "waiting for the sync that runs in Argo CD")
	case err != nil:
		return s.outcome(r, synced.Step, "sync "+t.Name, err)
	}
	return s.patience(r, synced.Step, "waiting for the sync that runs in Argo CD")
}

// hand waits until a person has undone what no sync does.
func (s *systems) hand(r state.Reconciliation, left []drift.Change) runbook.Outcome {
	since := s.Now()
	if r.Wait != nil && r.Wait.Step == synced.Step && r.Wait.For == runbook.ForPeople {
		since = r.Wait.From
	}
	why := "waiting for somebody to run: " + byHand(left[0])
	if n := len(left) - 1; n > 0 {
		why += fmt.Sprintf(", and %s more", count(n, "command"))
	}
	if s.Now().Sub(since) > s.Timing.Merge {
		return runbook.Fail(fault.New(fault.Refused, "What no sync undoes was not undone in time: "+why+". Try again to go on waiting, or start over."))
	}
	return runbook.Wait(runbook.Poll(since, s.Now(), s.Timing.PollController, 15*time.Second), runbook.ForPeople, why)
}

// underWay waits for the operation that runs. A sync of the commit that is
// rolled back may be retrying, to no end: it is ended.
func (s *systems) underWay(ctx context.Context, c Cluster, r state.Reconciliation, app argocd.App) runbook.Outcome {
	const why = "waiting for the sync that runs in Argo CD"
	plan, _ := planned.If(r)
	m, isMerged := merged.If(r)
	if plan.Of == nil || !isMerged || app.Operation == nil || app.Operation.Done() || app.Operation.Phase == "Terminating" || ourOperation(app, r.ID) {
		return s.patience(r, synced.Step, why)
	}
	compared := app
	compared.Sync.Revision = app.Operation.Revision
	has, err := s.contains(ctx, compared, m.SHA)
	if err == nil && !has {
		err = c.Argo.Terminate(ctx, app.Ref)
	}
	// What ended by itself, or is being written to, is looked at again.
	if err != nil && !isA[*argocd.NotRunning](err) && !isA[*argocd.Busy](err) {
		return s.outcome(r, synced.Step, "end the sync of the commit that is rolled back", err)
	}
	return s.patience(r, synced.Step, why)
}

// running tells whether an operation is asked for or under way. A retrying
// one has a finish time and is still Running (controller/appcontroller.go,
// processRequestedAppOperation, in Argo CD 2.14).
func running(app argocd.App) bool {
	return app.Requested || app.Operation != nil && !app.Operation.Done()
}

// unattempted tells whether automated sync still has the compared commit
// before it.
func unattempted(app argocd.App) bool {
	return app.Automated.Enabled && (app.Operation == nil || app.Operation.Revision != app.Sync.Revision)
}

// Notes on an operation that we ask for.
const (
	// reconciliationInfo is how a restart knows an operation for its own.
	reconciliationInfo = "reconciliation"
	// attemptInfo marks a sync that changes nothing.
	attemptInfo = "why"
)

// ourOperation tells whether the last operation is the one that this
// reconciliation asked for: it carries its id.
func ourOperation(app argocd.App, id state.ReconciliationID) bool {
	return app.Operation != nil && app.Operation.Infos[reconciliationInfo] == string(id)
}

// differing are the plan's changes that still differ, and those that are
// somebody else's.
func (s *systems) differing(ctx context.Context, c Cluster, t drift.Target, plan Plan) (ours, others []drift.Change, err error) {
	d, err := c.Survey.Survey(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	if err := judged(d); err != nil {
		return nil, nil, err
	}
	for _, now := range d.Changes {
		planned := slices.ContainsFunc(plan.Seen.Drift.Changes, func(was drift.Change) bool {
			return was.Object == now.Object && was.Path.String() == now.Path.String()
		})
		if planned {
			ours = append(ours, now)
		} else {
			others = append(others, now)
		}
	}
	return ours, others, nil
}

func resources(changes []drift.Change) []argocd.ResourceRef {
	var list []argocd.ResourceRef
	for _, c := range changes {
		ref := resource(c.Object)
		if !slices.Contains(list, ref) {
			list = append(list, ref)
		}
	}
	return list
}

func resource(o manifest.Object) argocd.ResourceRef {
	group, _, found := strings.Cut(o.APIVersion, "/")
	if !found {
		group = ""
	}
	return argocd.ResourceRef{Group: group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}
