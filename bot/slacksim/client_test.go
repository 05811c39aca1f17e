package slacksim

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"
)

// These pin what the client library does, so that an upgrade that changes it
// is seen here and not at three in the morning.

func TestTheClientTakesAnEmptyRefusalForSuccess(t *testing.T) {
	w := start(t, Options{})
	w.Fault(Rule{Method: "chat.postMessage", Body: `{"ok":false}`})
	_, ts, err := w.client.PostMessage("C0INC", slack.MsgOptionText("x", false))
	if err != nil || ts != "" {
		t.Errorf("got ts %q, %v", ts, err)
	}
}

func TestTheClientTellsHowLongToWait(t *testing.T) {
	w := start(t, Options{})
	w.Fault(Rule{Method: "chat.postMessage", Status: 429, RetryAfter: 7})
	_, _, err := w.client.PostMessage("C0INC", slack.MsgOptionText("x", false))
	var limited *slack.RateLimitedError
	if !errors.As(err, &limited) || limited.RetryAfter != 7*time.Second {
		t.Errorf("got %v", err)
	}
}

func TestTheClientKeepsTheDetailOfRefusedBlocks(t *testing.T) {
	w := start(t, Options{})
	header := slack.NewHeaderBlock(slack.NewTextBlockObject("plain_text", strings.Repeat("a", 151), false, false))
	_, _, err := w.client.PostMessage("C0INC", slack.MsgOptionText("x", false), slack.MsgOptionBlocks(header))
	var refused slack.SlackErrorResponse
	if !errors.As(err, &refused) || len(refused.ResponseMetadata.Messages) != 1 ||
		!strings.Contains(refused.ResponseMetadata.Messages[0], "[json-pointer:/blocks/0/text/text]") {
		t.Errorf("got %#v", err)
	}
}

func TestTheClientSendsFilesOnlyToTheHostItKnows(t *testing.T) {
	w := start(t, Options{})
	other := slack.New(w.BotToken(), slack.OptionAPIURL(strings.Replace(w.url, "127.0.0.1", "localhost", 1)+"/api/"))
	w.Fault(Rule{Method: "files.getUploadURLExternal", Body: `{"ok":true,"upload_url":"` + w.url + `/upload/v1/x","file_id":"F1"}`})
	_, err := other.UploadFile(slack.UploadFileParameters{Filename: "a", FileSize: 1, Content: "a"})
	if err == nil || !strings.Contains(err.Error(), "upload") {
		t.Errorf("got %v", err)
	}
}

func TestTheClientComesBackAfterEveryEnd(t *testing.T) {
	for _, how := range []Disconnect{DisconnectRefresh, DisconnectReset, DisconnectClose} {
		t.Run(string(how), func(t *testing.T) {
			w := start(t, Options{})
			w.run(t, acking)
			w.Disconnect(how)
			w.must(t, "the next socket", func() bool { return w.Metrics().Connects == 2 && len(w.Connections()) == 1 })
			if _, err := w.As("alice").In("C0INC").Slash(t.Context(), "/reconcile help"); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTheClientStaysAfterGarbage(t *testing.T) {
	w := start(t, Options{})
	bad := make(chan struct{}, 1)
	w.run(t, func(app *socketmode.Client, e socketmode.Event) {
		if e.Type == socketmode.EventTypeIncomingError {
			bad <- struct{}{}
		}
		acking(app, e)
	})
	w.Disconnect(DisconnectGarbage)
	<-bad
	if _, err := w.As("alice").In("C0INC").Slash(t.Context(), "/reconcile help"); err != nil || w.Metrics().Connects != 1 {
		t.Errorf("got %v over %d sockets", err, w.Metrics().Connects)
	}
}

func TestManyPeopleAtOnceWhileSocketsComeAndGo(t *testing.T) {
	if testing.Short() {
		t.Skip("short: no soak")
	}
	before := runtime.NumGoroutine()
	t.Run("soak", func(t *testing.T) {
		w := start(t, Options{Limits: LimitsOff, AckWindow: 500 * time.Millisecond})
		w.run(t, acking)
		w.run(t, acking)
		ts := str(w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": "card",
			"blocks": `[{"type":"actions","elements":[{"type":"button","action_id":"go","text":{"type":"plain_text","text":"Go"}}]}]`})["ts"])
		var people sync.WaitGroup
		for _, name := range []string{"alice", "bob", "gwen"} {
			people.Go(func() {
				here := w.As(name).In("C0INC")
				for n := range 150 {
					_, err := here.Slash(t.Context(), "/reconcile help")
					if err == nil {
						_, err = here.Click(t.Context(), ts, "go")
					}
					if err != nil && !errors.Is(err, ErrOperationTimeout) && !errors.Is(err, ErrDispatchFailed) {
						t.Error(err)
					}
					if n%40 == 20 {
						w.Disconnect(DisconnectRefresh)
					}
				}
			})
		}
		people.Wait()
		m := w.Metrics()
		if m.Acked+m.Unacked+m.Lost != m.Envelopes {
			t.Errorf("%d envelopes went out, %d were acknowledged, %d not, and %d lost with their socket", m.Envelopes, m.Acked, m.Unacked, m.Lost)
		}
		for _, f := range w.Findings() {
			if f.Rule != RuleUnacked && f.Rule != RuleOpenRate && f.Rule != RuleLateAck && f.Rule != RuleUnknownAck {
				t.Errorf("found %+v", f)
			}
		}
	})
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before+5 && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if after := runtime.NumGoroutine(); after > before+5 {
		t.Errorf("%d goroutines became %d", before, after)
	}
}
