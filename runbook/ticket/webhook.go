package ticket

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// WebhookConfig is what a signed webhook needs.
type WebhookConfig struct {
	Name     string
	URL      string // the endpoint; never shown, since it may hold a secret
	Patterns Patterns
	// Secret is whsec_ and at least 24 bytes in base64.
	Secret     func() (string, error)
	HTTPClient *http.Client // nil for one with a timeout
}

// Webhook sends records to whatever takes them, signed as Standard Webhooks
// are. WEBHOOK.md says what a receiver gets and may answer.
// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
type Webhook struct {
	c WebhookConfig
	wire
	host string
}

const webhookRight = "an endpoint that knows its secret and allows the ticket"

// NewWebhook makes a sender. It sends nothing.
func NewWebhook(c WebhookConfig) (*Webhook, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.User != nil || c.Secret == nil {
		return nil, fmt.Errorf("ticket system %s: want the endpoint's address without user or password, and a secret", c.Name)
	}
	w := &Webhook{c: c, host: u.Host}
	w.wire = wire{system: c.Name, base: c.URL, client: closeMouthed(c.HTTPClient), now: time.Now, authorize: func(*http.Request) error { return nil }}
	return w, nil
}

// Name is the system's name in the config.
func (w *Webhook) Name() string { return w.c.Name }

// Takes tells whether the config sends records for a ticket here.
func (w *Webhook) Takes(address string) bool { return w.c.Patterns.allowed(address) }

// Event is the body of a webhook.
type Event struct {
	// Type is reconcilebot.record.changed, or .closed for the last one.
	Type string    `json:"type"`
	Data EventData `json:"data"`
}

// EventData is the whole record, each time.
type EventData struct {
	Reconciliation string      `json:"reconciliation"`
	Incident       string      `json:"incident"`
	Ticket         string      `json:"ticket"`
	Title          string      `json:"title"`
	State          string      `json:"state,omitempty"`
	Opened         time.Time   `json:"opened"`
	Closed         *time.Time  `json:"closed,omitempty"`
	Lines          []EventLine `json:"lines"`
	Links          []EventLink `json:"links,omitempty"`
	// Markdown is the same, ready to be shown.
	Markdown string `json:"markdown"`
}

// EventLine is a labelled line of the record.
type EventLine struct {
	Label string      `json:"label"`
	Text  string      `json:"text"`
	Links []EventLink `json:"links,omitempty"`
}

// EventLink leads somewhere.
type EventLink struct {
	Label string `json:"label"`
	URL   string `json:"url"`
}

func event(p Post) Event {
	r := p.Record
	e := Event{Type: "reconcilebot.record.changed", Data: EventData{
		Reconciliation: r.ID, Incident: r.Incident, Ticket: p.Ticket, Title: flat(r.Title), State: flat(r.State),
		Opened: r.Opened.UTC(), Lines: []EventLine{}, Markdown: markdown(r),
	}}
	if r.Final() {
		closed := r.Closed.UTC()
		e.Type, e.Data.Closed = "reconcilebot.record.closed", &closed
	}
	for _, l := range r.Lines {
		line := EventLine{Label: flat(l.Label), Text: drawLine(l, func(p Part) string { return flat(p.Text) })}
		for _, part := range l.Parts {
			if web(part.URL) {
				line.Links = append(line.Links, EventLink{flat(part.Text), part.URL})
			}
		}
		if line.Text != "" {
			e.Data.Lines = append(e.Data.Lines, line)
		}
	}
	for _, l := range r.Links {
		if web(l.URL) {
			e.Data.Links = append(e.Data.Links, EventLink{flat(l.Label), l.URL})
		}
	}
	return e
}

