package runbook

import (
	"maps"
	"slices"
	"time"

	"reconcilebot/state"
)

// after is how long an outcome's wait wants to be left alone: Wait keeps it
// as a distance from the zero time until it is placed.
func after(w *state.Wait) time.Duration { return w.Until.Sub(time.Time{}) }

// sameWait tells whether people would see no difference.
func sameWait(have, want *state.Wait, id state.StepID) bool {
	return have != nil && have.Step == id && have.Why == want.Why && have.For == want.For && slices.Equal(have.Asks, want.Asks)
}

// placeWait puts a wait on the calendar. The time since when the step waits
// is kept while only its reason changes.
func placeWait(have, want *state.Wait, id state.StepID, now time.Time) *state.Wait {
	placed := &state.Wait{Step: id, Since: now, From: now, Until: now.Add(after(want)), Why: want.Why, For: want.For, Asks: want.Asks}
	if have != nil && have.Step == id {
		placed.Since = have.Since
		if have.For == want.For {
			placed.From = have.From
		}
	}
	return placed
}

// lookedAgain keeps a wait whose reason is the same without writing: a poll
// must not cost a write to disk and an edit of the card each time.
func (e *Engine) lookedAgain(was state.Reconciliation, want *state.Wait, began time.Time) state.Reconciliation {
	e.agenda.looked(was.ID, e.now().Sub(began))
	w := *was.Wait
	w.Until = e.now().Add(after(want))
	was.Wait = &w
	return was
}

// waited adds the wait that ends, if one does, to the step's time of waiting.
// The looks that were taken in between are work, not waiting.
func (e *Engine) waited(r state.Reconciliation, step *state.Step, id state.StepID, next *state.Wait, began time.Time) {
	w := r.Wait
	if w == nil || w.Step != id || next != nil && next.For == w.For {
		return
	}
	// A new map: the record that was read must not change when the
	// transaction is tried again.
	waited := maps.Clone(step.Waited)
	if waited == nil {
		waited = map[string]time.Duration{}
	}
	waited[w.For] += max(0, began.Sub(w.From)-e.agenda.looks(r.ID))
	step.Waited = waited
}

// Poll is how long to wait before looking again at something that has been
// awaited since a time: often at first, then less and less, between min and
// max.
func Poll(since, now time.Time, least, most time.Duration) time.Duration {
	return min(max(now.Sub(since)/8, least), most)
}
