package slacksim

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// dial opens a socket by hand, to do what no client library does.
func (w workspace) dial(t *testing.T) *websocket.Conn {
	t.Helper()
	answer, err := http.PostForm(w.url+"/api/apps.connections.open", url.Values{"token": {w.AppToken()}})
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var open struct{ URL, Error string }
	if err := json.NewDecoder(answer.Body).Decode(&open); err != nil || open.URL == "" {
		t.Fatalf("open: %+v, %v", open, err)
	}
	conn, handshake, err := websocket.DefaultDialer.Dial(open.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = handshake.Body.Close()
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func read(t *testing.T, conn *websocket.Conn) obj {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	var o obj
	if err := conn.ReadJSON(&o); err != nil {
		t.Fatalf("read a frame: %v", err)
	}
	return o
}

// connect dials and takes the greeting.
func (w workspace) connect(t *testing.T, count float64) *websocket.Conn {
	t.Helper()
	conn := w.dial(t)
	if hello := read(t, conn); hello["type"] != "hello" || hello["num_connections"] != count {
		t.Fatalf("greeted with %v, want %v connections", hello, count)
	}
	n := int(count)
	w.must(t, "the socket", func() bool { return len(w.Connections()) >= n })
	return conn
}

// slash types a command in the background; its end comes on the channel.
func (w workspace) slash(t *testing.T, text string) chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := w.As("alice").In("C0INC").Slash(context.WithoutCancel(t.Context()), text)
		done <- err
	}()
	t.Cleanup(w.Close)
	return done
}

func TestACommandWithoutASocketFailsAtOnce(t *testing.T) {
	w := start(t, Options{})
	_, err := w.As("alice").In("C0INC").Slash(t.Context(), "/reconcile help")
	if !errors.Is(err, ErrDispatchFailed) {
		t.Errorf("got %v", err)
	}
}