// Put sends the record. A receiver that gets the same twice sees it by the id,
// which is made from the content.
func (w *Webhook) Put(ctx context.Context, p Post) (Comment, error) {
	if !w.Takes(p.Ticket) {
		return Comment{}, fmt.Errorf("put a record on %s: it is no ticket of %s", p.Ticket, w.c.Name)
	}
	if err := p.Record.check(); err != nil {
		return Comment{}, err
	}
	body, err := encode(event(p))
	if err != nil {
		return Comment{}, err
	}
	if same(p, string(body)) {
		return p.Known, nil
	}
	var took struct {
		URL    string `json:"url"`
		Closed bool   `json:"closed"`
	}
	err = w.deliver(ctx, body, &took)
	if err != nil {
		return Comment{}, w.refused(p.Ticket, err)
	}
	c := Comment{ID: p.Record.ID, URL: p.Ticket, Sum: sum(string(body)), Final: p.Record.Final(), Closed: took.Closed}
	if web(took.URL) {
		c.URL = took.URL
	}
	return c, nil
}

// deliver signs the body and sends it. What is answered need not be JSON.
func (w *Webhook) deliver(ctx context.Context, body []byte, into any) error {
	id, at := "rec_"+sum(string(body)), strconv.FormatInt(w.now().Unix(), 10)
	signed := w.wire
	signed.authorize = func(r *http.Request) error {
		secret, err := w.c.Secret()
		if err != nil {
			return err
		}
		signature, err := sign(secret, id, at, body)
		if err != nil {
			return err
		}
		r.Header.Set("Webhook-Id", id)
		r.Header.Set("Webhook-Timestamp", at)
		r.Header.Set("Webhook-Signature", signature)
		return nil
	}
	err := signed.send(ctx, http.MethodPost, "", jsonText(body), into)
	if broken, ok := errors.AsType[*brokenOff](err); ok && isSyntax(broken) {
		return nil
	}
	return signed.sort(err)
}

// minSecret is the least that the specification allows, in bytes.
const minSecret = 24

// ParseSecret reads a webhook's secret: whsec_ and base64.
func ParseSecret(secret string) ([]byte, error) {
	text, ok := strings.CutPrefix(secret, "whsec_")
	key, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(key) < minSecret {
		return nil, errors.New("is no webhook secret: make one with `echo whsec_$(openssl rand -base64 32)`")
	}
	return key, nil
}

// sign makes the signature over the id, the time in seconds and the body.
func sign(secret, id, at string, body []byte) (string, error) {
	key, err := ParseSecret(secret)
	if err != nil {
		return "", err
	}
	h := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(h, "%s.%s.%s", id, at, body) // a hash takes everything
	return "v1," + base64.StdEncoding.EncodeToString(h.Sum(nil)), nil
}

// refused gives an answer its meaning; WEBHOOK.md lists them.
func (w *Webhook) refused(ticket string, err error) error {
	no := &Refused{System: w.c.Name, Ticket: ticket, Right: webhookRight, Err: err}
	a, ok := unsorted(err)
	if !ok {
		return about(err, ticket)
	}
	switch a.status {
	case http.StatusMovedPermanently, http.StatusPermanentRedirect:
		no.Why = Moved
		if to := a.header.Get("Location"); web(to) {
			no.To = to
		}
	case http.StatusForbidden:
		no.Why = Forbidden
	case http.StatusNotFound, http.StatusGone:
		no.Why = Missing
	case http.StatusLocked:
		no.Why = Locked
	default:
		no.Why = Unfit
	}
	return no
}

// Whoami asks the endpoint for any answer at all: a record can't be sent for a
// trial.
func (w *Webhook) Whoami(ctx context.Context) (Account, error) {
	secret, err := w.c.Secret()
	if err == nil {
		_, err = ParseSecret(secret)
	}
	if err != nil {
		return Account{}, &Refused{System: w.c.Name, Why: Token, Err: err}
	}
	err = w.call(ctx, http.MethodHead, "", nil, nil)
	if _, down := errors.AsType[*Unavailable](err); down {
		return Account{}, fmt.Errorf("reach the endpoint on %s: %w", w.host, err)
	}
	return Account{Name: "an endpoint on " + w.host, Warnings: []string{"whether it accepts the signature shows at the first record"}}, nil
}
