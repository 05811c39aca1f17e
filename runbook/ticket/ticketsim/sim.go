// Package ticketsim is the ticket systems on this machine: GitHub Issues, both
// Jiras, PagerDuty, and a receiver of signed webhooks, with a page that shows
// what arrived.
//
// It must never be kinder than the real thing: each request, and each of its
// own answers, is held against the system's published schema (schema/), and
// what does not fit is a finding.
//
// Why one package: what a ticket is, and how a server fails, is the same in
// all of them; only the wire differs.
package ticketsim

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Kind is which system it plays.
type Kind string

// The systems.
const (
	GitHub         Kind = "github"
	JiraCloud      Kind = "jira-cloud"
	JiraDataCenter Kind = "jira-datacenter"
	PagerDuty      Kind = "pagerduty"
	Webhook        Kind = "webhook"
)

// Condition is what a ticket is like.
type Condition string

// The conditions.
const (
	Open Condition = "open"
	// Closed is done, and takes comments still.
	Closed Condition = "closed"
	// Locked is done and takes none. PagerDuty has no such thing.
	Locked Condition = "locked"
	// Moved is another ticket now: the one with the next number.
	Moved Condition = "moved"
	// Forbidden can be read by the bot and not written.
	Forbidden Condition = "forbidden"
	// Hidden is answered as if it were not there.
	Hidden Condition = "hidden"
	// Deleted is said to have been there.
	Deleted Condition = "deleted"
)

// Me is the account of the bot, Token its credentials (the webhook's secret is
// Secret).
const (
	Me     = "reconcilebot"
	Email  = "reconcilebot@example.com"
	Token  = "ticket-token-0123456789"
	Secret = "whsec_cmVjb25jaWxlYm90LWxhYi1zZWNyZXQtMDEyMzQ1Njc="
)

// Comment is a comment on a ticket. Text is as it was sent: Markdown, wiki
// markup, plain text, or a document as JSON.
type Comment struct {
	ID   int
	By   string
	Text string
	// At is when it was written, Edited how often it was changed.
	At     time.Time
	Edited int
}

// ticket is one ticket.
type ticket struct {
	number    int
	condition Condition
	comments  []Comment
}

// Sim is one system. It is safe for concurrent use.
type Sim struct {
	kind   Kind
	url    string
	schema *schema

	mu       sync.Mutex // guards what follows
	tickets  map[int]*ticket
	next     int // id of the next comment
	down     bool
	faults   []Fault
	findings []string
	requests int
	writes   int
	seen     map[string]bool // ids of webhooks
	changed  chan struct{}   // closed, and made anew, after each request
}

// New makes a system that people find at url.
func New(kind Kind, url string) (*Sim, error) {
	sch, err := load(kind)
	if err != nil {
		return nil, err
	}
	return &Sim{kind: kind, url: strings.TrimRight(url, "/"), schema: sch, tickets: map[int]*ticket{}, next: 1000, seen: map[string]bool{}, changed: make(chan struct{})}, nil
}

// Open makes a ticket and returns its address.
func (s *Sim) Open(number int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tickets[number] = &ticket{number: number, condition: Open}
	return s.Address(number)
}

// path is where people find a ticket, below the system's address.
func (s *Sim) path(number int) string {
	switch s.kind {
	case GitHub:
		return fmt.Sprintf("/acme/ops/issues/%d", number)
	case PagerDuty:
		return "/incidents/" + pagerDutyID(number)
	case Webhook:
		return fmt.Sprintf("/tickets/%d", number)
	}
	return fmt.Sprintf("/browse/OPS-%d", number)
}

// Address is where people find a ticket.
func (s *Sim) Address(number int) string { return s.url + s.path(number) }

// Set puts a ticket into a condition.
func (s *Sim) Set(number int, c Condition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tickets[number].condition = c
}

// Say adds somebody's comment to a ticket.
func (s *Sim) Say(number int, by, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(s.tickets[number], by, text)
}

func (s *Sim) add(t *ticket, by, text string) *Comment {
	s.next++
	t.comments = append(t.comments, Comment{ID: s.next, By: by, Text: text, At: time.Now()})
	return &t.comments[len(t.comments)-1]
}

// Remove deletes all comments of a ticket, as its owners may.
func (s *Sim) Remove(number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tickets[number].comments = nil
}

// Comments are those of a ticket.
func (s *Sim) Comments(number int) []Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tickets[number]
	if t == nil {
		return nil
	}
	return slices.Clone(t.comments)
}

// Texts are the bot's comments on a ticket, as people read them.
func (s *Sim) Texts(number int) (list []string) {
	for _, c := range s.Comments(number) {
		if c.By == Me {
			list = append(list, s.legible(c.Text))
		}
	}
	return list
}

// Wait waits until something holds, looking after each request that comes.
func (s *Sim) Wait(ctx context.Context, what string, holds func() bool) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if holds() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, context.Cause(ctx))
		}
	}
}

// Findings are what did not fit the published schema.
func (s *Sim) Findings() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.findings)
}

// Counts are how many requests came, and how many of them wrote.
func (s *Sim) Counts() (requests, writes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests, s.writes
}

func (s *Sim) find(format string, args ...any) {
	s.findings = append(s.findings, fmt.Sprintf(format, args...))
}

// API is the address that the bot's config needs beside the system's own, ""
// where that is enough.
func (s *Sim) API() string {
	switch s.kind {
	case GitHub:
		return s.url + "/api/v3/"
	case PagerDuty:
		return s.url + "/api"
	case Webhook:
		return s.url + "/hooks/records"
	}
	return ""
}

// prefix is what comes before the paths of the schema.
func (s *Sim) prefix() string {
	switch s.kind {
	case GitHub:
		return "/api/v3"
	case PagerDuty:
		return "/api"
	}
	return ""
}

// Handler serves the API, and the page to people.
func (s *Sim) Handler() http.Handler {
	mux := http.NewServeMux()
	switch s.kind {
	case GitHub:
		mux.HandleFunc("/api/v3/", s.serve)
	case PagerDuty:
		mux.HandleFunc("/api/", s.serve)
	case Webhook:
		mux.HandleFunc("/hooks/", s.serve)
	default:
		mux.HandleFunc("/rest/", s.serve)
	}
	mux.HandleFunc("/", s.page)
	return mux
}
