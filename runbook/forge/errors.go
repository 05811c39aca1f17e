package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/google/go-github/v62/github"
)

// RateLimited means that the host wants no more requests until a time.
type RateLimited struct {
	Until time.Time
	Err   error
}

func (e *RateLimited) Error() string {
	return fmt.Sprintf("the Git host's rate limit is used up until %s", e.Until.UTC().Format("15:04:05 UTC"))
}

func (e *RateLimited) Unwrap() error { return e.Err }

// Unavailable means that the host can't be reached or is broken: worth
// waiting for.
type Unavailable struct{ Err error }

func (e *Unavailable) Error() string { return fmt.Sprintf("the Git host can't be reached: %v", e.Err) }

func (e *Unavailable) Unwrap() error { return e.Err }

// Denied means that the token may not do this.
type Denied struct{ Err error }

func (e *Denied) Error() string { return fmt.Sprintf("the Git host refuses this: %v", e.Err) }

func (e *Denied) Unwrap() error { return e.Err }

// classify gives an error of the library its meaning. A nil stays nil.
func classify(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, meaning(err))
}

func meaning(err error) error {
	if limit, ok := errors.AsType[*github.RateLimitError](err); ok {
		return &RateLimited{Until: limit.Rate.Reset.Time, Err: err}
	}
	if limit, ok := errors.AsType[*github.AbuseRateLimitError](err); ok {
		until := time.Now().Add(limit.GetRetryAfter())
		if limit.RetryAfter == nil {
			// GitHub asks for at least a minute when it names no time.
			until = time.Now().Add(time.Minute)
		}
		return &RateLimited{Until: until, Err: err}
	}
	switch status(err) {
	case http.StatusUnauthorized, http.StatusForbidden:
		return &Denied{err}
	case 0:
	default:
		if status(err) >= 500 {
			return &Unavailable{err}
		}
		return err
	}
	if _, ok := errors.AsType[*url.Error](err); ok && !errors.Is(err, context.Canceled) {
		return &Unavailable{err}
	}
	return err
}

// status is the HTTP status behind an error; 0 when there was no answer.
func status(err error) int {
	if e, ok := errors.AsType[*github.ErrorResponse](err); ok && e.Response != nil {
		return e.Response.StatusCode
	}
	return 0
}
