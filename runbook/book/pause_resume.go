package book

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"reconcilebot/runbook"
	"reconcilebot/runbook/argocd"
	"reconcilebot/state"
)

// consent waits until enough people said yes to what resuming undoes. Where it
// undoes nothing, nobody is asked. Nothing is ever resumed for want of an
// answer: the question is repeated, louder.
type consent struct{ *systems }

func (consent) ID() state.StepID { return approved.Step }

func (s consent) Do(ctx context.Context, r state.Reconciliation) runbook.Outcome {
	sim, err := simulated.From(r)
	if err != nil {
		return runbook.Fail(err)
	}
	if undoneIn(r) != nil || !sim.Harmful() {
		return approved.Done(Approval{At: s.Now().UTC()})
	}
	votes := r.Standing(sim.Digest)
	if i := slices.IndexFunc(votes, func(v state.Vote) bool { return !v.Yes }); i >= 0 {
		return runbook.Redo(reminded.Step, votes[i].By.Name+" declined to resume: "+votes[i].Reason)
	}
	if len(votes) >= sim.Needs.Approvals {
		return approved.Done(Approval{Votes: votes, At: s.Now().UTC()})
	}
	if again, redo := s.moved(ctx, r, sim); redo {
		return again
	}
	return s.ask(r, sim, sim.Needs.Approvals-len(votes))
}

// moved looks whether the question is still the same one. That it can't be
// looked at now changes nothing: before anything is resumed it is looked at
// again.
func (s *systems) moved(ctx context.Context, r state.Reconciliation, sim Simulation) (runbook.Outcome, bool) {
	look, c, err := s.pausing(r)
	if err != nil {
		return runbook.Fail(err), true
	}
	if undone, err := s.standing(ctx, c, look, look.At); err == nil && undone != nil {
		return runbook.Redo(expired.Step, "the pause does not stand any more"), true
	}
	fresh, err := s.simulation(ctx, r, look)
	if err != nil || fresh.Digest == sim.Digest {
		return runbook.Outcome{}, false
	}
	return runbook.Redo(simulated.Step, "resuming "+fresh.Brief()), true
}

// ask words the wait; each new wording is said once, with what has to be said.
func (s consent) ask(r state.Reconciliation, sim Simulation, missing int) runbook.Outcome {
	since := r.Pause.Until
	if wanted(r) {
		since = r.Pause.Resume.At
	}
	why := fmt.Sprintf("waiting for %s by %s", count(missing, "approval"), strings.Join(sim.Needs.From, " or "))
	times := int(s.Now().Sub(since) / s.Timing.PauseEscalate)
	kind := "pause-question"
	if times > 0 {
		kind = "pause-escalated"
		why += ", asked for the " + nth(times+1) + " time"
	}
	out := runbook.Wait(s.Timing.PauseCheck, runbook.ForPeople, why)
	if asked := slices.ContainsFunc(r.Past, func(p state.Attempt) bool { return !p.At.Before(since) }); asked && times == 0 {
		return out // what changed since was said, with the question
	}
	return out.Saying(state.Said{Notice: kind, Kind: kind, Data: map[string]any{"missing": missing, "digest": sim.Digest}})
}

func nth(n int) string {
	switch {
	case n%100 >= 11 && n%100 <= 13:
		return fmt.Sprintf("%dth", n)
	case n%10 == 1:
		return fmt.Sprintf("%dst", n)
	case n%10 == 2:
		return fmt.Sprintf("%dnd", n)
	case n%10 == 3:
		return fmt.Sprintf("%drd", n)
	}
	return fmt.Sprintf("%dth", n)
}

// resimulate looks once more before the act: a yes counts for what was shown.
type resimulate struct{ *systems }

func (resimulate) ID() state.StepID { return checked.Step }

func (s resimulate) Do(ctx context.Context, r state.Reconciliation) runbook.Outcome {
	if undoneIn(r) != nil {
		return checked.Done(Checked{At: s.Now().UTC()})
	}
	sim, err := simulated.From(r)
	if err != nil {
		return runbook.Fail(err)
	}
	if out, stop := s.recount(ctx, r, s.ID(), sim.Digest); stop {
		return out
	}
	look, _, err := s.pausing(r)
	if err != nil {
		return runbook.Fail(err)
	}
	fresh, err := s.simulation(ctx, r, look)
	if err != nil {
		return s.stuck(r, s.ID(), "see once more what resuming "+r.Target+" would do", err)
	}
	if fresh.Digest != sim.Digest {
		return runbook.Redo(simulated.Step, "resuming "+fresh.Brief())
	}
	return checked.Done(Checked{At: s.Now().UTC()})
}

