package git

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// Unavailable means that the remote did not answer, or not sensibly; the same
// call may work later.
type Unavailable struct {
	URL string
	Err error
}

func (e *Unavailable) Error() string {
	return fmt.Sprintf("the Git host of %s can't be reached: %s", e.URL, e.Err)
}

func (e *Unavailable) Unwrap() error { return e.Err }

// Denied means that the remote does not let this token do it.
type Denied struct {
	URL string
	// Cure says what to change.
	Cure string
	Err  error
}

func (e *Denied) Error() string { return fmt.Sprintf("%s: %s; %s", e.URL, e.Err, e.Cure) }

func (e *Denied) Unwrap() error { return e.Err }

// Conflict means that the branch is not what it was taken to be.
type Conflict struct {
	Branch string
	// Want is the commit that the branch was to have, Have the one that it
	// has; empty means that there is no such branch.
	Want, Have string
}

func (e *Conflict) Error() string {
	have := "does not exist"
	if e.Have != "" {
		have = "is at " + e.Have
	}
	return fmt.Sprintf("branch %s %s, not at %s; it was left alone", e.Branch, have, e.Want)
}

// Rejected means that the remote took the commits and refused the branch, as
// branch protection and hooks do.
type Rejected struct {
	Branch string
	// Reason is what the remote said.
	Reason string
}

func (e *Rejected) Error() string {
	return fmt.Sprintf("the Git host refused branch %s: %s; look at its branch protection and push rules", e.Branch, e.Reason)
}

// Missing means that the repository has no such commit, branch or file.
type Missing struct{ What string }

func (e *Missing) Error() string { return e.What + " is not in the repository" }

// broken means that the copy on disk can't be used.
type broken struct{ err error }

func (e *broken) Error() string { return e.err.Error() }
func (e *broken) Unwrap() error { return e.err }

func isBroken(err error) bool {
	_, ok := errors.AsType[*broken](err)
	return ok
}

// bounded gives an exchange with the remote its time.
func (r *Repo) bounded(ctx context.Context, doing string) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, r.config.Timeout,
		fmt.Errorf("no answer within %s to: %s", r.config.Timeout.Round(time.Second), doing))
}

// explain sorts an error of an exchange with the remote, and takes the token
// out of its text.
func (r *Repo) explain(ctx context.Context, doing, token string, err error) error {
	if err == nil {
		return nil
	}
	text := clean(err, token)
	what := fmt.Errorf("%s %s: %w", doing, r.config.URL, text)
	switch {
	case errors.Is(err, transport.ErrAuthenticationRequired):
		return &Denied{r.config.URL, "the token is missing, expired or revoked: give reconcilebot a new one", text}
	case errors.Is(err, transport.ErrAuthorizationFailed):
		return &Denied{r.config.URL, "the token's owner lacks the right to " + doing + " it: grant read and write on the repository's contents", text}
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return &Denied{r.config.URL, "the address is wrong, or the token may not see the repository", text}
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled):
		return fmt.Errorf("%s %s: %w", doing, r.config.URL, context.Canceled)
	case ctx.Err() != nil:
		return &Unavailable{r.config.URL, context.Cause(ctx)}
	case isNetwork(err):
		return &Unavailable{r.config.URL, text}
	case errors.Is(err, plumbing.ErrObjectNotFound):
		return &broken{what}
	}
	return what
}

// isNetwork tells whether an error comes from the way to the remote or from
// its inside, rather than from what was asked.
func isNetwork(err error) bool {
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	if _, ok := errors.AsType[*url.Error](err); ok {
		return true
	}
	if _, ok := errors.AsType[*plumbing.UnexpectedError](err); ok {
		return true // a status that go-git has no name for: 429, 5xx
	}
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

// maxText bounds what is quoted of a remote's answer, which may be a page.
const maxText = 500

// clean takes the token out of an error, also as it travels: a remote may
// quote the request in its answer.
func clean(err error, token string) error {
	text := err.Error()
	short := text
	if token != "" {
		encoded := base64.StdEncoding.EncodeToString([]byte(user + ":" + token))
		short = strings.NewReplacer(token, "(token)", encoded, "(token)").Replace(text)
	}
	// Cut after hiding, so that no piece of the token is left at the end.
	short = strings.TrimSpace(short[:min(len(short), maxText)])
	if short == text {
		return err
	}
	// What is wrapped goes with the text: its own would still say it all.
	return errors.New(strings.ToValidUTF8(short, ""))
}
