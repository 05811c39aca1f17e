package slacksim

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"
)

// More of what slack-go does, measured. Each of these is the reason for
// something in the bot's own connection; when one fails after an upgrade, the
// reason is gone and the code for it can go too.

// listen runs slack-go's loop until the test ends, and returns what it tells.
func (w workspace) listen(t *testing.T, app *socketmode.Client) (events chan socketmode.Event, ended chan error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended = make(chan error, 1)
	go func() { ended <- app.RunContext(ctx) }()
	t.Cleanup(func() {
		stop()
		for {
			select {
			case <-app.Events:
			case <-ended:
				return
			}
		}
	})
	return app.Events, ended
}

func TestTheLoopRetriesForEverWhatWillNeverWork(t *testing.T) {
	w := start(t, Options{Limits: LimitsOff})
	app := socketmode.New(slack.New(w.BotToken(), slack.OptionAppLevelToken("xapp-other"), slack.OptionAPIURL(w.url+"/api/")))
	for code, ends := range map[string]bool{"not_allowed_token_type": false, "missing_scope": false, "invalid_auth": true} {
		w.ClearFaults()
		w.Fault(Rule{Method: "apps.connections.open", Error: code})
		events, ended := w.listen(t, app)
		for n := 0; n < 4; {
			select {
			case e := <-events:
				if e.Type == socketmode.EventTypeConnectionError {
					n++
				}
				continue
			case err := <-ended:
				if !ends {
					t.Errorf("%s ended the loop: %v", code, err)
				}
				ended <- err
				n = 4
			}
		}
	}
}

// TestTheLoopKnowsNoPause: when Slack greets and disconnects at once, the next
// socket is opened at once, without end.
func TestTheLoopKnowsNoPause(t *testing.T) {
	w := start(t, Options{Limits: LimitsOff})
	w.Storm(40)
	app := socketmode.New(w.client)
	events, _ := w.listen(t, app)
	go func() {
		for range events {
		}
	}()
	began := time.Now()
	w.must(t, "forty sockets", func() bool { return w.Metrics().Connects > 40 })
	if per := time.Since(began) / 40; per > 100*time.Millisecond {
		t.Errorf("%s between sockets: the loop has learnt to wait", per)
	}
	w.must(t, "the finding", func() bool {
		for _, f := range w.Findings() {
			if f.Rule == RuleOpenRate {
				return true
			}
		}
		return false
	})
}

// TestWhyASocketEndedIsNotTold: the disconnect frame is swallowed.
func TestWhyASocketEndedIsNotTold(t *testing.T) {
	w := start(t, Options{})
	app := socketmode.New(w.client)
	events, _ := w.listen(t, app)
	var mu sync.Mutex
	seen := map[socketmode.EventType]int{}
	go func() {
		for e := range events {
			mu.Lock()
			seen[e.Type]++
			mu.Unlock()
		}
	}()
	w.must(t, "a socket", func() bool { return len(w.Connections()) == 1 })
	w.Disconnect(DisconnectRefresh)
	w.must(t, "the next socket", func() bool { return w.Metrics().Connects == 2 && len(w.Connections()) == 1 })
	mu.Lock()
	defer mu.Unlock()
	if seen[socketmode.EventTypeDisconnect] != 0 {
		t.Error("the reason is told now")
	}
}

func TestALargeAcknowledgementIsRefusedHere(t *testing.T) {
	w := start(t, Options{})
	got := make(chan error, 1)
	w.run(t, func(app *socketmode.Client, e socketmode.Event) {
		if e.Request != nil && e.Request.EnvelopeID != "" {
			got <- app.AckCtx(t.Context(), e.Request.EnvelopeID, map[string]string{"text": strings.Repeat("a", maxAckBytes)})
		}
	})
	w.slash(t, "/reconcile help")
	if err := <-got; err == nil {
		t.Errorf("%d bytes were taken", maxAckBytes)
	}
}

// TestTheGreetingCarriesARequest that must not be acknowledged: it has no id.
func TestTheGreetingCarriesARequest(t *testing.T) {
	w := start(t, Options{})
	app := socketmode.New(w.client)
	events, _ := w.listen(t, app)
	for e := range events {
		if e.Type == socketmode.EventTypeHello {
			if e.Request == nil || e.Request.EnvelopeID != "" {
				t.Errorf("hello came with %+v", e.Request)
			}
			return
		}
	}
}

