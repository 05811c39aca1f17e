package ticket

import (
	"fmt"
	"time"
)

// Unavailable says that the system could not be reached, answered with a fault
// of its own, or asked to wait. The comment may or may not have been written;
// putting it again finds out.
type Unavailable struct {
	System string
	// Until is when the system wants to be asked again; zero when it did not
	// say.
	Until time.Time
	Err   error
}

func (e *Unavailable) Error() string { return e.System + " is not available: " + e.Err.Error() }

// Unwrap gives the cause.
func (e *Unavailable) Unwrap() error { return e.Err }

// Why is the reason that a ticket does not take a record.
type Why string

// The reasons.
const (
	// Token means that the system does not know the bot.
	Token Why = "token"
	// Forbidden means that the bot may not do this there.
	Forbidden Why = "forbidden"
	// Missing means that there is no such ticket, or none that the bot may see.
	Missing Why = "missing"
	// Moved means that the ticket is now another one.
	Moved Why = "moved"
	// Locked means that the ticket is closed and takes no more comments.
	Locked Why = "locked"
	// Unfit means that the system does not take what was sent.
	Unfit Why = "unfit"
)

// Refused says that the ticket does not take the record until a person has
// done something.
type Refused struct {
	System string
	Why    Why
	Ticket string
	// To is where the ticket is now, when it was moved and that is known.
	To string
	// Right is what the bot's account needs, in the system's own words.
	Right string
	Err   error
}

func (e *Refused) Error() string {
	text := fmt.Sprintf("%s refuses the record (%s)", e.System, e.Why)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap gives the cause.
func (e *Refused) Unwrap() error { return e.Err }

// Say is what happened and what to do, for people. It holds nothing that the
// system answered.
func (e *Refused) Say() string {
	switch e.Why {
	case Token:
		return e.System + " does not accept reconcilebot's credentials. Put new ones where the config says; `reconcilebot doctor` checks them."
	case Forbidden:
		return fmt.Sprintf("reconcilebot may not write on %s. In %s it needs %s. Or name another ticket with /reconcile incident.", e.Ticket, e.System, e.Right)
	case Missing:
		return fmt.Sprintf("%s is not there, or reconcilebot may not see it. Correct the address with /reconcile incident; or in %s it needs %s.", e.Ticket, e.System, e.Right)
	case Moved:
		to := e.To
		if to == "" {
			to = "another place"
		}
		return fmt.Sprintf("%s was moved to %s. The record does not follow by itself: name the new address with /reconcile incident.", e.Ticket, to)
	case Locked:
		return fmt.Sprintf("%s is closed and takes no comments. Open it again, or name another ticket with /reconcile incident.", e.Ticket)
	}
	return fmt.Sprintf("%s does not take the record as it was sent to %s. The people who run reconcilebot find the reason in the log.", e.System, e.Ticket)
}
