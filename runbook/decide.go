package runbook

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"reconcilebot/runbook/fault"
	"reconcilebot/state"
)

// Survey is the book that every reconciliation begins with: it ends with a
// question to people.
const Survey state.BookName = "survey"

// Opening is a wish to look at a target.
type Opening struct {
	// ID is made from the delivery that asked, so that asking once opens once.
	ID       state.ReconciliationID
	Incident state.IncidentID
	Room     state.Room
	Target   string
	By       state.Person
	// Found is the result of the first look, where somebody has looked
	// already; nil otherwise.
	Found json.RawMessage
}

// Open starts a reconciliation and looks at the target, or joins the one that
// is under way. joined tells which.
func (e *Engine) Open(o Opening) (r state.Reconciliation, joined bool, err error) {
	book, ok := e.newest(Survey)
	if !ok {
		return r, false, fmt.Errorf("open %s: there is no book %q", o.Target, Survey)
	}
	begin := state.Reconciliation{
		ID: o.ID, Incident: o.Incident, Room: o.Room, Target: o.Target, OpenedBy: o.By,
		Book: book.Name, BookVersion: book.Version,
	}
	if o.Found != nil {
		now := e.now()
		begin.Steps = map[state.StepID]state.Step{book.Steps[0].ID(): {Started: now, Finished: now, Result: o.Found}}
	}
	r, joined, err = e.db.Open(begin)
	if err == nil {
		e.Poke(r.ID)
	}
	return r, joined, err
}

// Decide chooses the book to go by. The first decision holds; a second is
// answered with who made the first. The same delivery again is no second one.
func (e *Engine) Decide(id state.ReconciliationID, name state.BookName, d state.Decision) (state.Reconciliation, error) {
	book, ok := e.newest(name)
	if !ok {
		return state.Reconciliation{}, fmt.Errorf("decide %s: there is no book %q", id, name)
	}
	r, err := e.db.Change(id, func(r *state.Reconciliation, now time.Time) ([]state.Said, error) {
		if r.Decided() {
			if d.Delivery != "" && r.Decision.Delivery == d.Delivery {
				return nil, nil
			}
			return nil, &fault.Error{Kind: fault.Conflict, Err: state.ErrDecided,
				Say: fmt.Sprintf("%s already chose to %s this, at %s.", r.Decision.By.Name, r.Book, r.Decision.At.Format("15:04 UTC"))}
		}
		d.At = now
		r.Book, r.BookVersion, r.Decision = book.Name, book.Version, d
		r.Failure, r.Wait = nil, nil
		return []state.Said{{Notice: "decided", Kind: "decided", By: d.By, Data: map[string]any{"book": book.Name, "reason": d.Reason}}}, nil
	})
	return e.poked(r, said(err))
}

// Vote gives a person's yes or no to the plan with that digest. Whoever asked
// for the plan or made the change has no vote; nobody has two. An override is
// open to them, too: it needs a reason, and somebody else reviews it
// afterwards.
func (e *Engine) Vote(id state.ReconciliationID, v state.Vote) (state.Reconciliation, error) {
	r, err := e.db.Change(id, func(r *state.Reconciliation, now time.Time) ([]state.Said, error) {
		if err := e.mayVote(*r, v, now); err != nil {
			return nil, err
		}
		if v.Override && slices.ContainsFunc(r.Standing(v.Digest), func(old state.Vote) bool { return old.Override && old.By.Is(v.By) }) {
			return nil, nil
		}
		v.At = now
		r.Votes = append(r.Votes, v)
		kind := "approved"
		switch {
		case v.Override:
			kind = "overridden"
			r.Review = &state.Review{Since: now}
		case !v.Yes:
			kind = "declined"
		}
		return []state.Said{{Notice: kind, Kind: kind, By: v.By, Data: v}}, nil
	})
	return e.poked(r, said(err))
}

