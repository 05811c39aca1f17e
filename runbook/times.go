package runbook

import (
	"log/slog"
	"time"

	"reconcilebot/state"
)

// Spent is where the time of a reconciliation went.
type Spent struct {
	Total time.Duration
	// People is the time until somebody decided, approved or reviewed.
	People time.Duration
	// Polls is the time between looks at something that takes its time, and
	// the time that the end state had to hold.
	Polls time.Duration
	// Outages is the time for which a system was away.
	Outages time.Duration
	// Machine is all the rest: the work of the bot and of those it asks.
	Machine time.Duration
}

// Times adds up where the time went, from the opening to the close.
func Times(r state.Reconciliation) Spent {
	s := Spent{Total: r.Closed.Sub(r.Opened)}
	for id, step := range r.Steps {
		if id == state.StepID(Survey) && r.Decided() && !step.Finished.IsZero() {
			// Who decides in the command itself does so before the survey.
			s.People += max(r.Decision.At.Sub(step.Finished), 0)
		}
		s.People += step.Waited[ForPeople]
		s.Polls += step.Waited[ForPoll]
		s.Outages += step.Waited[ForOutage]
	}
	s.Machine = s.Total - s.People - s.Polls - s.Outages
	return s
}

// LogValue gives the times in milliseconds.
func (s Spent) LogValue() slog.Value {
	ms := func(name string, d time.Duration) slog.Attr {
		return slog.Float64(name, float64(d.Microseconds())/1000)
	}
	return slog.GroupValue(ms("total", s.Total), ms("people", s.People), ms("polls", s.Polls), ms("outages", s.Outages), ms("machine", s.Machine))
}
