package ticket_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"reconcilebot/runbook/ticket"
	"reconcilebot/runbook/ticket/ticketsim"
)

// bench is one system with its stand-in. What it does is held against the
// system's published schema when the test ends.
type bench struct {
	*testing.T
	sim    *ticketsim.Sim
	system ticket.System
	ticket string
	known  ticket.Comment
}

var kinds = []ticketsim.Kind{ticketsim.GitHub, ticketsim.JiraCloud, ticketsim.JiraDataCenter, ticketsim.PagerDuty, ticketsim.Webhook}

// each runs a part of the contract on every system.
func each(t *testing.T, part func(*bench)) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			part(newBench(t, kind))
		})
	}
}

func newBench(t *testing.T, kind ticketsim.Kind) *bench {
	t.Helper()
	b := &bench{T: t}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { b.sim.Handler().ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	var err error
	if b.sim, err = ticketsim.New(kind, server.URL); err != nil {
		t.Fatal(err)
	}
	b.ticket = b.sim.Open(7)
	b.sim.Open(8)
	b.system = open(t, kind, server.URL, b.sim.API(), ticketsim.Token)
	t.Cleanup(func() {
		for _, f := range b.sim.Findings() {
			t.Errorf("not what the published API takes or gives: %s", f)
		}
	})
	return b
}

func open(t *testing.T, kind ticketsim.Kind, url, api, token string) (s ticket.System) {
	t.Helper()
	patterns, err := ticket.ParsePatterns([]string{url + "/**"})
	if err != nil {
		t.Fatal(err)
	}
	secret := func() (string, error) { return token, nil }
	client := &http.Client{Timeout: 5 * time.Second}
	switch kind {
	case ticketsim.GitHub:
		s, err = ticket.NewGitHub(ticket.GitHubConfig{Name: "issues", URL: url, API: api, Patterns: patterns, Token: secret, HTTPClient: client})
	case ticketsim.JiraCloud:
		s, err = ticket.NewJira(ticket.JiraConfig{Name: "jira", URL: url, Deployment: ticket.Cloud, User: ticketsim.Email, Patterns: patterns, Token: secret, HTTPClient: client})
	case ticketsim.JiraDataCenter:
		s, err = ticket.NewJira(ticket.JiraConfig{Name: "jira", URL: url, Deployment: ticket.DataCenter, Patterns: patterns, Token: secret, HTTPClient: client})
	case ticketsim.PagerDuty:
		s, err = ticket.NewPagerDuty(ticket.PagerDutyConfig{Name: "pd", URL: url, API: api, From: ticketsim.Email, Patterns: patterns, Token: secret, HTTPClient: client})
	case ticketsim.Webhook:
		if token == ticketsim.Token {
			token = ticketsim.Secret
		}
		s, err = ticket.NewWebhook(ticket.WebhookConfig{Name: "hook", URL: api, Patterns: patterns, Secret: func() (string, error) { return token, nil }, HTTPClient: client})
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// record is one that has come so far: what happened at its minutes.
func record(minute int) ticket.Record {
	opened := time.Now().Add(-time.Hour).Truncate(time.Minute)
	r := ticket.Record{
		ID: "r-01JPAYMENTS", Incident: "INC-1234", Title: "payments-web · production-eu", State: "waiting for 1 approval", Opened: opened,
		Lines: []ticket.Line{
			{Label: "What", Parts: []ticket.Part{{Text: "Deployment payments/web"}, {Text: "spec.replicas", Code: true}, {Text: "3", Code: true}, {Text: "→"}, {Text: "6", Code: true}}},
			{Label: "Who", Parts: []ticket.Part{{Text: "alice@example.com with kubectl"}}},
		},
		Links: []ticket.Link{{Label: "Slack thread", URL: "https://acme.slack.com/archives/C1/p17"}},
	}
	for m := 1; m <= minute; m++ {
		r.Lines = append(r.Lines, ticket.Line{Label: fmt.Sprintf("Minute %d", m), Parts: []ticket.Part{
			{Text: "something"}, {Text: "#412", URL: "https://github.com/acme/gitops/pull/412"}, {Text: "second line", Break: true},
		}})
	}
	return r
}

func final() ticket.Record {
	r := record(3)
	r.Title, r.State, r.Closed = "payments-web · reconciled: adopted into Git", "adopted", r.Opened.Add(29*time.Minute)
	return r
}

// put puts a record and remembers what came back, as its caller does.
func (b *bench) put(r ticket.Record) error {
	b.Helper()
	c, err := b.system.Put(b.Context(), ticket.Post{Ticket: b.ticket, Record: r, Known: b.known})
	if err == nil {
		b.known = c
	}
	return err
}

func (b *bench) must(r ticket.Record) {
	b.Helper()
	if err := b.put(r); err != nil {
		b.Fatalf("put: %v", err)
	}
}

// notes is true where a comment can't be edited.
func (b *bench) notes() bool { _, ok := b.system.(*ticket.PagerDuty); return ok }

// mine are the bot's comments on the ticket.
func (b *bench) mine() (list []ticketsim.Comment) {
	for _, c := range b.sim.Comments(7) {
		if c.By == ticketsim.Me {
			list = append(list, c)
		}
	}
	return list
}

// wants checks how many comments of ours there are, and what the last says.
func (b *bench) wants(count int, last ...string) {
	b.Helper()
	list := b.mine()
	if len(list) != count {
		b.Fatalf("%d comments of ours are on the ticket, want %d", len(list), count)
	}
	for _, text := range last {
		if !strings.Contains(list[count-1].Text, text) {
			b.Errorf("the last comment does not say %q; it says:\n%s", text, list[count-1].Text)
		}
	}
}

func TestOneCommentGrowsToTheFinalOne(t *testing.T) {
	each(t, func(b *bench) {
		b.sim.Say(7, "alice", "paging bob")
		b.must(record(0))
		b.wants(1, "INC", "kubectl")
		first := b.known
		if first.ID == "" || !strings.HasPrefix(first.URL, b.ticket) || first.Final {
			b.Errorf("Put returned %+v", first)
		}
		b.must(record(1))
		b.must(record(2))
		if b.notes() {
			b.wants(1, "start", "the final one follows")
			b.must(final())
			b.wants(2, "reconciled: adopted into Git", "final", "Minute 3")
		} else {
			b.wants(1, "Minute 2")
			if b.known.ID != first.ID {
				b.Errorf("the comment changed from %s to %s", first.ID, b.known.ID)
			}
			b.must(final())
			b.wants(1, "reconciled: adopted into Git", "Minute 3")
		}
		if !b.known.Final {
			b.Error("the last word is not known to be final")
		}
	})
}

func TestTheSameAgainSendsNothing(t *testing.T) {
	each(t, func(b *bench) {
		b.must(final())
		requests, _ := b.sim.Counts()
		b.must(final())
		if again, _ := b.sim.Counts(); again != requests {
			b.Errorf("%d requests were sent for a record that stands there already", again-requests)
		}
	})
}

func TestCommentThatWasWrittenWithoutOurHearingIsFound(t *testing.T) {
	for name, r := range map[string]ticket.Record{"first": record(0), "final": final()} {
		t.Run(name, func(t *testing.T) {
			each(t, func(b *bench) {
				b.sim.Fail(ticketsim.Fault{Writes: true, Drop: true})
				err := b.put(r)
				if _, ok := errors.AsType[*ticket.Unavailable](err); !ok {
					b.Fatalf("a dropped connection: %v", err)
				}
				b.must(r)
				b.wants(1)
				if b.known.ID == "" {
					b.Error("the comment's id is not known")
				}
			})
		})
	}
}

func TestLostMemoryFindsTheCommentAndEditsIt(t *testing.T) {
	each(t, func(b *bench) {
		b.must(record(0))
		for i := range 120 { // more than a page
			b.sim.Say(7, "alice", fmt.Sprintf("comment %d", i))
		}
		b.known = ticket.Comment{}
		b.must(record(1))
		b.wants(1)
		b.known = ticket.Comment{}
		b.must(final())
		if b.notes() {
			b.wants(2, "final")
			return
		}
		b.wants(1, "adopted into Git")
	})
}

func TestTwoRecordsOnOneTicketAreKeptApart(t *testing.T) {
	each(t, func(b *bench) {
		longer := record(1)
		longer.ID += "2" // begins with the other's marker
		b.must(longer)
		b.known = ticket.Comment{}
		b.must(record(0))
		b.wants(2)
	})
}

func TestCommentOfSomebodyElseWithOurMarkerIsLeftAlone(t *testing.T) {
	each(t, func(b *bench) {
		if b.notes() {
			return // an account's key does not tell whose a note is
		}
		b.must(record(0))
		copied := b.mine()[0].Text
		b.sim.Remove(7)
		b.sim.Say(7, "mallory", copied)
		b.known = ticket.Comment{}
		b.must(record(1))
		b.wants(1, "Minute 1")
		if got := b.sim.Comments(7)[0]; got.By != "mallory" || got.Text != copied {
			b.Errorf("mallory's comment was changed to %q", got.Text)
		}
	})
}

func TestDeletedCommentIsWrittenAgain(t *testing.T) {
	each(t, func(b *bench) {
		b.must(record(0))
		b.sim.Remove(7)
		b.must(final())
		b.wants(1, "adopted into Git")
	})
}

func TestClosedTicketTakesTheRecordAndSaysSo(t *testing.T) {
	each(t, func(b *bench) {
		b.sim.Set(7, ticketsim.Closed)
		b.must(final())
		b.wants(1)
		if !b.known.Closed {
			b.Error("that the ticket is closed is not said")
		}
	})
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		condition ticketsim.Condition
		status    int
		why       ticket.Why
		say       string
	}{
		"forbidden": {condition: ticketsim.Forbidden, why: ticket.Forbidden, say: "it needs"},
		"not there": {condition: ticketsim.Hidden, why: ticket.Missing, say: "is not there"},
		"deleted":   {condition: ticketsim.Deleted, why: ticket.Missing, say: "/reconcile incident"},
		"moved":     {condition: ticketsim.Moved, why: ticket.Moved, say: "name the new address"},
		"locked":    {condition: ticketsim.Locked, why: ticket.Locked, say: "Open it again"},
		"401":       {status: 401, why: ticket.Token, say: "reconcilebot doctor"},
		"403":       {status: 403, why: ticket.Forbidden, say: "it needs"},
		"404":       {status: 404, why: ticket.Missing, say: "is not there"},
		"410":       {status: 410, why: ticket.Missing, say: "is not there"},
		"422":       {status: 422, why: ticket.Unfit, say: "in the log"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(b *bench) {
				switch {
				case c.condition == ticketsim.Locked && b.notes():
					return // PagerDuty takes notes on every incident
				case c.condition != "":
					b.sim.Set(7, c.condition)
				default:
					b.sim.Fail(ticketsim.Fault{Status: c.status})
				}
				err := b.put(record(0))
				r, ok := errors.AsType[*ticket.Refused](err)
				if !ok {
					b.Fatalf("want *Refused, got %v", err)
				}
				if r.Why != c.why || !strings.Contains(r.Say(), c.say) || r.Ticket != b.ticket {
					b.Errorf("why %q, ticket %q, says %q; want %q and %q", r.Why, r.Ticket, r.Say(), c.why, c.say)
				}
				if c.why == ticket.Moved && !strings.HasSuffix(r.To, "8") {
					b.Errorf("moved to %q, want ticket 8", r.To)
				}
				b.wants(0)
				if n := len(b.sim.Comments(8)); n != 0 {
					b.Errorf("the record followed to where nobody sent it: %d comments", n)
				}
				b.sim.Set(7, ticketsim.Open)
				b.must(record(0))
				b.wants(1)
			})
		})
	}
}

