package access

import (
	"fmt"

	"reconcilebot/runbook/fault"
)

// Verdict is an answer with its reasons, in the order in which they were
// looked at.
type Verdict struct {
	Steps []Step
	// Refusal is what the person is told; nil allows.
	Refusal *fault.Error
}

// Step is one thing that was looked at.
type Step struct {
	Mark Mark   `json:"mark"`
	Say  string `json:"say"`
}

// Mark is what a step meant for the verdict.
type Mark string

// The marks. A No does not end the judgement as long as another step may
// allow it.
const (
	Yes     Mark = "yes"
	No      Mark = "no"
	Unknown Mark = "unknown"
)

// Err is the refusal as an error, nil when it is allowed.
func (v Verdict) Err() error {
	if v.Refusal == nil {
		return nil
	}
	return v.Refusal
}

// Allowed tells whether it may be done.
func (v Verdict) Allowed() bool { return v.Refusal == nil }

// Unread is why the answer is not known: a list that could have allowed it
// can't be read. It is nil for an answer that is known.
func (v Verdict) Unread() error {
	if v.Refusal == nil {
		return nil
	}
	return v.Refusal.Err
}

func (v Verdict) note(mark Mark, format string, args ...any) Verdict {
	v.Steps = append(v.Steps, Step{mark, fmt.Sprintf(format, args...)})
	return v
}

func (v Verdict) yes(format string, args ...any) Verdict { return v.note(Yes, format, args...) }

// deny ends the judgement: step is what would have had to be so, say is for
// the person.
func (v Verdict) deny(step, say string) Verdict { return v.refuse(fault.Denied, step, say) }

func (v Verdict) refuse(kind fault.Kind, step, say string) Verdict {
	v = v.note(No, "%s", step)
	v.Refusal = fault.New(kind, say)
	return v
}