// TestWhatItCannotReadItDoesNotAcknowledge, so Slack sends it again: the bot
// must find the id by itself.
func TestWhatItCannotReadItDoesNotAcknowledge(t *testing.T) {
	for name, send := range map[string]func(w workspace){
		"a new kind of envelope": func(w workspace) { _, _ = w.SendEnvelope(context.Background(), "telepathy", obj{}) },
		"a new kind of event": func(w workspace) {
			_, _ = w.SendEnvelope(context.Background(), kindEvent, obj{"type": "event_callback", "event": obj{"type": "dreamt"}})
		},
		"an event of wrong types": func(w workspace) {
			w.Emit("app_mention", "C0INC", obj{"text": 5})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, Options{AckWindow: 300 * time.Millisecond, RetryAfter: []time.Duration{}})
			app := socketmode.New(w.client)
			events, _ := w.listen(t, app)
			w.must(t, "a socket", func() bool { return len(w.Connections()) == 1 })
			go send(w)
			for e := range events {
				if e.Type == socketmode.EventTypeErrorBadMessage {
					break
				}
			}
			w.must(t, "the end of the window", func() bool { return w.Metrics().Unacked == 1 })
		})
	}
}

// TestAnAcknowledgementMayGoOutOnTheNextSocket: the queue outlives the socket.
func TestAnAcknowledgementMayGoOutOnTheNextSocket(t *testing.T) {
	w := start(t, Options{Routing: RouteNewest})
	app := socketmode.New(w.client)
	events, _ := w.listen(t, app)
	held := make(chan string, 1)
	go func() {
		for e := range events {
			if e.Request != nil && e.Request.EnvelopeID != "" {
				held <- e.Request.EnvelopeID
			}
		}
	}()
	w.must(t, "a socket", func() bool { return len(w.Connections()) == 1 })
	w.slash(t, "/reconcile help")
	id := <-held
	w.Disconnect(DisconnectReset)
	w.must(t, "the next socket", func() bool { return w.Metrics().Connects == 2 && len(w.Connections()) == 1 })
	if err := app.AckCtx(t.Context(), id, nil); err != nil {
		t.Fatal(err)
	}
	w.must(t, "the acknowledgement", func() bool { e := w.Envelopes(); return e[0].State == "acked" || e[0].State == "late" })
}

// TestDebuggingShortensEveryConnection: a logger set to debug asks Slack for
// sockets of six minutes.
func TestDebuggingShortensEveryConnection(t *testing.T) {
	w := start(t, Options{})
	client := slack.New(w.BotToken(), slack.OptionAppLevelToken(w.AppToken()), slack.OptionAPIURL(w.url+"/api/"), slack.OptionDebug(true), slack.OptionLog(log.New(io.Discard, "", 0)))
	_, address, err := client.StartSocketModeContext(t.Context())
	if err != nil || !strings.Contains(address, "debug_reconnects=true") {
		t.Errorf("the address is %s, %v", address, err)
	}
}

// TestWhereTheTokenIs: in the body of a form, which logs of bodies would show.
func TestWhereTheTokenIs(t *testing.T) {
	w := start(t, Options{})
	seen := &recording{}
	client := slack.New(w.BotToken(), slack.OptionAPIURL(w.url+"/api/"), slack.OptionHTTPClient(&http.Client{Transport: seen}))
	if _, _, err := client.PostMessage("C0INC", slack.MsgOptionText("x", false)); err != nil {
		t.Fatal(err)
	}
	if seen.header != "" {
		t.Errorf("chat.postMessage has the header %q: the body may be logged now", seen.header)
	}
	_, err := client.UpdateView(slack.ModalViewRequest{Type: slack.VTModal, Title: slack.NewTextBlockObject("plain_text", "x", false, false)}, "", "", "V1")
	var refused slack.SlackErrorResponse
	if !errors.As(err, &refused) || refused.Err != "not_found" {
		t.Errorf("views.update answered %v", err)
	}
	if !strings.HasPrefix(seen.header, "Bearer ") {
		t.Errorf("views.update has the header %q", seen.header)
	}
}

// recording keeps the header of the last request.
type recording struct{ header string }

func (r *recording) RoundTrip(req *http.Request) (*http.Response, error) {
	r.header = req.Header.Get("Authorization")
	return http.DefaultTransport.RoundTrip(req)
}
