package courier

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reconcilebot/runbook/ticket"
	"reconcilebot/runbook/ticket/ticketsim"
	"reconcilebot/state"
)

// office is a courier over a real store and a local ticket system, with a
// clock that the test moves.
type office struct {
	*Courier
	t   *testing.T
	db  *state.DB
	sim *ticketsim.Sim
	now time.Time
	// url is of ticket 7.
	url string
	log strings.Builder
	// linked tells whether the thread's address is known.
	linked bool
}

const canary = "xoxb-canary-0123456789"

func newOffice(t *testing.T, kind ticketsim.Kind) *office {
	t.Helper()
	o := &office{t: t, now: time.Now(), linked: true}
	db, err := state.Open(filepath.Join(t.TempDir(), "state.db"), func() time.Time { return o.now })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	o.db = db
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { o.sim.Handler().ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	if o.sim, err = ticketsim.New(kind, server.URL); err != nil {
		t.Fatal(err)
	}
	o.url = o.sim.Open(7)
	o.sim.Open(8)
	o.hire(o.system(server.URL, kind))
	return o
}

// hire makes a new courier, as a restart does.
func (o *office) hire(systems ...ticket.System) {
	o.Courier = New(Config{
		DB: o.db, Systems: systems, Draw: draw, Linked: func(state.ReconciliationID) bool { return o.linked },
		Redact: func(s string) string { return strings.ReplaceAll(s, canary, "[secret]") },
		Log:    slog.New(slog.NewTextHandler(&o.log, nil)), Now: func() time.Time { return o.now },
	})
}

func (o *office) system(url string, kind ticketsim.Kind) ticket.System {
	o.t.Helper()
	patterns, err := ticket.ParsePatterns([]string{url + "/**"})
	if err != nil {
		o.t.Fatal(err)
	}
	token := func() (string, error) { return ticketsim.Token, nil }
	var s ticket.System
	if kind == ticketsim.PagerDuty {
		s, err = ticket.NewPagerDuty(ticket.PagerDutyConfig{Name: "pd", URL: url, API: o.sim.API(), From: ticketsim.Email, Patterns: patterns, Token: token})
	} else {
		s, err = ticket.NewGitHub(ticket.GitHubConfig{Name: "issues", URL: url, API: o.sim.API(), Patterns: patterns, Token: token})
	}
	if err != nil {
		o.t.Fatal(err)
	}
	return s
}

// draw is a record of what was decided; nothing before that.
func draw(r state.Reconciliation) (ticket.Record, bool) {
	rec := ticket.Record{ID: string(r.ID), Incident: string(r.Incident), Title: r.Target, State: r.Outcome, Opened: r.Opened, Closed: r.Closed}
	rec.Lines = []ticket.Line{{Label: "Why not Git", Parts: []ticket.Part{{Text: r.Decision.Reason}}}}
	return rec, r.Decision.Reason != ""
}

func (o *office) bind(tickets ...string) {
	o.t.Helper()
	in := state.Incident{ID: "INC-1", Room: "C1"}
	if len(tickets) > 0 {
		in.Ticket, in.Also = tickets[0], tickets[1:]
	}
	if _, err := o.db.OpenIncident(in); err != nil {
		o.t.Fatal(err)
	}
}

func (o *office) opens(id state.ReconciliationID) {
	o.t.Helper()
	if _, _, err := o.db.Open(state.Reconciliation{ID: id, Incident: "INC-1", Room: "C1", Target: "t-" + string(id)}); err != nil {
		o.t.Fatal(err)
	}
}

func (o *office) says(id state.ReconciliationID, reason string) {
	o.t.Helper()
	_, err := o.db.Change(id, func(r *state.Reconciliation, _ time.Time) ([]state.Said, error) {
		r.Decision.Reason = reason
		return nil, nil
	})
	if err != nil {
		o.t.Fatal(err)
	}
}

func (o *office) closes(id state.ReconciliationID) {
	o.t.Helper()
	_, err := o.db.Change(id, func(r *state.Reconciliation, now time.Time) ([]state.Said, error) {
		r.Outcome, r.Closed = "adopted", now
		return nil, nil
	})
	if err != nil {
		o.t.Fatal(err)
	}
}

// works does what is due now, and again what follows from it.
func (o *office) works() {
	o.t.Helper()
	for range 5 {
		due, _ := o.round()
		for _, d := range due {
			o.deliver(o.t.Context(), d)
			o.free(d.place())
		}
	}
}

func (o *office) later(d time.Duration) { o.now = o.now.Add(d); o.works() }

// ticket is what stands on ticket number n.
func (o *office) ticket(n int) (texts []string) {
	for _, c := range o.sim.Comments(n) {
		texts = append(texts, c.Text)
	}
	return texts
}

func (o *office) wants(n int, comments ...string) {
	o.t.Helper()
	have := o.ticket(n)
	if len(have) != len(comments) {
		o.t.Fatalf("ticket %d has %d comments, want %d: %q\n%s", n, len(have), len(comments), have, o.log.String())
	}
	for i, text := range comments {
		if !strings.Contains(have[i], text) {
			o.t.Errorf("comment %d does not say %q: %s", i, text, have[i])
		}
	}
}

// notices are the kinds of what was to be said in the thread so far.
func (o *office) notices(want ...string) {
	o.t.Helper()
	list, err := o.db.Notices()
	if err != nil {
		o.t.Fatal(err)
	}
	var kinds []string
	for _, n := range list {
		kinds = append(kinds, n.Kind)
	}
	if strings.Join(kinds, " ") != strings.Join(want, " ") {
		o.t.Errorf("to be said is %q, want %q", kinds, want)
	}
}

func (o *office) settled(want bool) {
	o.t.Helper()
	list, err := o.db.Unfiled()
	if err != nil || (len(list) == 0) != want {
		o.t.Errorf("still due: %v (%v), want none: %v", list, err, want)
	}
}

func TestTheTicketFollowsTheRecord(t *testing.T) {
	o := newOffice(t, ticketsim.GitHub)
	o.bind(o.url)
	o.opens("r1")
	o.works()
	o.wants(7) // nothing was found yet
	o.settled(true)
	o.says("r1", "backing up")
	o.works()
	o.wants(7, "backing up")
	o.notices(Ticketed)
	o.says("r1", "still backing up")
	o.works()
	o.wants(7, "backing up") // paced
	if strings.Contains(o.ticket(7)[0], "still") {
		t.Error("the edit was not held back")
	}
	o.settled(false)
	o.later(6 * time.Second)
	o.wants(7, "still backing up")
	o.closes("r1")
	o.works() // the last word is not held back
	o.wants(7, "adopted")
	o.notices(Ticketed)
	o.settled(true)
}

func TestNotesAreTwo(t *testing.T) {
	o := newOffice(t, ticketsim.PagerDuty)
	o.bind(o.url)
	o.opens("r1")
	for _, reason := range []string{"one", "two", "three"} {
		o.says("r1", reason)
		o.later(time.Minute)
	}
	o.closes("r1")
	o.works()
	o.wants(7, "one", "adopted")
	o.settled(true)
}

func TestTheFirstCommentWaitsForTheThreadsAddress(t *testing.T) {
	o := newOffice(t, ticketsim.PagerDuty)
	o.linked = false
	o.bind(o.url)
	o.opens("r1")
	o.says("r1", "one")
	o.works()
	o.wants(7)
	o.later(11 * time.Second) // but not for ever
	o.wants(7, "one")
}

func TestAnOutageForTheWholeReconciliation(t *testing.T) {
	o := newOffice(t, ticketsim.GitHub)
	o.sim.Down(true)
	o.bind(o.url)
	o.opens("r1")
	o.says("r1", "backing up")
	o.works()
	o.notices()
	for range 20 {
		o.later(10 * time.Second)
	}
	o.notices(Untaken) // once
	o.closes("r1")
	o.later(time.Hour)
	o.settled(false)
	requests, _ := o.sim.Counts()
	for range 60 {
		o.later(time.Minute)
	}
	if again, _ := o.sim.Counts(); again-requests > 24 {
		t.Errorf("%d requests in an hour to a system that is down", again-requests)
	}
	o.sim.Down(false)
	o.later(10 * time.Minute)
	o.wants(7, "adopted")
	o.notices(Untaken, Ticketed)
	o.settled(true)
}

func TestARefusalIsToldOnceAndMended(t *testing.T) {
	o := newOffice(t, ticketsim.GitHub)
	o.sim.Set(7, ticketsim.Forbidden)
	o.bind(o.url)
	o.opens("r1")
	o.says("r1", "backing up")
	for range 10 {
		o.later(time.Minute)
	}
	o.notices(Untaken)
	list, err := o.db.Filings("r1")
	if err != nil || len(list) != 1 || !strings.Contains(list[0].Trouble, "Issues: write") || list[0].Why != string(ticket.Forbidden) {
		t.Errorf("stored is %+v, %v", list, err)
	}
	o.sim.Set(7, ticketsim.Open)
	o.later(time.Hour)
	o.wants(7, "backing up")
	o.notices(Untaken, Ticketed)
	o.settled(true)
}

func TestAnotherTicketGetsTheRecordAtOnce(t *testing.T) {
	o := newOffice(t, ticketsim.GitHub)
	o.sim.Set(7, ticketsim.Moved)
	o.bind(o.url)
	o.opens("r1")
	o.says("r1", "backing up")
	o.works()
	o.closes("r1")
	o.works()
	o.notices(Untaken)
	o.bind(strings.TrimSuffix(o.url, "7") + "8")
	o.works()
	o.wants(8, "adopted")
	o.settled(true)
}

func TestARestartTriesAtOnce(t *testing.T) {
	o := newOffice(t, ticketsim.GitHub)
	o.sim.Set(7, ticketsim.Forbidden)
	o.bind(o.url)
	o.opens("r1")
	o.says("r1", "backing up")
	for range 100 {
		o.later(10 * time.Minute)
	}
	o.sim.Set(7, ticketsim.Open)
	o.works()
	o.wants(7)
	o.now = o.now.Add(time.Second)
	o.hire(o.Systems...)
	o.works()
	o.wants(7, "backing up")
}

func TestSeveralTicketsAndOneOfThemDown(t *testing.T) {
	o := newOffice(t, ticketsim.GitHub)
	o.sim.Set(7, ticketsim.Hidden)
	o.bind(o.url, strings.TrimSuffix(o.url, "7")+"8", "https://nobody.example.com/9")
	o.opens("r1")
	o.says("r1", "backing up")
	o.closes("r1")
	o.works()
	o.wants(8, "adopted")
	o.settled(false)
	o.sim.Set(7, ticketsim.Open)
	o.later(2 * time.Hour)
	o.wants(7, "adopted")
	o.settled(true)
}

func TestSecretsStayHere(t *testing.T) {
	o := newOffice(t, ticketsim.GitHub)
	o.bind(o.url)
	o.opens("r1")
	o.says("r1", "the token is "+canary+" as you know, and password=hunter2")
	o.works()
	o.wants(7, "the token is")
	for _, text := range append(o.ticket(7), o.log.String()) {
		if strings.Contains(text, "hunter2") {
			t.Errorf("somebody's secret is out: %s", text)
		}
		if strings.Contains(text, canary) || strings.Contains(text, ticketsim.Token) {
			t.Errorf("a secret is out: %s", text)
		}
	}
}

func TestACrashBetweenTheCommentAndItsStorage(t *testing.T) {
	for _, kind := range []ticketsim.Kind{ticketsim.GitHub, ticketsim.PagerDuty} {
		t.Run(string(kind), func(t *testing.T) {
			o := newOffice(t, kind)
			o.bind(o.url)
			o.opens("r1")
			o.says("r1", "backing up")
			due, _ := o.round()
			if len(due) != 1 {
				t.Fatalf("%d are due", len(due))
			}
			if _, err := due[0].system.Put(t.Context(), ticket.Post{Ticket: o.url, Record: due[0].record}); err != nil {
				t.Fatal(err)
			}
			o.hire(o.Systems...) // nobody has stored it
			o.works()
			o.wants(7, "backing up")
			o.settled(true)
		})
	}
}

// overtaken reads what is due, and while it does, another delivery to the same
// place comes to its end.
type overtaken struct {
	ticket.System
	during func()
}

func (o *overtaken) Takes(address string) bool {
	if during := o.during; during != nil {
		o.during = nil
		defer during()
	}
	return o.System.Takes(address)
}

func TestADeliveryThatWasOvertakenIsNotMadeAgain(t *testing.T) {
	o := newOffice(t, ticketsim.GitHub)
	slow := &overtaken{System: o.Systems[0]}
	o.hire(slow)
	o.bind(o.url)
	o.opens("r1")
	o.says("r1", "backing up")
	o.closes("r1")
	due, _ := o.round()
	if len(due) != 1 {
		t.Fatalf("%d are due", len(due))
	}
	// The next round has read the store when the delivery ends.
	slow.during = func() {
		o.deliver(t.Context(), due[0])
		o.free(due[0].place())
	}
	again, _ := o.round()
	for _, d := range again {
		if d.filing.Comment == "" {
			t.Errorf("%+v is delivered from what was read before the other ended", d.filing)
		}
	}
	o.works()
	o.settled(true)
	if _, writes := o.sim.Counts(); writes != 1 {
		t.Errorf("%d writes for one record", writes)
	}
}

// brittle panics at its first Put.
type brittle struct {
	ticket.System
	broken bool
}

func (b *brittle) Put(ctx context.Context, p ticket.Post) (ticket.Comment, error) {
	if b.broken = !b.broken; b.broken {
		panic("a nil map")
	}
	return b.System.Put(ctx, p)
}

func TestAPanicIsOneDeliverysTrouble(t *testing.T) {
	o := newOffice(t, ticketsim.GitHub)
	o.hire(&brittle{System: o.Systems[0]})
	o.bind(o.url)
	o.opens("r1")
	o.says("r1", "backing up")
	o.works()
	o.wants(7)
	o.notices(Untaken)
	o.later(time.Hour)
	o.wants(7, "backing up")
}

func TestRunDeliversAndStops(t *testing.T) {
	o := newOffice(t, ticketsim.GitHub)
	o.bind(o.url)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- o.Run(ctx) }()
	o.opens("r1")
	o.says("r1", "backing up")
	o.closes("r1")
	for len(o.ticket(7)) == 0 || !strings.Contains(o.ticket(7)[0], "adopted") {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("nothing was delivered")
		}
	}
	stop()
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
