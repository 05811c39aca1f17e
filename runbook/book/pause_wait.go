package book

import (
	"context"
	"fmt"
	"time"

	"reconcilebot/runbook"
	"reconcilebot/state"
)

// remind waits until the end of the pause is near, and says so.
type remind struct{ *systems }

func (remind) ID() state.StepID { return reminded.Step }

func (s remind) Do(ctx context.Context, r state.Reconciliation) runbook.Outcome {
	return s.watch(ctx, r, reminded, false, func(now time.Time) (time.Duration, []state.Said) {
		if !now.Before(r.Pause.Until) {
			// Its end says more than its nearness would.
			return 0, nil
		}
		return r.Pause.Until.Add(-lead(r.Pause)).Sub(now), []state.Said{{Notice: "pause-reminder", Kind: "pause-reminder"}}
	})
}

// lead is how long before its end a pause is reminded of: a quarter of it, and
// no more than ten minutes.
func lead(p *state.Pause) time.Duration {
	from := p.From
	if n := len(p.Extended); n > 0 {
		from = p.Extended[n-1].At
	}
	return min(p.Until.Sub(from)/4, 10*time.Minute)
}

// expire waits until the pause ends, by its time or because somebody wants it.
type expire struct{ *systems }

func (expire) ID() state.StepID { return expired.Step }

func (s expire) Do(ctx context.Context, r state.Reconciliation) runbook.Outcome {
	return s.watch(ctx, r, expired, true, func(now time.Time) (time.Duration, []state.Said) {
		return r.Pause.Until.Sub(now), []state.Said{{Kind: "pause-expired"}}
	})
}

// watch waits, and looks now and then whether the pause still stands and what
// resuming would do. left says how much longer to wait, and what is said then;
// final asks for a look at the end, too.
func (s *systems) watch(ctx context.Context, r state.Reconciliation, leaves runbook.Result[Held], final bool, left func(time.Time) (time.Duration, []state.Said)) runbook.Outcome {
	now := s.Now().UTC()
	remains, said := left(now)
	if wanted(r) {
		remains, said = 0, nil
	}
	if undoneIn(r) != nil || remains <= 0 && !final {
		return leaves.Done(Held{At: now}).Saying(said...)
	}
	look, c, err := s.pausing(r)
	if err != nil {
		return runbook.Fail(err)
	}
	h, err := halted.From(r)
	if err != nil {
		return runbook.Fail(err)
	}
	undone, err := s.standing(ctx, c, look, h.At)
	if err != nil {
		out := s.stuck(r, leaves.Step, "look at the pause of "+r.Target, err)
		return out.Within(max(remains, s.Timing.PollController))
	}
	if undone != nil {
		return leaves.Done(Held{At: now, Undone: undone}).Saying(saidUndone(undone))
	}
	if remains <= 0 {
		return leaves.Done(Held{At: now}).Saying(said...)
	}
	would := "what resuming would do can't be seen now"
	if sim, err := s.simulation(ctx, r, look); err == nil {
		would = sim.Brief()
	}
	return runbook.Wait(min(remains, s.Timing.PauseCheck), runbook.ForPeople, roughly(r.Pause.Until.Sub(now))+" left; resuming now "+would)
}

// roughly is what is left, in steps that grow with it: every change of the
// words is a write and an edit of the card.
func roughly(d time.Duration) string {
	step := time.Minute
	switch {
	case d > 2*time.Hour:
		step = 15 * time.Minute
	case d > 15*time.Minute:
		step = 5 * time.Minute
	}
	d = (d + step - 1).Truncate(step)
	h, m := int(d/time.Hour), int(d%time.Hour/time.Minute)
	switch {
	case h == 0:
		return fmt.Sprintf("%d min", m)
	case m == 0:
		return fmt.Sprintf("%d h", h)
	}
	return fmt.Sprintf("%d h %d min", h, m)
}
