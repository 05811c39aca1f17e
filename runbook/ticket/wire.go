package ticket

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Limits of one request.
const (
	callTimeout = 30 * time.Second
	maxAnswer   = 16 << 20 // bytes: a page of a hundred long comments
)

// wire sends requests with a JSON body to one system.
type wire struct {
	system string // its name for people
	base   string // without a slash at its end
	client *http.Client
	// authorize adds the credentials to a request.
	authorize func(*http.Request) error
	header    map[string]string
	now       func() time.Time
}

// closeMouthed makes a client that follows no redirect: it would take the
// credentials, or the record, to a place that nobody named.
func closeMouthed(c *http.Client) *http.Client {
	client := &http.Client{Timeout: callTimeout}
	if c != nil {
		*client = *c
	}
	if client.Timeout == 0 {
		client.Timeout = callTimeout
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client
}

// answer is an answer that is not a success.
type answer struct {
	status int
	header http.Header
	// said is the beginning of what was answered, for the log.
	said string
}

func (a *answer) Error() string {
	text := fmt.Sprintf("answered %d %s", a.status, http.StatusText(a.status))
	if a.said != "" {
		text += ": " + a.said
	}
	return text
}

// call sends one request and reads its answer into a value, if there is one.
// The error is already one of this package's.
func (w wire) call(ctx context.Context, method, path string, send, into any) error {
	err := w.send(ctx, method, path, send, into)
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", method, strings.SplitN(path, "?", 2)[0], w.sort(err))
}

func (w wire) send(ctx context.Context, method, path string, send, into any) error {
	var body io.Reader
	if send != nil {
		raw, err := payload(send)
		if err != nil {
			return err
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, w.base+path, body)
	if err != nil {
		return fmt.Errorf("make a request: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "reconcilebot")
	if send != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for key, value := range w.header {
		req.Header.Set(key, value)
	}
	if err := w.authorize(req); err != nil {
		return &noToken{err}
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return &brokenOff{err}
	}
	switch {
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return &answer{status: resp.StatusCode, header: resp.Header, said: cutSaid(string(raw))}
	case len(raw) > maxAnswer:
		return errors.New("the answer is larger than 16 MiB")
	case into == nil || len(bytes.TrimSpace(raw)) == 0:
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return &brokenOff{fmt.Errorf("read the answer: %w", err)}
	}
	return nil
}

// jsonText is a body that is sent to the byte as it is: it has been signed.
type jsonText []byte

func payload(send any) ([]byte, error) {
	if text, ok := send.(jsonText); ok {
		return text, nil
	}
	return encode(send)
}

// isSyntax tells whether an answer came whole but is not JSON.
func isSyntax(err error) bool {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, kind := errors.AsType[*json.UnmarshalTypeError](err)
	return syntax || kind
}

// encode leaves <, > and & as they are, as all other programs do.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// noToken says that our own credentials could not be read: nothing was sent.
type noToken struct{ err error }

func (e *noToken) Error() string { return "read the credentials: " + e.err.Error() }
func (e *noToken) Unwrap() error { return e.err }

// brokenOff is an answer that came in part, or not as it should.
type brokenOff struct{ err error }

func (e *brokenOff) Error() string { return "read the answer: " + e.err.Error() }
func (e *brokenOff) Unwrap() error { return e.err }

func cutSaid(s string) string {
	if s = flat(s); len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}

// sort turns an error into one of this package's. What is about one ticket
// alone (403, 404, …) is left to the caller, as *answer.
func (w wire) sort(err error) error {
	if a, ok := errors.AsType[*answer](err); ok {
		return sortStatus(w.system, a, w.now())
	}
	return sortPlain(w.system, err)
}

// sortPlain sorts an error that came without an answer. A cancelled context is
// the caller's doing and passes through.
func sortPlain(system string, err error) error {
	if missing, ok := errors.AsType[*noToken](err); ok {
		return &Refused{System: system, Why: Token, Err: missing}
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	_, network := errors.AsType[*url.Error](err)
	_, broken := errors.AsType[*brokenOff](err)
	if network || broken || errors.Is(err, context.DeadlineExceeded) {
		return &Unavailable{System: system, Err: withoutAddress(err)}
	}
	return err
}

// withoutAddress cuts the request's address out of an error: a webhook's may
// hold a secret.
func withoutAddress(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

func sortStatus(system string, a *answer, now time.Time) error {
	switch {
	case a.status == http.StatusUnauthorized:
		return &Refused{System: system, Why: Token, Err: a}
	case a.status == http.StatusTooManyRequests,
		a.status == http.StatusForbidden && a.header.Get("Retry-After") != "":
		return &Unavailable{System: system, Until: askAgain(a.header, now), Err: a}
	case a.status >= 500, a.status == http.StatusRequestTimeout, a.status == http.StatusTooEarly:
		return &Unavailable{System: system, Until: retryAfter(a.header, now), Err: a}
	}
	return a
}

// limitPause is how long to wait after a limit that names no time.
const limitPause = time.Minute

func askAgain(h http.Header, now time.Time) time.Time {
	if until := retryAfter(h, now); !until.IsZero() {
		return until
	}
	return now.Add(limitPause)
}

// retryAfter reads when to come again: seconds or a date, or PagerDuty's own
// header; zero if none is given. More than a day is taken as a day.
// https://httpwg.org/specs/rfc9110.html#field.retry-after
// https://developer.pagerduty.com/docs/rest-api-rate-limits
func retryAfter(h http.Header, now time.Time) time.Time {
	var until time.Time
	for _, name := range []string{"Retry-After", "Ratelimit-Reset"} {
		text := h.Get(name)
		if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
			until = now.Add(time.Duration(seconds) * time.Second)
			break
		}
		if at, err := http.ParseTime(text); err == nil {
			until = at
			break
		}
	}
	if most := now.Add(24 * time.Hour); until.After(most) {
		return most
	}
	return until
}

// unsorted is the answer behind an error that has no meaning of its own yet.
func unsorted(err error) (*answer, bool) {
	_, refused := errors.AsType[*Refused](err)
	_, down := errors.AsType[*Unavailable](err)
	if refused || down {
		return nil, false
	}
	return errors.AsType[*answer](err)
}

// status is the HTTP status of an answer that was an error and has no meaning
// of its own yet, 0 for any other.
func status(err error) int {
	if a, ok := unsorted(err); ok {
		return a.status
	}
	return 0
}
