package slacksim

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

func TestHowSocketsEndOnTheWire(t *testing.T) {
	for how, code := range map[Disconnect]int{
		DisconnectNormal: websocket.CloseNormalClosure, DisconnectClose: websocket.CloseGoingAway,
		DisconnectBroken: websocket.CloseInternalServerErr, DisconnectReset: 0, DisconnectCut: 0,
	} {
		t.Run(string(how), func(t *testing.T) {
			w := start(t, Options{})
			conn := w.connect(t, 1)
			w.Disconnect(how)
			_, _, err := conn.ReadMessage()
			switch {
			case err == nil:
				t.Error("the socket is still open")
			case code == 0 && websocket.IsCloseError(err, websocket.CloseNormalClosure, websocket.CloseGoingAway):
				t.Errorf("it was closed with a word: %v", err)
			case code != 0 && !websocket.IsCloseError(err, code):
				t.Errorf("closed with %v, want %d", err, code)
			}
		})
	}
}

// TestFramesThatAClientMustSurvive are followed by a command, which the same
// socket gets.
func TestFramesThatAClientMustSurvive(t *testing.T) {
	for _, how := range []Disconnect{DisconnectGarbage, DisconnectEmpty, DisconnectBinary, DisconnectUnknown, DisconnectHuge} {
		t.Run(string(how), func(t *testing.T) {
			// Eight megabytes take their time on a busy machine.
			w := start(t, Options{AckWindow: time.Minute})
			w.run(t, acking)
			w.Disconnect(how)
			if _, err := w.As("alice").In("C0INC").Slash(t.Context(), "/reconcile help"); err != nil || w.Metrics().Connects != 1 {
				t.Errorf("%v, over %d sockets", err, w.Metrics().Connects)
			}
		})
	}
}

func TestASocketWithoutPings(t *testing.T) {
	clock := NewManualClock(time.Unix(1_800_000_000, 0))
	w := start(t, Options{Clock: clock, PingEvery: 10 * time.Second})
	conn := w.connect(t, 1)
	pings := make(chan struct{}, 10)
	conn.SetPingHandler(func(string) error { pings <- struct{}{}; return nil })
	frames := make(chan obj, 1)
	go func() {
		var o obj
		if conn.ReadJSON(&o) == nil {
			frames <- o
		}
	}()
	<-pings
	w.Disconnect(DisconnectNoPings)
	for range 3 {
		clock.Advance(10 * time.Second)
	}
	w.slash(t, "/reconcile help")
	if frame := <-frames; frame["type"] != kindCommand {
		t.Errorf("got %v", frame)
	}
	if n := len(pings); n != 0 {
		t.Errorf("%d pings came", n)
	}
}

func TestHandshakesThatAreRefused(t *testing.T) {
	for _, status := range []int{http.StatusConflict, http.StatusTooManyRequests, http.StatusBadGateway} {
		w := start(t, Options{})
		w.Fault(Rule{Route: "link", Status: status, Times: 1})
		o := w.call(t, "apps.connections.open", map[string]string{"token": w.AppToken()})
		_, answer, err := websocket.DefaultDialer.Dial(str(o["url"]), nil)
		if err == nil || answer.StatusCode != status {
			t.Errorf("%d: %v", status, err)
			continue
		}
		_ = answer.Body.Close()
	}
}

func TestAnswersThatAreSpoilt(t *testing.T) {
	post := func(w workspace) (string, error) {
		answer, err := http.PostForm(w.url+"/api/chat.postMessage", url.Values{"token": {w.BotToken()}, "channel": {"C0INC"}, "text": {"x"}})
		if err != nil {
			return "", err
		}
		defer answer.Body.Close()
		raw, err := io.ReadAll(answer.Body)
		return string(raw), err
	}
	for name, c := range map[string]struct {
		rule   Rule
		posted int
		want   func(string) bool
	}{
		"cut in half":    {Rule{Truncate: true}, 1, func(s string) bool { return decode([]byte(s)) == nil && strings.HasPrefix(s, "{") }},
		"with a warning": {Rule{Warn: "method_deprecated"}, 1, func(s string) bool { return decode([]byte(s))["warning"] == "method_deprecated" }},
	} {
		w := start(t, Options{})
		w.Fault(c.rule)
		got, err := post(w)
		if err != nil || !c.want(got) || len(w.Messages("C0INC")) != c.posted {
			t.Errorf("%s: answered %s, %v, with %d messages", name, got, err, len(w.Messages("C0INC")))
		}
	}
}

