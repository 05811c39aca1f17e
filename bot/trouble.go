package bot

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/slack-go/slack"
)

// setupError is a fault that only whoever runs the bot can mend.
type setupError struct {
	// Say tells the operator what is wrong and what to do.
	Say string
	Err error
}

func (e *setupError) Error() string {
	if e.Err != nil {
		return e.Say + ": " + e.Err.Error()
	}
	return e.Say
}

func (e *setupError) Unwrap() error { return e.Err }

// remedy is what can be done about a call that did not work.
type remedy int

const (
	// later: Slack is unwell or asked for a pause.
	later remedy = iota
	// setup: the operator has to mend the installation.
	setup
	// closedRoom: the channel can't be posted to as it is.
	closedRoom
	// replace: the message can't be edited any more.
	replace
	// unfit: Slack refuses this content.
	unfit
	// tooLate: the trigger of a click is spent.
	tooLate
)

// codeShared stands among Slack's codes for a channel that can't be posted to.
const codeShared = "shared_with_another_organisation"

// trouble is a call that did not work, and what to do about it.
type trouble struct {
	Remedy remedy
	// Code is Slack's word for it; empty if Slack did not answer.
	Code string
	// After is how long Slack asked to be left alone; zero if it did not.
	After time.Duration
	// Unsure means that the call may have worked all the same.
	Unsure bool
	Err    error
}

// troubleOf finds out what to do about an error of slack-go.
func troubleOf(err error) trouble {
	var limited *slack.RateLimitedError
	var status slack.StatusCodeError
	var answer slack.SlackErrorResponse
	var mine *setupError
	var drawing *drawError
	switch {
	case errors.As(err, &drawing):
		return trouble{Remedy: unfit, Err: err}
	case errors.Is(err, errShared):
		return trouble{Remedy: closedRoom, Code: codeShared, Err: err}
	case errors.Is(err, errNowhere):
		return trouble{Remedy: unfit, Err: err}
	case errors.As(err, &mine):
		return trouble{Remedy: setup, Err: err}
	case errors.As(err, &limited):
		return trouble{Remedy: later, Code: "ratelimited", After: limited.RetryAfter, Err: err}
	case errors.As(err, &status):
		return statusTrouble(status, err)
	case errors.As(err, &answer):
		return answerTrouble(answer, err)
	}
	return trouble{Remedy: later, Unsure: !neverSent(err), Err: plain(err)}
}

func statusTrouble(status slack.StatusCodeError, err error) trouble {
	switch {
	case status.Code == http.StatusTooManyRequests:
		return trouble{Remedy: later, Code: "ratelimited", After: 30 * time.Second, Err: err}
	case status.Code >= 500:
		return trouble{Remedy: later, Unsure: true, Err: err}
	}
	return trouble{Remedy: setup, Err: &setupError{Say: "Slack's API answered " + status.Status + "; is the API base right, and no proxy in between?", Err: err}}
}

// answerTrouble sorts Slack's error codes, which
// https://docs.slack.dev/reference/methods lists per method.
func answerTrouble(a slack.SlackErrorResponse, err error) trouble {
	t := trouble{Code: a.Err, Err: detail(a)}
	switch a.Err {
	case "ratelimited", "rate_limited":
		t.Remedy, t.After = later, 30*time.Second
	case "internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org":
		t.Remedy, t.Unsure = later, true
	case "not_in_channel", "channel_not_found", "is_archived", "is_inactive", "restricted_action",
		"restricted_action_read_only_channel", "restricted_action_thread_only_channel",
		"restricted_action_non_threadable_channel", "restricted_action_thread_locked", "cannot_dm_bot",
		"user_not_in_channel", "ekm_access_denied":
		t.Remedy = closedRoom
	case "message_not_found", "cant_update_message", "edit_window_closed", "block_mismatch", "cannot_reply_to_message", "thread_not_found":
		t.Remedy = replace
	case "expired_trigger_id", "exchanged_trigger_id", "invalid_trigger_id", "trigger_expired", "trigger_exchanged", "invalid_trigger":
		t.Remedy = tooLate
	default:
		t.Remedy = unfit
		if say := setupAdvice(a); say != "" {
			t.Remedy, t.Err = setup, &setupError{Say: say, Err: err}
		}
	}
	return t
}

// setupAdvice says how to mend an installation that Slack refuses.
func setupAdvice(a slack.SlackErrorResponse) string {
	switch a.Err {
	case "invalid_auth", "not_authed":
		return "Slack does not know the token; copy it again from the app's pages (Install App for xoxb-, Basic Information for xapp-)"
	case "token_revoked", "token_expired", "account_inactive", "user_removed_from_team":
		return "Slack no longer accepts the token (" + a.Err + "); install the app again and give the bot its new token"
	case "not_allowed_token_type":
		return "Slack refuses this kind of token; the bot token (xoxb-) and the app-level token (xapp-) may be swapped"
	case "missing_scope", "no_permission":
		return fmt.Sprintf("the Slack app lacks a scope: needed %s; add it to the app, as its manifest has it, and install it again", a.Needed)
	case "team_disabled", "forbidden_team", "team_access_not_granted", "access_denied", "org_login_required":
		return "the workspace refuses the app (" + a.Err + "); ask its administrators"
	case "socket_mode_disabled", "link_disabled":
		return "Socket Mode is switched off for the app; switch it on in the app's settings"
	}
	return ""
}

// detail adds what Slack says about blocks, which is the only useful hint.
func detail(a slack.SlackErrorResponse) error {
	var more []string
	for _, e := range a.Errors {
		if e.Message != nil {
			more = append(more, *e.Message)
		}
	}
	more = append(more, a.ResponseMetadata.Messages...)
	if len(more) == 0 {
		return a
	}
	return fmt.Errorf("%w (%s)", a, strings.Join(more, "; "))
}

// neverSent tells whether a call ended before Slack can have seen it.
func neverSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// plain takes the address off an error of the HTTP client: response URLs and
// tickets are secrets.
func plain(err error) error {
	var u *url.Error
	if errors.As(err, &u) && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("call Slack: %w", u.Err)
	}
	return err
}