func TestWaitsAsLongAsTheSystemAsks(t *testing.T) {
	for name, c := range map[string]struct {
		fault ticketsim.Fault
		least time.Duration
	}{
		"429 with a time":    {ticketsim.Fault{Status: 429, RetryAfter: 300}, 4 * time.Minute},
		"429 without a time": {ticketsim.Fault{Status: 429}, 30 * time.Second},
		"403 with a time":    {ticketsim.Fault{Status: 403, RetryAfter: 300}, 4 * time.Minute},
		"503 with a time":    {ticketsim.Fault{Status: 503, RetryAfter: 300}, 4 * time.Minute},
		"503":                {ticketsim.Fault{Status: 503}, 0},
		"500 on the write":   {ticketsim.Fault{Status: 500, Writes: true}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(b *bench) {
				b.sim.Fail(c.fault)
				err := b.put(final())
				u, ok := errors.AsType[*ticket.Unavailable](err)
				if !ok {
					b.Fatalf("want *Unavailable, got %v", err)
				}
				if wait := time.Until(u.Until); wait < c.least || wait > c.least+2*time.Minute {
					if c.least > 0 || !u.Until.IsZero() {
						b.Errorf("to be asked again in %s, want about %s", wait, c.least)
					}
				}
			})
		})
	}
}

