package runbook

import (
	"fmt"
	"slices"
	"time"

	"reconcilebot/runbook/fault"
	"reconcilebot/state"
)

// Keep tells of a book that keeps something as it is for a time.
type Keep struct {
	// From is the step that its time is up to: when that moves, or when
	// somebody wants it to end, the steps from there on are done anew.
	From state.StepID
	// Back is the step that puts back what was there. Once it began, the time
	// can't be moved any more.
	Back state.StepID
	// Taken is the step that takes hold. Once it began, the reconciliation
	// can't be left: something has to be put back.
	Taken state.StepID
}

// Pause opens a reconciliation that goes by a book which keeps something for
// a time, or joins the one that does so for the same target.
func (e *Engine) Pause(o Opening, name state.BookName, p state.Pause, delivery state.DeliveryID) (r state.Reconciliation, joined bool, err error) {
	book, ok := e.newest(name)
	if !ok || book.Keep == nil {
		return r, false, fmt.Errorf("pause %s: there is no book %q that keeps something", o.Target, name)
	}
	r, joined, err = e.db.Open(state.Reconciliation{
		ID: o.ID, Incident: o.Incident, Room: o.Room, Target: o.Target, Lease: state.PauseLease(o.Target), OpenedBy: o.By,
		Book: book.Name, BookVersion: book.Version, Pause: &p,
		Decision: state.Decision{By: p.By, Reason: p.Reason, At: p.From, Delivery: delivery},
	})
	if err == nil {
		e.Poke(r.ID)
	}
	return r, joined, err
}

// Extend moves the end of a pause. The same delivery moves it once. Whatever
// was asked about its end is void.
func (e *Engine) Extend(id state.ReconciliationID, x state.Extension) (state.Reconciliation, error) {
	return e.poked(e.keep(id, func(r *state.Reconciliation, now time.Time) ([]state.Said, error) {
		if x.Delivery != "" && slices.ContainsFunc(r.Pause.Extended, func(old state.Extension) bool { return old.Delivery == x.Delivery }) {
			return nil, nil
		}
		x.At = now
		r.Pause.Extended = append(slices.Clone(r.Pause.Extended), x)
		r.Pause.Until, r.Pause.Resume = x.Until, nil
		return []state.Said{{Notice: "pause-extended", Kind: "pause-extended", By: x.By, Data: x}}, nil
	}, "the pause was extended"))
}

// Resume asks for the end of a pause. Whoever asks has no vote on what that
// undoes.
func (e *Engine) Resume(id state.ReconciliationID, d state.Decision) (state.Reconciliation, error) {
	return e.poked(e.keep(id, func(r *state.Reconciliation, now time.Time) ([]state.Said, error) {
		if r.Pause.Resume != nil && d.Delivery != "" && r.Pause.Resume.Delivery == d.Delivery {
			return nil, nil
		}
		d.At = now
		r.Pause.Resume, r.Decision = &d, d
		return []state.Said{{Notice: "pause-ending", Kind: "resume-asked", By: d.By, Data: d}}, nil
	}, "the end of the pause was asked for"))
}

// keep changes what people ask of a pause, and takes it back to the step that
// its time is up to. change answers nothing said when there is nothing to do.
func (e *Engine) keep(id state.ReconciliationID, change func(*state.Reconciliation, time.Time) ([]state.Said, error), void string) (state.Reconciliation, error) {
	r, err := e.db.Change(id, func(r *state.Reconciliation, now time.Time) ([]state.Said, error) {
		book, ok := e.Book(*r)
		if !ok || book.Keep == nil || r.Pause == nil {
			return nil, fault.New(fault.Invalid, "This is no pause.")
		}
		if _, begun := r.Steps[book.Keep.Back]; begun {
			return nil, fault.New(fault.Conflict, "This is being resumed already. Pause it anew when that is done.")
		}
		// A new struct: the record that was read must not change when the
		// transaction is tried again.
		asked := *r.Pause
		r.Pause = &asked
		said, err := change(r, now)
		if err != nil || said == nil {
			return said, err
		}
		dropping := false
		for _, s := range book.Steps {
			if dropping = dropping || s.ID() == book.Keep.From; dropping {
				delete(r.Steps, s.ID())
			}
		}
		voidAll(r, void, now)
		if r.Wait != nil && r.Steps[r.Wait.Step].Started.IsZero() {
			r.Wait = nil
		}
		r.Failure = nil
		return said, nil
	})
	return r, said(err)
}

// kept refuses to leave, or to begin anew, what has taken hold of something.
func (e *Engine) kept(r state.Reconciliation) error {
	book, ok := e.Book(r)
	if !ok || book.Keep == nil {
		return nil
	}
	if _, begun := r.Steps[book.Keep.Taken]; begun {
		return fault.New(fault.Conflict, "A pause can't be left: something has to be put back. Resume it, or try again.")
	}
	return nil
}
