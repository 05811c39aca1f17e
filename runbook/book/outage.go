package book

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"time"

	"reconcilebot/runbook"
	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/fault"
	"reconcilebot/runbook/forge"
	"reconcilebot/runbook/git"
	"reconcilebot/state"
)

// outcome turns an error of a system into what the step answers: a system
// that is down is waited for, everything else ends the way.
func (s *systems) outcome(r state.Reconciliation, id state.StepID, doing string, err error) runbook.Outcome {
	who, until, down := outage(err)
	if !down {
		return runbook.Fail(explain(doing, err))
	}
	why := "waiting for " + who + ", which can't be reached; this goes on by itself when it is back"
	now := s.Now()
	since, known := now, false
	if r.Wait != nil && r.Wait.Step == id && r.Wait.For == runbook.ForOutage {
		since, known = r.Wait.Since, r.Wait.Why == why
	}
	again := runbook.Poll(since, now, time.Second, 30*time.Second)
	if wait := until.Sub(now); wait > again {
		again = wait
	}
	if waited := now.Sub(since); !known || toldAgain(waited, again) {
		s.Log.Info("waiting for a system", "run", r.ID, "step", id, "system", who, "waited", waited.Round(time.Second).String(), "err", err)
	}
	return runbook.Wait(again, runbook.ForOutage, why)
}

// toldAgain tells whether the log is to say again that something is awaited:
// at the last look before the first, second, fourth, eighth … minute is over.
// A line for every look would bury everything else in a long outage.
func toldAgain(waited, next time.Duration) bool {
	doublings := func(d time.Duration) int { return bits.Len64(uint64(d / time.Minute)) }
	return doublings(waited) != doublings(waited+next)
}

// outage tells whether an error means that a system is down, and which.
func outage(err error) (who string, until time.Time, down bool) {
	if limited, ok := errors.AsType[*forge.RateLimited](err); ok {
		return "GitHub's rate limit", limited.Until, true
	}
	for _, candidate := range []struct {
		who string
		is  bool
	}{
		{"Argo CD", isA[*argocd.Unavailable](err)},
		{"GitHub", isA[*forge.Unavailable](err)},
		{"Git", isA[*git.Unavailable](err)},
		{"the cluster's API server", isA[*cluster.Unavailable](err)},
		{"a system that takes too long to answer", errors.Is(err, context.DeadlineExceeded)},
	} {
		if candidate.is {
			return candidate.who, time.Time{}, true
		}
	}
	return "", time.Time{}, false
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// explain gives an error that people can do something about its words.
func explain(doing string, err error) error {
	if fault.Of(err) != fault.Internal {
		return err
	}
	wrapped := fmt.Errorf("%s: %w", doing, err)
	say := ""
	switch {
	case isA[*argocd.Denied](err):
		say = "Argo CD refuses this to reconcilebot's account. `reconcilebot doctor` names the missing right."
	case isA[*argocd.NotFound](err):
		say = "Argo CD does not know this Application any more, or reconcilebot's account may not see it."
	case isA[*git.Denied](err):
		say = "The Git host refuses reconcilebot's token for this repository. `reconcilebot doctor` names the missing right."
	case isA[*forge.NotInstalled](err):
		say = "reconcilebot's GitHub App is not installed with the owner of this repository, or is suspended there. An owner of that organisation can install it; `reconcilebot doctor` says where it is."
	case isA[*git.Conflict](err), isA[*forge.Taken](err):
		say = "Somebody else pushed to the branch of this reconciliation. Delete that branch, or start over."
	default:
		return wrapped
	}
	return &fault.Error{Kind: fault.Refused, Say: say, Err: wrapped}
}
