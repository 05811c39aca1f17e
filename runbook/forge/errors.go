package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"
)

// RateLimited says that GitHub wants no more requests before Until.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
type RateLimited struct {
	Until time.Time
	Err   error
}

func (e *RateLimited) Error() string {
	return fmt.Sprintf("GitHub asks to wait until %s: %v", e.Until.UTC().Format(time.RFC3339), e.Err)
}

// Unwrap gives the answer that said so.
func (e *RateLimited) Unwrap() error { return e.Err }

// Unavailable says that GitHub could not be reached or answered with a fault
// of its own (5xx). The request may or may not have taken effect; it is worth
// trying again later.
type Unavailable struct{ Err error }

func (e *Unavailable) Error() string { return "GitHub is not available: " + e.Err.Error() }

// Unwrap gives the cause.
func (e *Unavailable) Unwrap() error { return e.Err }

// refusedToken says that GitHub does not know the token, or no longer does.
type refusedToken struct{ err error }

func (e *refusedToken) Error() string {
	return "GitHub refuses the token (" + said(e.err) + "); make a new one and give it to the bot"
}

func (e *refusedToken) Unwrap() error { return e.err }

// secondaryPause is how long to wait after a secondary limit that names no
// time; GitHub asks for at least one minute.
const secondaryPause = time.Minute

// sort turns an error of the client library into one of this package's.
func (g *GitHub) sort(err error) error { return sortAt(err, g.now()) }

func sortAt(err error, now time.Time) error {
	if err == nil {
		return nil
	}
	if primary, ok := errors.AsType[*github.RateLimitError](err); ok {
		return &RateLimited{Until: primary.Rate.Reset.Time, Err: err}
	}
	if secondary, ok := errors.AsType[*github.AbuseRateLimitError](err); ok {
		wait := secondaryPause
		if secondary.RetryAfter != nil {
			wait = *secondary.RetryAfter
		}
		return &RateLimited{Until: now.Add(wait), Err: err}
	}
	answer, ok := errors.AsType[*github.ErrorResponse](err)
	if !ok {
		return sortPlain(err)
	}
	switch code := answer.Response.StatusCode; {
	case code == http.StatusTooManyRequests, code == http.StatusForbidden && answer.Response.Header.Get("Retry-After") != "":
		return &RateLimited{Until: retryAt(answer.Response, now), Err: err}
	case code >= http.StatusInternalServerError:
		return &Unavailable{Err: err}
	case code == http.StatusUnauthorized:
		return &refusedToken{err}
	}
	return err
}

// sortPlain sorts an error that came without an answer. A cancelled context
// is the caller's doing and passes through; a deadline that ran out is a
// server that did not answer in time.
func sortPlain(err error) error {
	var token *tokenError
	if errors.Is(err, context.Canceled) || errors.As(err, &token) {
		return err
	}
	if _, ok := errors.AsType[*unreadable](err); ok {
		return &Unavailable{Err: err}
	}
	if isNetwork(err) {
		return &Unavailable{Err: err}
	}
	return err
}

func retryAt(r *http.Response, now time.Time) time.Time {
	if d, err := time.ParseDuration(r.Header.Get("Retry-After") + "s"); err == nil {
		return now.Add(d)
	}
	return now.Add(secondaryPause)
}

// status is the HTTP status of an answer that was an error, 0 for any other.
func status(err error) int {
	if answer, ok := errors.AsType[*github.ErrorResponse](err); ok {
		return answer.Response.StatusCode
	}
	return 0
}

// said is what GitHub said in an error answer, in its own words and without
// the request's address.
func said(err error) string {
	answer, ok := errors.AsType[*github.ErrorResponse](err)
	if !ok {
		return err.Error()
	}
	words := []string{answer.Message}
	for _, e := range answer.Errors {
		if e.Message != "" {
			words = append(words, e.Message)
		}
	}
	return strings.Join(words, ": ")
}
