// Package ticket keeps the record of a reconciliation on the incident's
// ticket: GitHub Issues, Jira, PagerDuty, or whatever takes a signed webhook.
//
// It must never write to a ticket that the config does not cover, whatever
// address a person typed; never edit a comment that another account wrote; and
// never follow a ticket that was moved to a place nobody named, since that may
// be a public one. What it sends has gone through Mask, and through the
// caller's own redaction, before.
//
// Why one comment that is edited and not one for each event: a ticket is read
// later, by people who want the end of the story. Where a system can't edit
// (PagerDuty's notes), there are two: one at the start, and the final one.
//
// Why a marker in the comment and not only its id on our disk: between the
// system taking a comment and our hearing of it lies every possible crash, so
// the comment is looked for before it is written again.
package ticket

import (
	"context"
	"fmt"
	"regexp"
	"time"
)

// System is one ticket system. Implementations are safe for concurrent use.
type System interface {
	// Name is the system's name in the config: part of what is stored about a
	// comment, so it must not change while records are under way.
	Name() string
	// Takes tells whether an address is one of a ticket of this system which
	// the config allows to be written to.
	Takes(address string) bool
	// Put makes the ticket say what the record says, and tells where. Doing it
	// again changes nothing. The error is *Refused when a person has to do
	// something first, *Unavailable when trying later may help.
	Put(context.Context, Post) (Comment, error)
	// Whoami asks the system who the bot is there, and what is missing.
	Whoami(context.Context) (Account, error)
}

// Post is a record on its way to a ticket.
type Post struct {
	Ticket string // the address that people use
	Record Record
	// Known is what Put returned for this record and ticket the last time;
	// zero when it did not yet.
	Known Comment
}

// Comment is where a record stands on a ticket.
type Comment struct {
	ID  string
	URL string // for people; the ticket's own where a comment has none
	// Sum is of what it says, so that the same is not sent twice.
	Sum string
	// Final tells that it is the last word.
	Final bool
	// Closed tells that the ticket is closed, though it took the comment.
	Closed bool
}

// Account is who the bot is in a system.
type Account struct {
	Name string
	// Warnings are what does not keep the bot from its work here, or can't be
	// told without writing.
	Warnings []string
}

// Record is what is to stand on the ticket. Nothing in it is escaped.
type Record struct {
	// ID is the reconciliation's: the marker by which its comment is found.
	ID       string
	Incident string
	// Title says in a line what it is about, State where it stands.
	Title, State string
	Opened       time.Time
	Closed       time.Time // zero while it goes on
	Lines        []Line
	// Links lead to where the rest is: the pull request, the Slack thread.
	Links []Link
}

// Final tells whether the record will change no more.
func (r Record) Final() bool { return !r.Closed.IsZero() }

// Line is a labelled line of the record.
type Line struct {
	Label string
	Parts []Part
}

// Part is some words of a line.
type Part struct {
	Text string
	URL  string // "" for words that lead nowhere
	Code bool
	// Break begins a new line before it.
	Break bool
}

// Link leads somewhere.
type Link struct{ Label, URL string }

// Map returns the record with a function applied to all of its texts.
func (r Record) Map(f func(string) string) Record {
	r.Title, r.State = f(r.Title), f(r.State)
	lines := make([]Line, len(r.Lines))
	for i, l := range r.Lines {
		lines[i] = Line{Label: f(l.Label), Parts: make([]Part, len(l.Parts))}
		for j, p := range l.Parts {
			p.Text, p.URL = f(p.Text), f(p.URL)
			lines[i].Parts[j] = p
		}
	}
	r.Lines = lines
	links := make([]Link, len(r.Links))
	for i, l := range r.Links {
		links[i] = Link{Label: f(l.Label), URL: f(l.URL)}
	}
	r.Links = links
	return r
}

// recordID is what can stand in every system's marker without being changed.
var recordID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// check refuses a record that could not be found again.
func (r Record) check() error {
	if !recordID.MatchString(r.ID) {
		return fmt.Errorf("put record %q on a ticket: the id has characters that a marker can't hold", r.ID)
	}
	return nil
}
