package bot

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"reconcilebot/bot/slacksim"
	"reconcilebot/commands"
	"reconcilebot/state"
)

// wire is a socket whose other end shows what is acknowledged.
func wire(t *testing.T, r *rig) (*socket, chan string) {
	t.Helper()
	acks := make(chan string, 1000)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		conn, err := (&websocket.Upgrader{}).Upgrade(w, req, nil)
		if err != nil {
			return
		}
		defer conn.Close()
		for {
			_, raw, err := conn.ReadMessage()
			if err != nil {
				return
			}
			acks <- string(raw)
		}
	}))
	t.Cleanup(srv.Close)
	conn, err := dial(t.Context(), "ws"+strings.TrimPrefix(srv.URL, "http"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return newSocket(conn, time.Minute, r.bot.meters.frame), acks
}

func envelope(id, kind, payload string) frame {
	f := frame{at: time.Now(), size: len(payload)}
	f.EnvelopeID, f.Type, f.Payload = id, kind, json.RawMessage(payload)
	return f
}

const slashJSON = `{"team_id":"T0HOME","channel_id":"C0INC","user_id":"U0ALICE","text":"drift web","trigger_id":"%s","api_app_id":"A0APP"}`

// TestTheSameActTwiceIsDoneOnce: by whatever envelope it comes again.
func TestTheSameActTwiceIsDoneOnce(t *testing.T) {
	click := func(ts string) string {
		return `{"type":"block_actions","api_app_id":"A0APP","team":{"id":"T0HOME"},"user":{"id":"U0ALICE","team_id":"T0HOME"},"trigger_id":"` + ts +
			`","container":{"type":"message","message_ts":"1.0","channel_id":"C0INC"},"actions":[{"type":"button","action_id":"nothing","block_id":"b","value":"v","action_ts":"5.0"}]}`
	}
	event := func(id string) string {
		return `{"team_id":"T0HOME","api_app_id":"A0APP","event_id":"` + id + `","event":{"type":"app_mention","user":"U0ALICE","team":"T0HOME","channel":"C0INC","ts":"9.1","text":"<@U0APP> hello"}}`
	}
	cases := map[string][]frame{
		"a command":                      {envelope("1", "slash_commands", fmt.Sprintf(slashJSON, "t1")), envelope("2", "slash_commands", fmt.Sprintf(slashJSON, "t1"))},
		"the same envelope":              {envelope("1", "slash_commands", fmt.Sprintf(slashJSON, "t1")), envelope("1", "slash_commands", fmt.Sprintf(slashJSON, "t1"))},
		"a click under another trigger":  {envelope("1", "interactive", click("a")), envelope("2", "interactive", click("b"))},
		"a mention under another event":  {envelope("1", "events_api", event("Ev1")), envelope("2", "events_api", event("Ev2"))},
		"a closed modal reported doubly": {envelope("1", "interactive", `{"type":"view_closed","user":{"id":"U0ALICE"},"view":{"id":"V1"}}`), envelope("2", "interactive", `{"type":"view_closed","user":{"id":"U0ALICE"},"view":{"id":"V1"}}`)},
	}
	for name, frames := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, slacksim.Options{})
			r.start()
			s, acks := wire(t, r)
			for _, f := range frames {
				r.bot.intake.take(s, f)
				if got := <-acks; got != `{"envelope_id":"`+f.EnvelopeID+`"}` {
					t.Errorf("acknowledged with %s", got)
				}
			}
			r.settled()
			if n := len(r.app.requests()); n != 1 {
				t.Errorf("handled %d times", n)
			}
			if m := r.bot.Metrics(); m.Repeated != 1 || m.Received != 1 {
				t.Errorf("metrics: %+v", m)
			}
		})
	}
}