func (e *Engine) mayVote(r state.Reconciliation, v state.Vote, now time.Time) error {
	ballot, ok := e.Ballot(r)
	switch {
	case !ok:
		return fault.New(fault.Conflict, "There is nothing to approve here any more.")
	case ballot.Digest != v.Digest:
		return fault.New(fault.Conflict, "The plan changed since this card was drawn. Look at the new card and vote there.")
	case now.After(ballot.Expires):
		return fault.New(fault.Conflict, "This plan expired. Ask for it again.")
	}
	if v.Override {
		return overridable(ballot, v)
	}
	if slices.ContainsFunc(r.Standing(v.Digest), func(old state.Vote) bool { return old.By.Is(v.By) }) {
		return fault.New(fault.Conflict, "You voted on this plan already.")
	}
	if !v.Yes {
		return nil
	}
	return e.independent(r, ballot, v)
}

// overridable refuses an override that would be a silent one, or where deleting
// or the word of several people is at stake.
func overridable(ballot Ballot, v state.Vote) error {
	switch {
	case !ballot.Override:
		return fault.New(fault.Refused, "The approval for this can't be overridden. The card shows whose yes it needs.")
	case !v.Yes || v.Reason == "":
		return fault.New(fault.Invalid, "Say why this can't wait for an approval.")
	}
	return nil
}

// Review notes what somebody found who looked, afterwards, at what went on
// without the approval that was asked for. Whoever overrode it, asked for it
// or made the change is not somebody else.
func (e *Engine) Review(id state.ReconciliationID, by state.Person, finding string, act state.DeliveryID) (state.Reconciliation, error) {
	r, err := e.db.ChangeReview(id, func(r state.Reconciliation, now time.Time) (state.Review, []state.Said, error) {
		switch {
		case r.Review == nil:
			return state.Review{}, nil, fault.New(fault.Conflict, "There is nothing to review here.")
		case !r.Review.Open() && act != "" && r.Review.Delivery == act:
			return *r.Review, nil, nil
		case !r.Review.Open():
			return state.Review{}, nil, fault.New(fault.Conflict, fmt.Sprintf("%s reviewed this already, at %s.", r.Review.By.Name, r.Review.Done.Format("15:04 UTC")))
		case finding == "":
			return state.Review{}, nil, fault.New(fault.Invalid, "Say what you found.")
		case by.Is(r.Decision.By) || slices.ContainsFunc(r.Votes, func(v state.Vote) bool { return v.Override && v.By.Is(by) }):
			return state.Review{}, nil, fault.New(fault.Denied, "You can't review this: it went on at your word. Somebody else has to.")
		}
		done := *r.Review
		done.Done, done.By, done.Finding, done.Delivery = now, by, finding, act
		return done, []state.Said{{Notice: "reviewed", Kind: "reviewed", By: by, Data: done}}, nil
	})
	return r, said(err)
}

// independent refuses a yes from somebody who approves his own work.
func (e *Engine) independent(r state.Reconciliation, ballot Ballot, v state.Vote) error {
	if v.By.Is(r.Decision.By) {
		return fault.New(fault.Denied, "You can't approve this: you asked for it.")
	}
	if slices.ContainsFunc(ballot.Made, v.By.Writes) {
		return fault.New(fault.Denied, "You can't approve this: you made the change.")
	}
	if ballot.Disown && !v.NotMine {
		return fault.New(fault.Invalid, "Nobody knows who made this change. Approve it with the confirmation that it was not you.")
	}
	return nil
}

// Ballot is what a reconciliation puts to the vote now, if anything.
func (e *Engine) Ballot(r state.Reconciliation) (Ballot, bool) {
	book, ok := e.Book(r)
	if !ok || book.Ballot == nil || r.IsClosed() || r.Failure != nil {
		return Ballot{}, false
	}
	return book.Ballot(r)
}