func TestCommandsThatSlackDoesNotSend(t *testing.T) {
	w := start(t, Options{})
	thread := w.post(t, "C0INC", "card")
	for name, c := range map[string]struct {
		user, channel, thread, text, want string
	}{
		"not in the manifest":       {"alice", "C0INC", "", "/deploy", "manifest does not register"},
		"in a thread":               {"alice", "C0INC", thread, "/reconcile help", "not supported in threads"},
		"from another workspace":    {"eve", "C0INC", "", "/reconcile help", "another workspace"},
		"from a closed account":     {"gone", "C0INC", "", "/reconcile help", "deactivated"},
		"in an archived channel":    {"alice", "C0OLD", "", "/reconcile help", "archived"},
		"in a channel out of sight": {"bob", "G0PRIV", "", "/reconcile help", "no such channel"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.As(c.user).In(c.channel).InThread(c.thread).Slash(t.Context(), c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestACommandThatIsNotAcknowledged(t *testing.T) {
	clock := NewManualClock(time.Unix(1_800_000_000, 0))
	w := start(t, Options{Clock: clock})
	conn := w.connect(t, 1)
	done := w.slash(t, "/reconcile drift a & b <@U0BOB>")
	env := read(t, conn)
	payload, _ := env["payload"].(obj)
	if env["type"] != "slash_commands" || payload["text"] != "drift a &amp; b <@U0BOB>" || env["accepts_response_payload"] != true {
		t.Errorf("delivered %v", env)
	}
	w.must(t, "the window", func() bool { return clock.armed(3 * time.Second) })
	clock.Advance(3 * time.Second)
	if err := <-done; !errors.Is(err, ErrOperationTimeout) {
		t.Errorf("the person saw %v", err)
	}
	_ = conn.WriteJSON(obj{"envelope_id": env["envelope_id"]})
	w.must(t, "the late acknowledgement", func() bool { return len(w.Findings()) == 2 })
	if f := w.Findings(); f[0].Rule != RuleUnacked || f[1].Rule != RuleLateAck {
		t.Errorf("findings %v", f)
	}
}

func TestAcknowledgementsThatAreWrong(t *testing.T) {
	for name, c := range map[string]struct {
		ack  func(conn *websocket.Conn, id string)
		want string
	}{
		"twice": {func(conn *websocket.Conn, id string) {
			_ = conn.WriteJSON(obj{"envelope_id": id})
			_ = conn.WriteJSON(obj{"envelope_id": id})
		}, RuleDoubleAck},
		"without an id":      {func(conn *websocket.Conn, _ string) { _ = conn.WriteJSON(obj{"envelope_id": ""}) }, RuleEmptyAck},
		"of nothing we know": {func(conn *websocket.Conn, _ string) { _ = conn.WriteJSON(obj{"envelope_id": "x"}) }, RuleUnknownAck},
		"as binary": {func(conn *websocket.Conn, id string) {
			_ = conn.WriteMessage(websocket.BinaryMessage, encode(obj{"envelope_id": id}))
		}, RuleAckIgnored},
		"too large": {func(conn *websocket.Conn, id string) {
			_ = conn.WriteJSON(obj{"envelope_id": id, "payload": obj{"text": strings.Repeat("a", maxAckBytes)}})
		}, RuleAckIgnored},
		"in two frames": {func(conn *websocket.Conn, id string) {
			w, err := conn.NextWriter(websocket.TextMessage)
			if err == nil {
				// More than the client's buffer makes it send continuations.
				_, _ = w.Write(encode(obj{"envelope_id": id, "payload": obj{"text": strings.Repeat("a", 9000)}}))
				_ = w.Close()
			}
		}, RuleAckIgnored},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, Options{})
			conn := w.connect(t, 1)
			w.slash(t, "/reconcile help")
			c.ack(conn, str(read(t, conn)["envelope_id"]))
			w.must(t, "the finding", func() bool { return len(w.Findings()) == 1 })
			if f := w.Findings(); f[0].Rule != c.want {
				t.Errorf("found %v, want %s", f, c.want)
			}
		})
	}
}

func TestAnAnswerInTheAcknowledgement(t *testing.T) {
	w := start(t, Options{})
	conn := w.connect(t, 1)
	done := w.slash(t, "/reconcile help")
	_ = conn.WriteJSON(obj{"envelope_id": read(t, conn)["envelope_id"], "payload": obj{"text": "looking"}})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if e := w.Ephemerals("alice", "C0INC"); len(e) != 1 || e[0].Text != "looking" {
		t.Errorf("alice sees %v", e)
	}
	if e := w.Ephemerals("bob", "C0INC"); len(e) != 0 {
		t.Errorf("bob sees %v", e)
	}
	w.As("alice").Reload()
	if e := w.Ephemerals("alice", "C0INC"); len(e) != 0 {
		t.Errorf("after a reload alice sees %v", e)
	}
}

func TestAnEventComesAgainUntilItIsAcknowledged(t *testing.T) {
	clock := NewManualClock(time.Unix(1_800_000_000, 0))
	w := start(t, Options{Clock: clock})
	conn := w.connect(t, 1)
	inv, err := w.As("alice").In("C0INC").Mention(t.Context(), "@reconcile status")
	if err != nil {
		t.Fatal(err)
	}
	pauses := []time.Duration{0, 0, time.Minute, 5 * time.Minute}
	for attempt, pause := range pauses {
		clock.Advance(pause)
		env := read(t, conn)
		payload, _ := env["payload"].(obj)
		if payload["event_id"] != inv.EventID || env["retry_attempt"] != float64(attempt) {
			t.Fatalf("attempt %d delivered %v", attempt, env)
		}
		if attempt == len(pauses)-1 {
			_ = conn.WriteJSON(obj{"envelope_id": env["envelope_id"]})
			break
		}
		w.must(t, "the window", func() bool { return clock.armed(3 * time.Second) })
		clock.Advance(3 * time.Second)
		n := attempt + 1
		w.must(t, "the end of the window", func() bool { return w.Metrics().Unacked == n })
		w.must(t, "the plan for the next attempt", func() bool { return clock.armed(pauses[n]) })
	}
	w.must(t, "the acknowledgement", func() bool { return w.Metrics().Acked == 1 })
}

// armed tells whether an alarm is set so far from now.
func (c *ManualClock) armed(d time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.alarm {
		if a.at.Equal(c.now.Add(d)) {
			return true
		}
	}
	return false
}

func TestSocketsEnd(t *testing.T) {
	for how, want := range map[Disconnect]string{
		DisconnectRefresh: "refresh_requested",
		DisconnectLinkOff: "link_disabled",
		DisconnectWarning: "warning",
	} {
		t.Run(string(how), func(t *testing.T) {
			w := start(t, Options{})
			conn := w.connect(t, 1)
			w.Disconnect(how)
			if frame := read(t, conn); frame["type"] != "disconnect" || frame["reason"] != want {
				t.Errorf("got %v", frame)
			}
		})
	}
}

func TestSocketModeCanBeSwitchedOff(t *testing.T) {
	w := start(t, Options{})
	w.Disconnect(DisconnectLinkOff)
	form := map[string]string{"token": w.AppToken()}
	if o := w.call(t, "apps.connections.open", form); o["ok"] != false {
		t.Errorf("open answered %v", o)
	}
	w.LinkOn()
	if o := w.call(t, "apps.connections.open", form); o["ok"] != true {
		t.Errorf("open answered %v", o)
	}
}

func TestTheEleventhSocketIsTurnedAway(t *testing.T) {
	w := start(t, Options{Limits: LimitsOff})
	for n := range maxSockets {
		w.connect(t, float64(n+1))
	}
	if frame := read(t, w.dial(t)); frame["reason"] != "too_many_websockets" {
		t.Errorf("got %v", frame)
	}
}

func TestATicketIsGoodForOneSocket(t *testing.T) {
	w := start(t, Options{})
	o := w.call(t, "apps.connections.open", map[string]string{"token": w.AppToken()})
	conn, r1, err := websocket.DefaultDialer.Dial(str(o["url"]), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = r1.Body.Close()
	defer conn.Close()
	_, r2, err := websocket.DefaultDialer.Dial(str(o["url"]), nil)
	if err == nil || r2.StatusCode != http.StatusForbidden {
		t.Errorf("the second use: %v", err)
	}
	_ = r2.Body.Close()
}

func TestEachEnvelopeGoesToOneSocket(t *testing.T) {
	w := start(t, Options{Routing: RouteRoundRobin})
	conns := []*websocket.Conn{w.connect(t, 1), w.connect(t, 2)}
	for range 4 {
		done := w.slash(t, "/reconcile help")
		w.must(t, "the delivery", func() bool { e := w.Envelopes(); return len(e) > 0 && e[len(e)-1].State == "sent" })
		e := w.Envelopes()
		conn := conns[e[len(e)-1].Socket-1]
		_ = conn.WriteJSON(obj{"envelope_id": read(t, conn)["envelope_id"]})
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range w.Connections() {
		if c.Envelopes != 2 {
			t.Errorf("socket %d got %d envelopes", c.ID, c.Envelopes)
		}
	}
}

func TestAnAcknowledgementOnAnotherSocket(t *testing.T) {
	for refuse, want := range map[bool]string{false: "acked", true: "sent"} {
		w := start(t, Options{Routing: RouteSticky, RefuseCrossSocketAck: refuse})
		first, second := w.connect(t, 1), w.connect(t, 2)
		w.slash(t, "/reconcile help")
		env := read(t, first)
		_ = second.WriteJSON(obj{"envelope_id": env["envelope_id"]})
		_ = second.WriteJSON(obj{"envelope_id": "after"})
		w.must(t, "both frames", func() bool { return len(w.Findings()) == 1 })
		if got := w.Envelopes()[0].State; got != want {
			t.Errorf("refuse %v: the envelope is %s, want %s", refuse, got, want)
		}
	}
}

func TestADeadSocketIsPassedOver(t *testing.T) {
	w := start(t, Options{Routing: RouteSticky})
	w.connect(t, 1)
	second := w.connect(t, 2)
	w.mu.Lock()
	w.sockets[0].reset()
	w.mu.Unlock()
	done := w.slash(t, "/reconcile help")
	_ = second.WriteJSON(obj{"envelope_id": read(t, second)["envelope_id"]})
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestSilentDeathLooksLikeALostAnswer(t *testing.T) {
	clock := NewManualClock(time.Unix(1_800_000_000, 0))
	w := start(t, Options{Clock: clock})
	w.connect(t, 1)
	w.Disconnect(DisconnectSilent)
	done := w.slash(t, "/reconcile help")
	w.must(t, "the delivery", func() bool { return clock.armed(3*time.Second) && len(w.Envelopes()) == 1 })
	clock.Advance(3 * time.Second)
	if err := <-done; !errors.Is(err, ErrOperationTimeout) {
		t.Errorf("got %v", err)
	}
}

func TestPingsComeAsOftenAsAsked(t *testing.T) {
	clock := NewManualClock(time.Unix(1_800_000_000, 0))
	w := start(t, Options{Clock: clock, PingEvery: 10 * time.Second})
	conn := w.connect(t, 1)
	pings := make(chan string, 10)
	conn.SetPingHandler(func(data string) error { pings <- data; return nil })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _, _ = conn.ReadMessage()
	}()
	<-pings
	clock.Advance(10 * time.Second)
	<-pings
	_ = conn.Close()
	<-ended
}

func TestASocketLivesOnlySoLong(t *testing.T) {
	clock := NewManualClock(time.Unix(1_800_000_000, 0))
	w := start(t, Options{Clock: clock, SocketLife: time.Hour, PingEvery: 24 * time.Hour})
	conn := w.connect(t, 1)
	w.must(t, "the end to be set", func() bool { return clock.armed(time.Hour) })
	clock.Advance(time.Hour)
	if frame := read(t, conn); frame["reason"] != "refresh_requested" {
		t.Errorf("got %v", frame)
	}
}

func TestWhatSlackMayAddOneDay(t *testing.T) {
	w := start(t, Options{})
	conn := w.connect(t, 1)
	done := make(chan error, 1)
	go func() {
		_, err := w.SendEnvelope(context.WithoutCancel(t.Context()), "telepathy", obj{"thought": "?"})
		done <- err
	}()
	env := read(t, conn)
	_ = conn.WriteJSON(obj{"envelope_id": env["envelope_id"]})
	if err := <-done; err != nil || env["type"] != "telepathy" {
		t.Errorf("delivered %v, %v", env, err)
	}
	if id := w.Emit("app_uninstalled", "", nil); id != "" {
		t.Error("an event was sent that the manifest does not subscribe to")
	}
}

func TestARetryKeepsOrChangesItsEnvelope(t *testing.T) {
	for same, want := range map[bool]int{true: 1, false: 2} {
		clock := NewManualClock(time.Unix(1_800_000_000, 0))
		w := start(t, Options{Clock: clock, SameEnvelopeOnRetry: same})
		conn := w.connect(t, 1)
		if _, err := w.As("alice").In("C0INC").Mention(t.Context(), "@reconcile status"); err != nil {
			t.Fatal(err)
		}
		ids := map[any]bool{read(t, conn)["envelope_id"]: true}
		w.must(t, "the window", func() bool { return clock.armed(3 * time.Second) })
		clock.Advance(3 * time.Second)
		w.must(t, "the plan for the next attempt", func() bool { return clock.armed(0) })
		clock.Advance(0)
		ids[read(t, conn)["envelope_id"]] = true
		if len(ids) != want {
			t.Errorf("same %v: %d envelope ids", same, len(ids))
		}
	}
}

func TestADoubleClickIsTwoDeliveries(t *testing.T) {
	w := start(t, Options{})
	w.run(t, acking)
	ts := str(w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": "card",
		"blocks": `[{"type":"actions","elements":[{"type":"button","action_id":"go","text":{"type":"plain_text","text":"Go"}}]}]`})["ts"])
	clicks := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := w.As("bob").In("C0INC").Click(context.WithoutCancel(t.Context()), ts, "go")
			clicks <- err
		}()
	}
	for range 2 {
		if err := <-clicks; err != nil {
			t.Error(err)
		}
	}
	e := w.Envelopes()
	first, second := decode(e[0].Payload), decode(e[1].Payload)
	if len(e) != 2 || e[0].ID == e[1].ID || first["trigger_id"] == second["trigger_id"] {
		t.Errorf("delivered %v", e)
	}
}
