package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reconcilebot/bot/slacksim"
	"reconcilebot/commands"
	"reconcilebot/state"
)

// guillotine ends the bot at one of its calls, as kill -9 does: the store is
// closed under its hands, so that nothing written afterwards counts.
type guillotine struct {
	next http.RoundTripper
	// at is the call at which to end; after means that Slack has carried it
	// out by then.
	at    int
	after bool
	fall  func()

	mu    sync.Mutex
	calls int
}

var errKilled = errors.New("killed")

func (g *guillotine) RoundTrip(req *http.Request) (*http.Response, error) {
	if !strings.Contains(req.URL.Path, "chat.") && !strings.Contains(req.URL.Path, "views.") && !strings.Contains(req.URL.Path, "/hooks/") {
		return g.next.RoundTrip(req)
	}
	g.mu.Lock()
	g.calls++
	mine, dead := g.calls == g.at, g.at > 0 && g.calls > g.at
	g.mu.Unlock()
	switch {
	case dead:
		return nil, errKilled
	case !mine:
		return g.next.RoundTrip(req)
	case g.after:
		resp, err := g.next.RoundTrip(req)
		if err == nil {
			_ = resp.Body.Close()
		}
	}
	g.fall()
	return nil, errKilled
}

// TestKilledAtEveryCall plays the main job, ends the bot at each of its calls
// in turn, before and after Slack has carried it out, starts it again, and
// expects every message once.
func TestKilledAtEveryCall(t *testing.T) {
	for at := 1; at <= 8; at++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("call %d, carried out %t", at, after), func(t *testing.T) {
				t.Parallel()
				killedAt(t, at, after)
			})
		}
	}
}

func killedAt(t *testing.T, at int, after bool) {
	r := newRig(t, slacksim.Options{Limits: slacksim.LimitsOff})
	dead := make(chan struct{})
	g := &guillotine{at: at, after: after}
	var once sync.Once
	r.transport = func(next http.RoundTripper) http.RoundTripper {
		g.next = next
		return g
	}
	r.open()
	db := r.db
	g.fall = func() {
		once.Do(func() {
			r.sim.AppDies() // what is not acknowledged by now never will be
			_ = db.Close()
			close(dead)
		})
	}
	r.start()
	killed := func() bool {
		select {
		case <-dead:
			return true
		default:
			return false
		}
	}
	revive := func() {
		r.stop()
		r.stop, r.db, r.transport = nil, nil, nil
		r.start()
	}
	// step lets a person act; should the bot die of it, it is started again.
	revived := false
	step := func(act func() error, done func() bool) {
		t.Helper()
		if err := act(); err != nil && (revived || !killed()) {
			t.Fatal(err)
		}
		r.wait("a step or the end of the bot", func() bool { return killed() && !revived || done() })
		if killed() && !revived {
			revived = true
			revive()
			r.settled()
			if !done() { // it died before it could store the act: the person sees that and acts again
				if err := act(); err != nil {
					t.Fatal(err)
				}
			}
			r.wait("the step after the restart", done)
		}
	}
	alice, bob := r.sim.As("alice"), r.sim.As("bob")
	cards := func() []slacksim.Message { return r.sim.Messages("inc-1234") }
	step(func() error { _, err := alice.In("inc-1234").Slash(t.Context(), "/reconcile help"); return err },
		func() bool { return len(r.sim.Ephemerals("alice", "inc-1234")) > 0 })
	step(func() error { _, err := alice.In("inc-1234").Slash(t.Context(), "/reconcile drift web"); return err },
		func() bool { return len(cards()) == 1 })
	step(func() error { _, err := alice.In("inc-1234").Click(t.Context(), cards()[0].TS, "adopt"); return err },
		func() bool { return r.sim.View("alice") != nil || len(r.sim.Ephemerals("alice", "inc-1234")) > 1 })
	step(func() error { _, err := bob.In("inc-1234").Click(t.Context(), cards()[0].TS, "approve"); return err },
		func() bool { return len(r.sim.Thread("inc-1234", cards()[0].TS)) >= 3 })
	r.wait("the end or quiet", func() bool { return killed() && !revived || quiet(r.db) })
	if killed() && !revived {
		revive()
	}
	r.settled()
	if n := len(cards()); n != 1 {
		t.Errorf("%d messages in the channel, want the one card", n)
	}
	want := []string{"notice: approved", "notice: closed"}
	if got := threadTexts(r.sim.Thread("inc-1234", cards()[0].TS)); !slices.Equal(got, want) {
		t.Errorf("thread: %q, want %q", got, want)
	}
	if got := cards()[0].PlainText(); !strings.Contains(got, "at revision 2") {
		t.Errorf("the card shows %q", got)
	}
	r.noFindings()
}

func quiet(db *state.DB) bool {
	u, err1 := db.Unhandled()
	n, err2 := db.Notices()
	d, err3 := db.Redraws()
	return errors.Join(err1, err2, err3) == nil && len(u)+len(n)+len(d) == 0
}

