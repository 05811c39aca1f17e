package state

import (
	"encoding/json"
	"slices"
	"time"
)

type (
	// ReconciliationID names one target's way from drift to record in one
	// incident.
	ReconciliationID string
	// BookName names a runbook; BookVersion its edition. Both are written to
	// disk and never renamed.
	BookName string
	// StepID names a step of a runbook; written to disk, never renamed.
	StepID string
)

// Reconciliation is one target in one incident, from drift to record.
type Reconciliation struct {
	ID       ReconciliationID `json:"id"`
	Rev      uint64           `json:"rev"`
	Incident IncidentID       `json:"incident"`
	Room     Room             `json:"room"`
	// Target names what owns the objects, in the form that drift gives it.
	Target string `json:"target"`
	// Lease is what only one open reconciliation may have at a time; empty
	// means the target itself.
	Lease    string    `json:"lease,omitempty"`
	Opened   time.Time `json:"opened"`
	OpenedBy Person    `json:"openedBy"`

	Book        BookName `json:"book"`
	BookVersion int      `json:"bookVersion"`
	// Decision is zero until somebody decided.
	Decision Decision `json:"decision,omitzero"`
	// Steps holds what each step left behind. The next step is the first of
	// the book without a result here: there is no cursor to keep in step.
	Steps map[StepID]Step `json:"steps,omitempty"`
	// Wait says what the reconciliation waits for; nil while it runs.
	Wait *Wait `json:"wait,omitempty"`
	// Failure says why it stopped; nil otherwise.
	Failure *Failure `json:"failure,omitempty"`
	Votes   []Vote   `json:"votes,omitempty"`
	// Accepted are the effects on other targets that somebody agreed to.
	Accepted []Acceptance `json:"accepted,omitempty"`
	// Review is the second look that an override asks for; nil without one.
	Review *Review `json:"review,omitempty"`
	// Pause is what people asked of a pause; nil for everything else.
	Pause *Pause `json:"pause,omitempty"`
	// Past are the ways tried before this one, oldest first.
	Past []Attempt `json:"past,omitempty"`

	// Outcome is empty until Closed is set: "adopted", "reverted", "changed", "rolled back",
	// "left" or "nothing to do"; for a pause "resumed", "undone",
	// "nothing to pause" or "would not hold".
	Outcome string    `json:"outcome,omitempty"`
	Closed  time.Time `json:"closed,omitzero"`
}

// Decision is what a person chose, and why.
type Decision struct {
	By     Person    `json:"by"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
	// Choice is what exactly was chosen, where the book leaves a choice, in the
	// book's own form.
	Choice json.RawMessage `json:"choice,omitempty"`
	// Delivery is the act that decided, so that the same act is not refused
	// as a second one.
	Delivery DeliveryID `json:"delivery,omitempty"`
}

// Step is the trace of one step: begun, and, when Result is not nil, done.
type Step struct {
	Started  time.Time       `json:"started"`
	Finished time.Time       `json:"finished,omitzero"`
	Result   json.RawMessage `json:"result,omitempty"`
	// Waited is the time spent waiting, by what was awaited, as in Wait.For.
	Waited map[string]time.Duration `json:"waited,omitempty"`
	// Outside is the time in which the step's calls to other systems were
	// under way.
	Outside time.Duration `json:"outside,omitempty"`
}

// Wait is a wait on disk: nothing sleeps.
type Wait struct {
	Step  StepID    `json:"step"`
	Since time.Time `json:"since"`
	// From is since when it waits for this kind of thing.
	From time.Time `json:"from"`
	// Until is when to look again, at the latest.
	Until time.Time `json:"until"`
	Why   string    `json:"why"`
	// For is "people", "poll" or "outage": what kind of thing is awaited.
	For string `json:"for"`
	// Asks are what people can agree to, so that it goes on.
	Asks []Ask `json:"asks,omitempty"`
}

// Ask is something on another target that going on would bring about.
type Ask struct {
	// Target names it; Digest binds a yes to what it says.
	Target string `json:"target"`
	Digest string `json:"digest"`
	// Text is for people.
	Text string `json:"text"`
}

// Acceptance is somebody's yes to an Ask.
type Acceptance struct {
	Target string    `json:"target"`
	Digest string    `json:"digest"`
	By     Person    `json:"by"`
	At     time.Time `json:"at"`
}

// Failure is the end of a way that did not work.
type Failure struct {
	Step StepID `json:"step"`
	// Say is for people: what happened and what to do.
	Say string    `json:"say"`
	At  time.Time `json:"at"`
}

// Vote is a person's yes or no to one plan digest.
type Vote struct {
	By     Person    `json:"by"`
	Yes    bool      `json:"yes"`
	Digest string    `json:"digest"`
	At     time.Time `json:"at"`
	// NotMine is the voter's word that the change was not theirs, asked for
	// when nobody knows whose it was.
	NotMine bool `json:"notMine,omitempty"`
	// Override goes on without the yeses that are asked for.
	Override bool `json:"override,omitempty"`
	// Reason is why somebody said no, or overrode.
	Reason string `json:"reason,omitempty"`
	// Void says why the vote counts no more, and VoidAt since when; empty
	// while it does.
	Void   string    `json:"void,omitempty"`
	VoidAt time.Time `json:"voidAt,omitzero"`
}

// Attempt is a way that was left.
type Attempt struct {
	Book     BookName  `json:"book"`
	Decision Decision  `json:"decision,omitzero"`
	Failure  *Failure  `json:"failure,omitempty"`
	Why      string    `json:"why"`
	At       time.Time `json:"at"`
}

// Done tells whether a step left a result.
func (r Reconciliation) Done(id StepID) bool { return r.Steps[id].Result != nil }

// WaitedFor is the time that the step spent waiting, for whatever.
func (s Step) WaitedFor() (sum time.Duration) {
	for _, d := range s.Waited {
		sum += d
	}
	return sum
}

// Decided tells whether somebody chose what to do.
func (r Reconciliation) Decided() bool { return !r.Decision.At.IsZero() }

// IsClosed tells whether the reconciliation has ended.
func (r Reconciliation) IsClosed() bool { return !r.Closed.IsZero() }

// Accepts tells whether somebody agreed to an effect on another target.
func (r Reconciliation) Accepts(target, digest string) bool {
	return slices.ContainsFunc(r.Accepted, func(a Acceptance) bool { return a.Target == target && a.Digest == digest })
}

// Standing lists the votes that count for a digest.
func (r Reconciliation) Standing(digest string) []Vote {
	return slices.DeleteFunc(slices.Clone(r.Votes), func(v Vote) bool {
		return v.Void != "" || v.Digest != digest
	})
}
