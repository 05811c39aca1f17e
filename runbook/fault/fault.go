// Package fault holds errors that have an answer for the person who asked.
//
// It must never carry internals or secrets to a person: what is in Say is
// shown as it is, what is in Err goes to the log alone.
//
// Why one type with two texts: an error travels through many layers, and only
// the place where it happens knows both what to tell a person and what to
// tell an operator.
package fault

import "errors"

// Kind is what sort of answer it is.
type Kind int

// The kinds, by what a person can do about it.
const (
	Internal Kind = iota
	// Invalid means that the request itself has to change.
	Invalid
	// Denied means that somebody else could do it.
	Denied
	// Refused means that it can't be done safely.
	Refused
	// Unavailable means that trying again later may help.
	Unavailable
	// Conflict means that somebody or something was faster.
	Conflict
)

// Error is an error with an answer for the person who asked.
type Error struct {
	Kind Kind
	// Say is what happened and what to do next.
	Say string
	// Err is why, for the log; may be nil.
	Err error
}

func (e *Error) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return e.Say
}

func (e *Error) Unwrap() error { return e.Err }

// New makes an error whose answer is all there is to say.
func New(kind Kind, say string) *Error { return &Error{Kind: kind, Say: say} }

// Say returns the words to send back. An error that nobody classified is
// answered with a reference alone, so that internals cannot leak.
func Say(err error, ref string) string {
	if f, ok := errors.AsType[*Error](err); ok && f.Say != "" {
		return f.Say
	}
	return "Something broke on my side. The people who run reconcilebot find it in the log under " + ref + "."
}

// Of returns an error's kind; Internal for one that nobody classified.
func Of(err error) Kind {
	if f, ok := errors.AsType[*Error](err); ok {
		return f.Kind
	}
	return Internal
}