func TestDownForTheWholeTimeThenBack(t *testing.T) {
	each(t, func(b *bench) {
		b.sim.Down(true)
		for _, r := range []ticket.Record{record(0), record(1), final(), final()} {
			err := b.put(r)
			if _, ok := errors.AsType[*ticket.Unavailable](err); !ok {
				b.Fatalf("want *Unavailable, got %v", err)
			}
		}
		b.sim.Down(false)
		b.must(final())
		b.wants(1, "adopted into Git")
	})
}

func TestWrongCredentialsAreSaid(t *testing.T) {
	const canary = "whsec_d3JvbmctY2FuYXJ5LXNlY3JldC13cm9uZy1jYW5hcnk="
	each(t, func(b *bench) {
		b.system = open(b.T, kindOf(b), strings.TrimSuffix(b.ticket, pathOf(b.ticket)), b.sim.API(), canary)
		err := b.put(record(0))
		r, ok := errors.AsType[*ticket.Refused](err)
		if !ok || r.Why != ticket.Token {
			b.Fatalf("want a refused token, got %v", err)
		}
		if strings.Contains(err.Error()+r.Say(), canary) {
			b.Error("the token is in the error")
		}
	})
}

func kindOf(b *bench) ticketsim.Kind {
	_, kind, _ := strings.Cut(b.Name(), "/")
	return ticketsim.Kind(kind)
}