// TestStartsFromEveryRecord starts the bot on a store as a crash can leave it.
func TestStartsFromEveryRecord(t *testing.T) {
	deliver := func(r *rig, a act) state.Delivery {
		raw, err := json.Marshal(a)
		if err != nil {
			r.t.Fatal(err)
		}
		d, _, err := r.db.Receive(state.Delivery{ID: a.id(), Mint: "mint", Kind: string(a.Kind), Payload: raw})
		if err != nil {
			r.t.Fatal(err)
		}
		return d
	}
	drift := act{Kind: commands.Slash, User: "U0ALICE", Team: "T0HOME", Room: "C0INC", Text: "drift web", Once: []string{"1"}}
	cases := map[string]func(*rig){
		"stored, not begun": func(r *rig) { deliver(r, drift) },
		"begun": func(r *rig) {
			if _, err := r.db.Begin(deliver(r, drift).ID); err != nil {
				r.t.Fatal(err)
			}
		},
		"done, not marked": func(r *rig) {
			d := deliver(r, drift)
			if _, err := r.app.Handle(context.Background(), drift.request(d)); err != nil {
				r.t.Fatal(err)
			}
		},
		"about to post": func(r *rig) {
			d := deliver(r, drift)
			if _, err := r.app.Handle(context.Background(), drift.request(d)); err != nil {
				r.t.Fatal(err)
			}
			if err := r.db.SaveMessage("card/r-mint", state.Message{Room: "C0INC", Tried: time.Now()}); err != nil {
				r.t.Fatal(err)
			}
		},
	}
	for name, prepare := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, slacksim.Options{})
			r.open()
			prepare(r)
			r.start()
			r.card("inc-1234", "web at revision 1")
			r.settled()
			if n := len(r.sim.Messages("inc-1234")); n != 1 {
				t.Errorf("%d messages, want 1", n)
			}
			r.noFindings()
		})
	}
}

// TestPoisonIsGivenUp: an act that kills the process each time is not begun
// for ever, and the person hears of it.
func TestPoisonIsGivenUp(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	r.open()
	a := act{Kind: commands.Slash, User: "U0ALICE", Team: "T0HOME", Room: "C0INC", Text: "drift web", Once: []string{"1"}}
	raw, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.db.Receive(state.Delivery{ID: a.id(), Mint: "m", Kind: "slash", Payload: raw}); err != nil {
		t.Fatal(err)
	}
	for range maxTries {
		if _, err := r.db.Begin(a.id()); err != nil {
			t.Fatal(err)
		}
	}
	r.start()
	r.wait("the apology", func() bool { return len(r.sim.Ephemerals("alice", "inc-1234")) == 1 })
	r.settled()
	if len(r.app.requests()) != 0 {
		t.Error("it was handled once more")
	}
	r.noFindings()
}

// TestStopsInOrder: what is under way when the bot is stopped is handled after
// the next start, once.
func TestStopsInOrder(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	r.configure = func(c *Config) { c.Grace = 50 * time.Millisecond }
	r.open()
	r.app.hold = make(chan struct{})
	r.start()
	r.slash("alice", "inc-1234", "drift web")
	r.wait("the request", func() bool { return len(r.app.requests()) == 1 })
	r.halt()
	if n := len(r.sim.Connections()); n != 0 {
		t.Errorf("%d sockets left open", n)
	}
	r.start()
	r.card("inc-1234", "web at revision 1")
	r.settled()
	r.noFindings()
}

// TestLooksForItsMessagesOnlyWhenItKnowsWhoItIs: what may have arrived before
// a restart is looked for, not posted again, though Slack is slow to let the
// bot in.
func TestLooksForItsMessagesOnlyWhenItKnowsWhoItIs(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	r.start()
	r.sim.Fault(slacksim.Rule{Method: "chat.postMessage", Times: 1, DropAnswer: true})
	r.slash("alice", "inc-1234", "status")
	r.card("inc-1234", "status of everything")
	r.halt()
	r.sim.Fault(slacksim.Rule{Method: "auth.test", Times: 2, Status: 503})
	r.start()
	r.settled()
	if n := len(r.sim.Messages("inc-1234")); n != 1 {
		t.Errorf("%d messages, want 1", n)
	}
	r.noFindings()
}

// TestAFormIsNotOpenedTwice: the process ended while it was being opened.
func TestAFormIsNotOpenedTwice(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	r.open()
	a := act{Kind: commands.Click, User: "U0ALICE", Team: "T0HOME", Room: "C0INC", Action: "adopt", Value: "r", Trigger: "1.2.3", Once: []string{"1"}}
	raw, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.db.Receive(state.Delivery{ID: a.id(), Mint: "m", Kind: "click", Payload: raw, Received: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.db.Begin(a.id()); err != nil {
		t.Fatal(err)
	}
	r.start()
	r.wait("the explanation", func() bool {
		list := r.sim.Ephemerals("alice", "inc-1234")
		return len(list) == 1 && list[0].Text == perhapsOpenText
	})
	r.settled()
	r.noFindings()
}
