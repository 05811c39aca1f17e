package runbook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"reconcilebot/runbook/fault"
	"reconcilebot/runbook/stopwatch"
	"reconcilebot/state"
)

// Config is what an engine needs.
type Config struct {
	DB    *state.DB
	Books []Book
	Log   *slog.Logger
	// Now is the clock; time.Now if nil.
	Now func() time.Time
	// Workers is how many reconciliations move at the same time; 8 if zero.
	Workers int
	// StepTimeout bounds one look of one step; two minutes if zero.
	StepTimeout time.Duration
}

// Engine moves reconciliations. It is safe for concurrent use.
type Engine struct {
	db      *state.DB
	books   []Book
	log     *slog.Logger
	now     func() time.Time
	timeout time.Duration
	agenda  *agenda
	workers int
}

// New makes an engine; Run starts it.
func New(c Config) *Engine {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Workers == 0 {
		c.Workers = 8
	}
	if c.StepTimeout == 0 {
		c.StepTimeout = 2 * time.Minute
	}
	return &Engine{db: c.DB, books: c.Books, log: c.Log, now: c.Now, timeout: c.StepTimeout, workers: c.Workers, agenda: newAgenda()}
}

// Book finds the book that a reconciliation goes by.
func (e *Engine) Book(r state.Reconciliation) (Book, bool) {
	i := slices.IndexFunc(e.books, func(b Book) bool { return b.Name == r.Book && b.Version == r.BookVersion })
	if i < 0 {
		return Book{}, false
	}
	return e.books[i], true
}

// newest finds the edition of a book that new work goes by.
func (e *Engine) newest(name state.BookName) (found Book, ok bool) {
	for _, b := range e.books {
		if b.Name == name && (!ok || b.Version > found.Version) {
			found, ok = b, true
		}
	}
	return found, ok
}

// next is the first step without a result.
func (b Book) next(r state.Reconciliation) (Step, bool) {
	for _, s := range b.Steps {
		if !r.Done(s.ID()) {
			return s, true
		}
	}
	return nil, false
}

// Advance takes a reconciliation on until it ends, waits or fails, and
// returns it as it then stands. Only one goroutine may advance one
// reconciliation: Run sees to that.
func (e *Engine) Advance(ctx context.Context, id state.ReconciliationID) (state.Reconciliation, error) {
	for {
		r, err := e.db.Reconciliation(id)
		if err != nil || r.IsClosed() || r.Failure != nil {
			return r, err
		}
		book, ok := e.Book(r)
		if !ok {
			return r, fmt.Errorf("reconciliation %s: no book %q in edition %d", id, r.Book, r.BookVersion)
		}
		step, ok := book.next(r)
		if !ok {
			return r, nil
		}
		if err := ctx.Err(); err != nil {
			return r, err
		}
		if r, err = e.begin(r, step.ID()); err != nil {
			return r, err
		}
		began := e.now()
		out := e.attempt(ctx, step, r)
		if ctx.Err() != nil && out.result == nil {
			// The program is stopping, and whatever the step answered may be
			// for that reason: it is looked at again after the restart.
			return r, ctx.Err()
		}
		r, err = e.settle(r, book, step.ID(), out, began)
		if errors.Is(err, state.ErrChanged) {
			continue
		}
		if err != nil || r.Wait != nil || r.Failure != nil || r.IsClosed() {
			return r, err
		}
	}
}

// begin records the intent before the act. A step that was begun before is
// not begun again, so looking at a wait once more writes nothing.
func (e *Engine) begin(r state.Reconciliation, id state.StepID) (state.Reconciliation, error) {
	if _, begun := r.Steps[id]; begun {
		return r, nil
	}
	return e.db.Change(r.ID, func(r *state.Reconciliation, now time.Time) ([]state.Said, error) {
		if r.Steps == nil {
			r.Steps = map[state.StepID]state.Step{}
		}
		if _, begun := r.Steps[id]; !begun {
			r.Steps[id] = state.Step{Started: now}
		}
		return nil, nil
	})
}

// attempt runs a step; a panic ends the step, not the bot.
func (e *Engine) attempt(ctx context.Context, step Step, r state.Reconciliation) (out Outcome) {
	ctx, cancel := context.WithTimeoutCause(ctx, e.timeout, fmt.Errorf("step %s took longer than %s", step.ID(), e.timeout))
	defer cancel()
	var outside stopwatch.Watch
	ctx = stopwatch.With(ctx, &outside)
	defer func() { out.outside = outside.Total() }()
	defer func() {
		if p := recover(); p != nil {
			e.log.Error("a step panicked", "run", r.ID, "step", step.ID(), "err", fmt.Sprint(p), "stack", string(debug.Stack()))
			out = Fail(fmt.Errorf("step %s panicked: %v", step.ID(), p))
		}
	}()
	return step.Do(ctx, r)
}