// Accept agrees to an effect on another target that is asked about now. The
// same yes twice is one.
func (e *Engine) Accept(id state.ReconciliationID, a state.Acceptance) (state.Reconciliation, error) {
	r, err := e.db.Change(id, func(r *state.Reconciliation, now time.Time) ([]state.Said, error) {
		if r.Accepts(a.Target, a.Digest) {
			return nil, nil
		}
		asked := func(ask state.Ask) bool { return ask.Target == a.Target && ask.Digest == a.Digest }
		if r.Wait == nil || !slices.ContainsFunc(r.Wait.Asks, asked) {
			return nil, fault.New(fault.Conflict, "That is not asked any more. The card shows how it stands.")
		}
		a.At = now
		r.Accepted = append(slices.Clone(r.Accepted), a)
		return []state.Said{{Notice: "accepted", Kind: "accepted", By: a.By, Data: a}}, nil
	})
	return e.poked(r, said(err))
}

// Leave ends a reconciliation with nothing done. Once a plan is being carried
// out it is finished instead: what is half done must not be left.
func (e *Engine) Leave(id state.ReconciliationID, by state.Person) (state.Reconciliation, error) {
	r, err := e.db.Change(id, func(r *state.Reconciliation, now time.Time) ([]state.Said, error) {
		if err := e.kept(*r); err != nil {
			return nil, err
		}
		if r.Decided() && r.Failure == nil {
			return nil, fault.New(fault.Conflict, "This is under way and can't be left now. Decline the plan instead, while it waits for approval.")
		}
		r.Outcome, r.Closed, r.Wait = "left", now, nil
		return []state.Said{{Notice: "left", Kind: "left", By: by}}, nil
	})
	return r, said(err)
}

// Again goes back to the beginning after a failure: the target is looked at
// afresh and people decide anew.
func (e *Engine) Again(id state.ReconciliationID, by state.Person) (state.Reconciliation, error) {
	book, ok := e.newest(Survey)
	if !ok {
		return state.Reconciliation{}, fmt.Errorf("begin %s again: there is no book %q", id, Survey)
	}
	r, err := e.db.Change(id, func(r *state.Reconciliation, now time.Time) ([]state.Said, error) {
		if r.Pause != nil {
			return nil, fault.New(fault.Conflict, "A pause is not begun again. Try again, resume it, or ask for another one.")
		}
		if r.Decided() && r.Failure == nil {
			return nil, fault.New(fault.Conflict, "This is under way. Decline the plan first, while it waits for approval.")
		}
		if r.Decided() || r.Failure != nil {
			r.Past = append(r.Past, state.Attempt{Book: r.Book, Decision: r.Decision, Failure: r.Failure, Why: "begun again", At: now})
		}
		voidAll(r, "begun again", now)
		r.Book, r.BookVersion = book.Name, book.Version
		r.Decision, r.Failure, r.Wait, r.Steps = state.Decision{}, nil, nil, nil
		return []state.Said{{Kind: "begun-again", By: by}}, nil
	})
	return e.poked(r, said(err))
}

// Retry tries the step that failed once more.
func (e *Engine) Retry(id state.ReconciliationID, by state.Person) (state.Reconciliation, error) {
	r, err := e.db.Change(id, func(r *state.Reconciliation, _ time.Time) ([]state.Said, error) {
		if r.Failure == nil {
			return nil, fault.New(fault.Conflict, "Nothing has failed here.")
		}
		said := state.Said{Kind: "retried", By: by, Data: r.Failure}
		r.Failure = nil
		return []state.Said{said}, nil
	})
	return e.poked(r, said(err))
}

func (e *Engine) poked(r state.Reconciliation, err error) (state.Reconciliation, error) {
	if err == nil {
		e.Poke(r.ID)
	}
	return r, err
}

// said gives the errors of the store their words.
func said(err error) error {
	switch {
	case err == nil:
		return nil
	case fault.Of(err) != fault.Internal:
		return err
	case errors.Is(err, state.ErrClosed):
		return &fault.Error{Kind: fault.Conflict, Err: err, Say: "This reconciliation has ended. Start a new one with /reconcile drift."}
	}
	return err
}
