// Package runbook is the engine: it takes a reconciliation through the steps
// of a book, across restarts, and gives up none of it on the way.
//
// It must never act on what it remembers without looking first: between the
// record of an intent and the record of its result lies every possible crash,
// so each step looks for its earlier effect and adopts it.
//
// Why no queue and no cursor: progress is the set of step results on disk.
// The next step is the first of the book without one, so going on after a
// crash is the same as going on.
package runbook

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"reconcilebot/state"
)

// Step is one thing to do, or to wait for.
type Step interface {
	// ID is written to disk: never renamed.
	ID() state.StepID
	// Do looks whether the thing is done already, does it if not, and answers
	// with exactly one of Done, Wait, Fail and Redo. It must not sleep.
	Do(context.Context, state.Reconciliation) Outcome
}

// Book is a runbook: its steps in their order, which is what happens. A
// released book is not edited; a new Version is added, and reconciliations
// under way finish the one they began.
type Book struct {
	Name    state.BookName
	Version int
	// Ends is the outcome of a reconciliation whose last step is done; empty
	// for a book after which people decide what is next.
	Ends  string
	Steps []Step
	// Ballot says what is put to the vote; nil for a book that asks nobody.
	Ballot func(state.Reconciliation) (Ballot, bool)
	// Keep is set for a book that keeps something as it is for a time.
	Keep *Keep
}

// Ballot is what people are asked to say yes or no to.
type Ballot struct {
	// Digest names the plan exactly; a vote for another one does not count.
	Digest string
	// Needed is how many different people have to say yes.
	Needed  int
	Expires time.Time
	// Made are the Kubernetes user names of those who made the changes: they
	// have no vote.
	Made []string
	// Disown is true when it is unknown who made a change: a voter then has
	// to say that it was not him.
	Disown bool
	// Override is true where somebody may go on without the yeses.
	Override bool
}

// Outcome is what a step answers.
type Outcome struct {
	result json.RawMessage
	wait   *state.Wait
	err    error
	redo   *redo
	void   *void
	said   []state.Said
	// outside is how long other systems were waited for.
	outside time.Duration
	// ends overrules the book's end: nothing further is to be done.
	ends string
}

type redo struct {
	from state.StepID
	why  string
}

// void is votes that count no more, and the step that counted them.
type void struct {
	counted state.StepID
	votes   []Voided
}

// Voided is one of them, and why, as it goes on after the voter's name: "is no
// member any more".
type Voided struct {
	Vote state.Vote
	Why  string
}

// Done ends the step; result is what it leaves behind.
func done(result json.RawMessage, err error) Outcome {
	if err != nil {
		return Fail(fmt.Errorf("encode result: %w", err))
	}
	return Outcome{result: result}
}

// Fail ends the way through the book. A *fault.Error says what to do.
func Fail(err error) Outcome { return Outcome{err: err} }

// For what a wait waits.
const (
	ForPeople = "people"
	ForPoll   = "poll"
	ForOutage = "outage"
)

// Wait says to look again after a while, or when something happens. Why is
// for people.
func Wait(after time.Duration, what, why string) Outcome {
	return Outcome{wait: &state.Wait{Until: time.Time{}.Add(after), For: what, Why: why}}
}

// Redo goes back to a step because what was found there holds no more. Votes
// given for it are void, and why is said.
func Redo(from state.StepID, why string) Outcome {
	return Outcome{redo: &redo{from: from, why: why}}
}

// Recount takes votes back of those who could not give them any more, and goes
// back to the step that counted them. What other steps left behind stays: the
// plan is the same.
func Recount(counted state.StepID, votes ...Voided) Outcome {
	return Outcome{void: &void{counted, votes}}
}

// Saying adds something to be said, or to be written in the journal, when the
// outcome is stored.
func (o Outcome) Saying(said ...state.Said) Outcome {
	o.said = append(o.said, said...)
	return o
}

// Ending makes a step's result the end of the reconciliation, with its
// outcome, whatever steps would follow.
func (o Outcome) Ending(outcome string) Outcome {
	o.ends = outcome
	return o
}

// Asking adds to a wait what people can agree to.
func (o Outcome) Asking(asks ...state.Ask) Outcome {
	if o.wait != nil {
		o.wait.Asks = asks
	}
	return o
}

// Within makes sure that it is looked again before long, whatever is waited
// for.
func (o Outcome) Within(most time.Duration) Outcome {
	if o.wait != nil && after(o.wait) > most {
		o.wait.Until = time.Time{}.Add(most)
	}
	return o
}

// Result names the step that produces a T, so that later steps and cards read
// it typed.
type Result[T any] struct{ Step state.StepID }

// Done ends the step with its result.
func (r Result[T]) Done(v T) Outcome {
	raw, err := json.Marshal(v)
	return done(raw, err)
}

// From reads the result that the step left.
func (r Result[T]) From(rec state.Reconciliation) (v T, err error) {
	raw := rec.Steps[r.Step].Result
	if raw == nil {
		return v, fmt.Errorf("reconciliation %s: step %s has no result yet", rec.ID, r.Step)
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("reconciliation %s: decode the result of step %s: %w", rec.ID, r.Step, err)
	}
	return v, nil
}

// If reads the result if there is one.
func (r Result[T]) If(rec state.Reconciliation) (v T, ok bool) {
	v, err := r.From(rec)
	return v, err == nil
}