// TestWhatIsNotForUsIsAcknowledgedAndForgotten, however it looks.
func TestWhatIsNotForUsIsAcknowledgedAndForgotten(t *testing.T) {
	long := strings.Repeat("x", 300)
	cases := map[string]frame{
		"an unknown envelope":        envelope("e", "mystery", `{}`),
		"an unknown interaction":     envelope("e", "interactive", `{"type":"block_suggestion"}`),
		"an unknown event":           envelope("e", "events_api", `{"event":{"type":"star_added"}}`),
		"no payload":                 envelope("e", "slash_commands", ``),
		"null":                       envelope("e", "interactive", `null`),
		"an array":                   envelope("e", "slash_commands", `[]`),
		"fields of the wrong type":   envelope("e", "slash_commands", `{"user_id":7}`),
		"no user":                    envelope("e", "slash_commands", `{"trigger_id":"1"}`),
		"no trigger":                 envelope("e", "slash_commands", `{"user_id":"U1"}`),
		"an endless id":              envelope("e", "slash_commands", `{"user_id":"`+long+`","trigger_id":"1"}`),
		"a line break in an id":      envelope("e", "slash_commands", `{"user_id":"U1","channel_id":"C1\nC2","trigger_id":"1"}`),
		"no actions":                 envelope("e", "interactive", `{"type":"block_actions","user":{"id":"U1"},"actions":[]}`),
		"a view that is null":        envelope("e", "interactive", `{"type":"view_submission","user":{"id":"U1"},"view":null}`),
		"another app":                envelope("e", "slash_commands", `{"user_id":"U1","trigger_id":"1","api_app_id":"A9"}`),
		"another workspace":          envelope("e", "slash_commands", `{"user_id":"U1","trigger_id":"1","team_id":"T9"}`),
		"what another bot says":      envelope("e", "events_api", `{"event":{"type":"app_mention","user":"U1","bot_id":"B1","channel":"C1","ts":"1"}}`),
		"what the bot says itself":   envelope("e", "events_api", `{"event":{"type":"app_mention","user":"U0APP","channel":"C1","ts":"1"}}`),
		"an edited message":          envelope("e", "events_api", `{"event":{"type":"app_mention","subtype":"message_changed","user":"U1","channel":"C1","ts":"1"}}`),
		"only the id could be read":  {odd: true},
		"a button that opens a link": envelope("e", "interactive", `{"type":"block_actions","user":{"id":"U1"},"container":{"channel_id":"C1","message_ts":"1"},"actions":[{"type":"button","action_id":"pr","url":"https://example.com","block_id":"b","action_ts":"1"}]}`),
	}
	r := newRig(t, slacksim.Options{})
	r.start()
	s, acks := wire(t, r)
	for name, f := range cases {
		f.EnvelopeID, f.at = "e", time.Now()
		r.bot.intake.take(s, f)
		if got := <-acks; got != `{"envelope_id":"e"}` {
			t.Errorf("%s: acknowledged with %s", name, got)
		}
	}
	r.settled()
	if n := len(r.app.requests()); n != 0 {
		t.Errorf("handled %d: %+v", n, r.app.requests())
	}
	if m := r.bot.Metrics(); m.Received != 0 || m.Panics != 0 {
		t.Errorf("metrics: %+v", m)
	}
	r.bot.intake.take(s, frame{at: time.Now()}) // no envelope: nothing to acknowledge
	r.bot.intake.bg.Wait()
	if len(acks) != 0 {
		t.Errorf("acknowledged nothing with %s", <-acks)
	}
}

// TestWhoComesWhileItStops is told to try again, and nothing is done.
func TestWhoComesWhileItStops(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	r.start()
	r.bot.intake.flush()
	if inv := r.slash("alice", "inc-1234", "drift web"); inv.Text != busyText {
		t.Errorf("acknowledged with %q", inv.Text)
	}
	if list, err := r.db.Unhandled(); err != nil || len(list) != 0 || len(r.app.requests()) != 0 {
		t.Errorf("stored all the same: %v %v", list, err)
	}
	r.noFindings()
}

func TestTooMuchAtOnceIsRefused(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	r.tune = func(b *Bot) { b.pool.queue = make(chan job, slots) }
	r.start()
	if inv := r.slash("alice", "inc-1234", "drift web"); inv.Text != busyText {
		t.Errorf("acknowledged with %q", inv.Text)
	}
	if list, err := r.db.Unhandled(); err != nil || len(list) != 0 {
		t.Errorf("stored all the same: %v %v", list, err)
	}
	r.noFindings()
}

// TestDiskTooSlow: an act that can't be stored in time is refused, and not
// done when the disk comes back.
func TestDiskTooSlow(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	r.tune = func(b *Bot) { b.intake.within = 100 * time.Millisecond }
	r.start()
	r.slash("alice", "inc-1234", "drift web")
	m := r.card("inc-1234", "revision 1")
	r.settled()
	before := len(r.app.requests())

	stuck, free := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	hold := sync.OnceFunc(func() { close(stuck); <-free }) // the store calls it twice when it fails
	id := r.onlyRun().ID
	go func() {
		_, err := r.db.Change(id, func(*state.Reconciliation, time.Time) ([]state.Said, error) {
			hold()
			return nil, errStop
		})
		done <- err
	}()
	<-stuck
	if inv := r.slash("alice", "inc-1234", "status"); inv.Text != busyText {
		t.Errorf("the command was answered with %q", inv.Text)
	}
	if _, err := r.sim.As("alice").In("inc-1234").Click(t.Context(), m.TS, "adopt"); err != nil {
		t.Fatal(err)
	}
	r.wait("the apology for the click", func() bool {
		list := r.sim.Ephemerals("alice", "inc-1234")
		return len(list) > 0 && list[len(list)-1].Text == busyText
	})
	close(free)
	if err := <-done; !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	r.bot.intake.bg.Wait()
	r.settled()
	if n := len(r.app.requests()); n != before {
		t.Errorf("%d acts were done that people were told were not", n-before)
	}
	if got := r.bot.Metrics(); got.Refused != 2 {
		t.Errorf("metrics: %+v", got)
	}
	r.noFindings()
}