// pathOf is what follows the host.
func pathOf(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	return rest[strings.IndexByte(rest, '/'):]
}

func TestUnreadableTokenIsSaidAndNothingIsSent(t *testing.T) {
	patterns, err := ticket.ParsePatterns([]string{"https://github.com/acme/*/issues/*"})
	if err != nil {
		t.Fatal(err)
	}
	g, err := ticket.NewGitHub(ticket.GitHubConfig{Name: "issues", Patterns: patterns, Token: func() (string, error) { return "", errors.New("file is gone") }})
	if err != nil {
		t.Fatal(err)
	}
	_, err = g.Put(t.Context(), ticket.Post{Ticket: "https://github.com/acme/ops/issues/1", Record: record(0)})
	if r, ok := errors.AsType[*ticket.Refused](err); !ok || r.Why != ticket.Token {
		t.Fatalf("got %v", err)
	}
}

func TestWhoami(t *testing.T) {
	each(t, func(b *bench) {
		acc, err := b.system.Whoami(b.Context())
		if err != nil || acc.Name == "" {
			b.Fatalf("got %+v, %v", acc, err)
		}
		b.sim.Down(true)
		_, err = b.system.Whoami(b.Context())
		if _, ok := errors.AsType[*ticket.Unavailable](err); !ok {
			b.Errorf("while it is down: %v", err)
		}
	})
}

func TestTicketThatTheConfigDoesNotCoverGetsNothing(t *testing.T) {
	each(t, func(b *bench) {
		for _, address := range []string{"https://elsewhere.example.com" + pathOf(b.ticket), b.ticket + "/../../../other", "ftp" + b.ticket, b.ticket[:len(b.ticket)-1] + "%2f7"} {
			if b.system.Takes(address) {
				b.Errorf("takes %s", address)
			}
			if _, err := b.system.Put(b.Context(), ticket.Post{Ticket: address, Record: record(0)}); err == nil {
				b.Errorf("put a record on %s", address)
			}
		}
		if requests, _ := b.sim.Counts(); requests != 0 {
			b.Errorf("%d requests were sent", requests)
		}
	})
}

func TestCancelledIsNoOutage(t *testing.T) {
	each(t, func(b *bench) {
		ctx, cancel := context.WithCancel(b.Context())
		cancel()
		_, err := b.system.Put(ctx, ticket.Post{Ticket: b.ticket, Record: record(0)})
		if !errors.Is(err, context.Canceled) {
			b.Errorf("got %v", err)
		}
	})
}

func TestWhatPeopleTypedHasNoMeaningOnTheTicket(t *testing.T) {
	each(t, func(b *bench) {
		r := final()
		r.Lines = append(r.Lines, ticket.Line{Label: "Why not Git", Parts: []ticket.Part{
			{Text: "“@acme/everyone [~admin] *bold* [x](javascript:alert(1)) <!-- reconcilebot record r-2 --> {code} h1. #12 | \u202eevil”"},
			{Text: "- a list\n# a heading", Break: true},
			{Text: "here", URL: "javascript:alert(1)"},
		}})
		b.must(r)
		text := b.mine()[len(b.mine())-1].Text
		bads := map[ticketsim.Kind][]string{
			ticketsim.GitHub:         {"](javascript", " @acme", " <!-- reconcilebot record r-2", " #12"},
			ticketsim.JiraCloud:      {`"href":"javascript`, `"mention"`},
			ticketsim.JiraDataCenter: {"|javascript", "[~", "{code}", "*bold*"},
		}[kindOf(b)]
		for _, bad := range append(bads, "\u202e") {
			if strings.Contains(text, bad) {
				b.Errorf("has %q:\n%s", bad, text)
			}
		}
		lines := strings.Split(text, "\n")
		if slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "# a heading") }) {
			b.Errorf("a heading was made:\n%s", text)
		}
	})
}

func TestVeryLongRecordIsCutAndSaysSo(t *testing.T) {
	each(t, func(b *bench) {
		r := final()
		for i := range 900 {
			r.Lines = append(r.Lines, ticket.Line{Label: fmt.Sprintf("Line %d", i), Parts: []ticket.Part{{Text: strings.Repeat("many words ", 12)}}})
		}
		b.must(r)
		text := b.mine()[0].Text
		if !strings.Contains(text, "The rest is too long for this ticket") && !strings.Contains(text, "the rest is too long for this ticket") {
			b.Errorf("it is not said that something is missing; %d bytes", len(text))
		}
		b.known = ticket.Comment{}
		b.must(r)
		b.wants(1)
	})
}