// settle stores what a step answered. It answers ErrChanged, storing nothing,
// when the reconciliation moved while the step worked (a vote, a decision):
// the step is then looked at again, and adopts what it has done.
func (e *Engine) settle(was state.Reconciliation, book Book, id state.StepID, out Outcome, began time.Time) (state.Reconciliation, error) {
	if out.wait != nil && sameWait(was.Wait, out.wait, id) {
		return e.lookedAgain(was, out.wait, began), nil
	}
	r, err := e.db.Change(was.ID, func(r *state.Reconciliation, now time.Time) ([]state.Said, error) {
		if r.Rev != was.Rev {
			return nil, state.ErrChanged
		}
		step := r.Steps[id]
		e.waited(*r, &step, id, out.wait, began)
		step.Outside += out.outside
		if out.wait == nil {
			r.Wait = nil
		}
		said := out.said
		switch {
		case out.err != nil:
			said = append(said, e.fail(r, id, out.err, now))
		case out.redo != nil:
			said = append(said, redoFrom(r, book, *out.redo, now))
			return said, nil
		case out.void != nil:
			return append(said, recount(r, *out.void, now)...), nil
		case out.wait != nil:
			r.Wait = placeWait(r.Wait, out.wait, id, now)
		default:
			step.Finished, step.Result = now, out.result
			said = append(said, state.Said{Kind: "step", Data: map[string]any{"step": id, "result": out.result}})
			said = append(said, end(r, book, id, out.ends, now)...)
		}
		r.Steps[id] = step
		return said, nil
	})
	if err == nil && (out.wait == nil || was.Wait == nil || was.Wait.For != out.wait.For) {
		e.agenda.forget(was.ID)
	}
	if err == nil && r.IsClosed() {
		e.log.Info("ended", "run", r.ID, "outcome", r.Outcome, "times", Times(r))
	}
	return r, err
}

func (e *Engine) fail(r *state.Reconciliation, id state.StepID, err error, now time.Time) state.Said {
	e.log.Warn("a step failed", "run", r.ID, "step", id, "err", err)
	r.Wait = nil
	r.Failure = &state.Failure{Step: id, Say: fault.Say(err, string(r.ID)), At: now}
	return state.Said{Notice: "failed", Kind: "failed", Data: r.Failure}
}

// redoFrom drops the results from a step on, and the votes given for them.
func redoFrom(r *state.Reconciliation, book Book, to redo, now time.Time) state.Said {
	dropping := false
	for _, s := range book.Steps {
		dropping = dropping || s.ID() == to.from
		if dropping {
			delete(r.Steps, s.ID())
		}
	}
	voidAll(r, to.why, now)
	r.Wait = nil
	r.Past = append(r.Past, state.Attempt{Book: r.Book, Decision: r.Decision, Why: to.why, At: now})
	return state.Said{Notice: "replanned", Kind: "replanned", Data: map[string]any{"from": to.from, "why": to.why}}
}

// voidAll takes all votes back.
func voidAll(r *state.Reconciliation, why string, now time.Time) {
	for i := range r.Votes {
		if r.Votes[i].Void == "" {
			r.Votes[i].Void, r.Votes[i].VoidAt = why, now
		}
	}
}

// recount takes some votes back, and drops the result of the step that counted
// them.
func recount(r *state.Reconciliation, v void, now time.Time) (said []state.Said) {
	for i := range r.Votes {
		for _, gone := range v.votes {
			if vote := &r.Votes[i]; vote.Void == "" && vote.At.Equal(gone.Vote.At) && vote.By.ID == gone.Vote.By.ID {
				vote.Void, vote.VoidAt = gone.Why, now
				said = append(said, state.Said{Notice: "vote-void", Kind: "vote-void", By: vote.By, Data: *vote})
			}
		}
	}
	delete(r.Steps, v.counted)
	r.Wait = nil
	return said
}

// end closes the reconciliation after the last step of a book that ends one.
func end(r *state.Reconciliation, book Book, id state.StepID, ends string, now time.Time) []state.Said {
	if ends == "" && book.Steps[len(book.Steps)-1].ID() == id {
		ends = book.Ends
	}
	if ends == "" {
		return nil
	}
	r.Outcome, r.Closed = ends, now
	return []state.Said{{Notice: "closed", Kind: "closed", Data: map[string]string{"outcome": ends}}}
}