var errStop = errors.New("stop")

// TestModalTooLate: a trigger that is spent is answered in words.
func TestModalTooLate(t *testing.T) {
	for _, code := range []string{"expired_trigger_id", "trigger_expired", "exchanged_trigger_id", "trigger_exchanged", "invalid_trigger_id"} {
		t.Run(code, func(t *testing.T) {
			r := newRig(t, slacksim.Options{})
			r.start()
			r.slash("alice", "inc-1234", "drift web")
			m := r.card("inc-1234", "revision 1")
			r.sim.Fault(slacksim.Rule{Method: "views.open", Error: code})
			if _, err := r.sim.As("alice").In("inc-1234").Click(t.Context(), m.TS, "adopt"); err != nil {
				t.Fatal(err)
			}
			r.wait("the explanation", func() bool {
				list := r.sim.Ephemerals("alice", "inc-1234")
				return len(list) == 1 && list[0].Text == tooLateText
			})
			r.noFindings()
		})
	}
}

// TestAnswerWithoutResponseURL: when it can't be used, the answer comes as an
// ephemeral message.
func TestAnswerWithoutResponseURL(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	r.start()
	r.sim.Fault(slacksim.Rule{Route: "hooks", Status: 404, Body: "used_url"})
	r.slash("alice", "inc-1234", "help")
	r.wait("the answer", func() bool { return len(r.sim.Ephemerals("alice", "inc-1234")) == 1 })
	r.settled()
	r.noFindings()
}

func TestShortcutAndTeamOfAStranger(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	r.start()
	r.slash("alice", "inc-1234", "drift web")
	m := r.card("inc-1234", "revision 1")
	if _, err := r.sim.As("eve").In("inc-1234").Click(t.Context(), m.TS, "approve"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.sim.As("bob").In("inc-1234").MessageShortcut(t.Context(), m.TS, "reconcile_thread"); err != nil {
		t.Fatal(err)
	}
	r.wait("both", func() bool { return len(r.app.requests()) == 3 })
	for _, req := range r.app.requests() {
		switch {
		case req.Kind == commands.Click && (req.User != "U0EVE" || req.Team != "T0EXT" || req.Message != m.TS):
			t.Errorf("click: %+v", req)
		case req.Kind == commands.Shortcut && (req.Action != "reconcile_thread" || req.Message != m.TS || req.User != "U0BOB"):
			t.Errorf("shortcut: %+v", req)
		}
	}
	who, err := r.bot.cfg.Directory.Member(t.Context(), "U0EVE", "T0EXT")
	if err != nil || !who.Stranger || who.Team != "T0EXT" {
		t.Errorf("eve: %+v %v", who, err)
	}
	guest, err := r.bot.cfg.Directory.Member(t.Context(), "U0GWEN", "T0HOME")
	if err != nil || !guest.Guest {
		t.Errorf("gwen: %+v %v", guest, err)
	}
	if m, err := r.bot.cfg.Directory.Member(t.Context(), "U0ALICE", "T0EXT"); err != nil || !m.Stranger {
		t.Errorf("somebody who claims another team: %+v %v", m, err)
	}
	if _, err := r.bot.cfg.Directory.Member(t.Context(), "U0NOBODY", ""); err == nil {
		t.Error("nobody was found")
	}
}

// TestWhoCouldNotBeToldIsNotAcknowledged: a click that was not stored and of
// which nobody could be told otherwise is left for Slack to complain of.
func TestWhoCouldNotBeToldIsNotAcknowledged(t *testing.T) {
	for name, silenced := range map[string]bool{"told": false, "not told": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, slacksim.Options{Limits: slacksim.LimitsOff})
			r.tune = func(b *Bot) { b.pool.queue = make(chan job, slots) }
			r.start()
			if silenced {
				r.sim.Fault(slacksim.Rule{Method: "chat.postEphemeral", Status: 503})
			}
			s, acks := wire(t, r)
			r.bot.intake.take(s, envelope("e", "interactive", `{"type":"block_actions","user":{"id":"U0ALICE","team_id":"T0HOME"},"container":{"type":"message","message_ts":"1.0","channel_id":"C0INC"},"actions":[{"type":"button","action_id":"adopt","block_id":"b","value":"v","action_ts":"5.0"}]}`))
			r.bot.intake.flush()
			r.bot.intake.bg.Wait()
			if told := len(r.sim.Ephemerals("alice", "inc-1234")) > 0; told == silenced {
				t.Errorf("told: %t", told)
			}
			if silenced {
				if len(acks) != 0 {
					t.Errorf("acknowledged with %s", <-acks)
				}
				return
			}
			if got := <-acks; got != `{"envelope_id":"e"}` {
				t.Errorf("acknowledged with %s", got)
			}
		})
	}
}