// restore puts back what was there, from the bottom up: a parent that heals
// again first would find its children not yet as Git has them. What somebody
// else changed meanwhile is theirs, and left.
type restore struct{ *systems }

func (restore) ID() state.StepID { return restored.Step }

func (s restore) Do(ctx context.Context, r state.Reconciliation) runbook.Outcome {
	look, c, err := s.pausing(r)
	if err != nil {
		return runbook.Fail(err)
	}
	done := Restored{Exact: true}
	for _, layer := range slices.Backward(look.Layers) {
		app, err := c.Argo.App(ctx, ref(layer.Target))
		if isA[*argocd.NotFound](err) {
			// Nothing is left that could be put back.
			done.Exact, done.Left = false, append(done.Left, layer.Target)
			continue
		}
		if err != nil {
			return s.stuck(r, s.ID(), "look at "+layer.Target.Name, err)
		}
		if argocd.SameJSON(app.AutomatedRaw(), layer.Paused) {
			_, err := c.Argo.SetAutomated(ctx, app, layer.Automated)
			if isA[*argocd.Changed](err) {
				return runbook.Wait(s.Timing.PollController, runbook.ForPoll, layer.Target.Name+" is being edited by somebody else; looking again")
			}
			if err != nil {
				return s.stuck(r, s.ID(), "put back the sync policy of "+layer.Target.Name, err)
			}
			if app, err = c.Argo.App(ctx, ref(layer.Target)); err != nil {
				return s.stuck(r, s.ID(), "look at "+layer.Target.Name, err)
			}
		}
		switch {
		case !argocd.SameJSON(app.AutomatedRaw(), layer.Automated):
			done.Exact, done.Left = false, append(done.Left, layer.Target)
		case !argocd.SameJSON(app.SyncPolicy(), layer.Policy):
			done.Exact = false
		}
	}
	done.At = s.Now().UTC()
	said := state.Said{Notice: "resumed", Kind: "resumed", By: r.Decision.By, Data: done}
	if undoneIn(r) != nil {
		said.Notice = ""
	}
	return restored.Done(done).Saying(said)
}

// afterwards watches what Argo CD does with what it may do again.
type afterwards struct{ *systems }

func (afterwards) ID() state.StepID { return verified.Step }

func (s afterwards) Do(ctx context.Context, r state.Reconciliation) runbook.Outcome {
	t, c, err := s.target(r)
	if err != nil {
		return runbook.Fail(err)
	}
	back, err := restored.From(r)
	if err != nil {
		return runbook.Fail(err)
	}
	app, err := s.refreshed(ctx, c, t)
	waited := r.Wait != nil && r.Wait.Step == s.ID() && s.Now().Sub(r.Wait.Since) > s.Timing.Verify/2
	if isA[*argocd.Refused](err) || isA[*argocd.NotFound](err) || err != nil && waited {
		return s.end(app)
	}
	if err != nil {
		return s.stuck(r, s.ID(), "look at "+t.Name, err)
	}
	sim, _ := simulated.If(r)
	acts := undoneIn(r) == nil && sim.Window == "" && (sim.Full || len(sim.Undo) > 0 || len(sim.Prune) > 0)
	began := app.Operation != nil && !app.Operation.StartedAt.Before(back.At.Truncate(time.Second))
	switch {
	case waited:
		// It is not for a pause to see to the end of a sync: what it stands at
		// is in the record.
	case running(app):
		return s.linger(r, s.ID(), "waiting for the sync that Argo CD began")
	case !acts || app.Sync.Status != "OutOfSync":
	case !began:
		return s.linger(r, s.ID(), "waiting for Argo CD to begin its sync")
	case app.Operation.Phase == "Succeeded":
		// Argo CD compares what its watches told it, and a sync ends before
		// they have told what it wrote.
		return s.linger(r, s.ID(), "waiting for Argo CD to see what its sync changed")
	}
	return s.end(app)
}

func (s afterwards) end(app argocd.App) runbook.Outcome {
	return verified.Done(Verified{Revision: app.Sync.Revision, Sync: app.Sync.Status, Health: app.Health, At: s.Now().UTC()})
}

// pauseRecord ends a pause: as it was meant, or as somebody else ended it.
type pauseRecord struct{ record }

func (s pauseRecord) Do(ctx context.Context, r state.Reconciliation) runbook.Outcome {
	out := s.record.Do(ctx, r)
	switch u := undoneIn(r); {
	case u != nil && u.Why != "":
		return out.Ending(NotPaused)
	case u != nil:
		return out.Ending(Undone)
	}
	return out
}