// TestWhatIsTakenAndNeverSeen: Slack does not promise that an ephemeral message
// or a file appears.
func TestWhatIsTakenAndNeverSeen(t *testing.T) {
	clock := NewManualClock(time.Unix(1_800_000_000, 0))
	w := start(t, Options{Clock: clock})
	w.Fault(Rule{Method: "chat.postEphemeral", Lose: true})
	w.Fault(Rule{Method: "files.completeUploadExternal", Lose: true})
	type args = map[string]string
	if o := w.call(t, "chat.postEphemeral", args{"channel": "C0INC", "user": "U0ALICE", "text": "x"}); o["ok"] != true || len(w.Ephemerals("alice", "C0INC")) != 0 {
		t.Errorf("answered %v", o)
	}
	up := w.call(t, "files.getUploadURLExternal", args{"filename": "a", "length": "1"})
	w.upload(t, str(up["upload_url"]), "x")
	w.call(t, "files.completeUploadExternal", args{"files": `[{"id":"` + str(up["file_id"]) + `"}]`, "channel_id": "C0INC"})
	clock.Advance(time.Hour)
	info, _ := w.call(t, "files.info", args{"file": str(up["file_id"])})["file"].(obj)
	if shares, _ := info["shares"].(obj); len(shares) != 0 || len(w.Messages("C0INC")) != 0 {
		t.Errorf("the file is %v", info)
	}
}

func TestWhatTheAppLogsIsLookedAt(t *testing.T) {
	w := start(t, Options{Canaries: []string{"hunter2"}})
	log := w.LogWriter()
	_, _ = log.Write([]byte("all is well\nand the password is hun"))
	w.ExpectNoFindings(t)
	_, _ = log.Write([]byte("ter2\n"))
	if f := w.Findings(); len(f) != 1 || f[0].Rule != RuleCanary {
		t.Errorf("findings %v", f)
	}
	other := start(t, Options{})
	_, _ = bytes.NewBufferString("token " + other.BotToken()).WriteTo(other.LogWriter())
	if f := other.Findings(); len(f) != 1 {
		t.Errorf("the bot's token in a log: %v", f)
	}
}

func TestOnlySomeMayBeMentioned(t *testing.T) {
	w := start(t, Options{Mentions: []string{"U0ALICE", "S0OWN"}, Limits: LimitsOff})
	w.post(t, "C0INC", "<@U0ALICE> and <!subteam^S0OWN|@owners>, look")
	w.ExpectNoFindings(t)
	w.post(t, "C0INC", "<@U0BOB> look")
	w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": "x",
		"blocks": `[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"usergroup","usergroup_id":"S0OTHER"}]}]}]`})
	if f := w.Findings(); len(f) != 2 || f[0].Rule != RuleMention || !strings.Contains(f[1].Detail, "S0OTHER") {
		t.Errorf("findings %v", f)
	}
}

// complaints collects what a check says.
type complaints []string

func (c *complaints) Helper() {}

func (c *complaints) Errorf(format string, _ ...any) { *c = append(*c, format) }

func TestADecidedMessageOffersNothing(t *testing.T) {
	w := start(t, Options{Limits: LimitsOff})
	for blocks, want := range map[string]int{
		`[{"type":"divider"}]`: 0,
		`[{"type":"actions","elements":[{"type":"button","url":"https://e.example","text":{"type":"plain_text","text":"Open"}}]}]`: 0,
		`[{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"Approve"}}]}]`:                        1,
	} {
		ts := str(w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": "x", "blocks": blocks})["ts"])
		var c complaints
		w.ExpectSettled(&c, "C0INC", ts)
		if len(c) != want {
			t.Errorf("%s: %v", blocks, c)
		}
	}
}
