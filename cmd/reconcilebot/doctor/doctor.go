// Package doctor looks whether everything the bot needs is there, and says how
// to mend what is not.
//
// It must never change anything, in no system and not on disk, and never
// print a secret. It can run beside a bot that works.
//
// Why it asks each system for what the bot may do, rather than trying: trying
// would have to write, and a right that is too much shows in no attempt.
package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"
)

// Level is how good or bad a finding is.
type Level string

// The levels. Fail means that the bot cannot do its work, Warn that it can
// but something should be looked at.
const (
	OK   Level = "ok"
	Warn Level = "warn"
	Fail Level = "fail"
)

// Finding is the result of one check.
type Finding struct {
	Area  string `json:"area"`  // slack, github, argocd production-eu, …
	Check string `json:"check"` // what was looked at
	Level Level  `json:"level"`
	Say   string `json:"say"`            // what was found
	Cure  string `json:"cure,omitempty"` // what to do; "" when all is well
}

// Check looks at one thing. It gives at least one finding and no secret.
type Check func(context.Context) []Finding

// Patience is how long one check may take.
const Patience = 20 * time.Second

// errSlow is why a check was given up.
var errSlow = fmt.Errorf("no answer within %s", Patience)

// Examine runs the checks side by side and returns what they found, in the
// order of the checks.
func Examine(ctx context.Context, checks []Check) []Finding {
	found := make([][]Finding, len(checks))
	var g errgroup.Group
	g.SetLimit(16)
	for i, check := range checks {
		g.Go(func() error {
			ctx, cancel := context.WithTimeoutCause(ctx, Patience, errSlow)
			defer cancel()
			found[i] = check(ctx)
			return nil
		})
	}
	_ = g.Wait() // no check returns an error
	var all []Finding
	for _, some := range found {
		all = append(all, some...)
	}
	return all
}

// Healthy tells whether nothing failed.
func Healthy(all []Finding) bool { return count(all, Fail) == 0 }

func count(all []Finding, level Level) (n int) {
	for _, f := range all {
		if f.Level == level {
			n++
		}
	}
	return n
}

// Print writes one line for each finding, and a sum.
func Print(w io.Writer, all []Finding) error {
	for _, f := range all {
		cure := ""
		if f.Cure != "" {
			cure = ". Cure: " + f.Cure
		}
		if _, err := fmt.Fprintf(w, "%-4s  %s: %s: %s%s\n", f.Level, f.Area, f.Check, f.Say, cure); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d ok, %d warnings, %d failed\n", count(all, OK), count(all, Warn), count(all, Fail))
	return err
}

// PrintJSON writes the same for programs.
func PrintJSON(w io.Writer, all []Finding) error {
	return json.NewEncoder(w).Encode(struct {
		Healthy bool      `json:"healthy"`
		Checks  []Finding `json:"checks"`
	}{Healthy(all), all})
}

// area makes findings of one area.
type area string

func (a area) ok(check, format string, args ...any) Finding {
	return Finding{string(a), check, OK, fmt.Sprintf(format, args...), ""}
}

func (a area) warn(check, cure, format string, args ...any) Finding {
	return Finding{string(a), check, Warn, fmt.Sprintf(format, args...), cure}
}

func (a area) fail(check, cure, format string, args ...any) Finding {
	return Finding{string(a), check, Fail, fmt.Sprintf(format, args...), cure}
}

// reason says why a call failed; when it was given up, why that was.
func reason(ctx context.Context, err error) string {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, ctx.Err()) {
		return cause.Error()
	}
	return err.Error()
}

// Broken is the check of what cannot even be asked: the client for it could
// not be made.
func Broken(where, check, cure string, err error) Check {
	return func(context.Context) []Finding { return []Finding{area(where).fail(check, cure, "%v", err)} }
}
