package slacksim

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Limits of Socket Mode, https://docs.slack.dev/apis/events-api/using-socket-mode
// and slack-go's measured bound on acknowledgements.
const (
	maxSockets  = 10
	maxAckBytes = 20_480
	ticketLife  = 30 * time.Second
	writeWait   = 5 * time.Second
	socketLife  = 3600 // seconds, announced in hello
	debugLife   = 360  // with debug_reconnects
)

type ticket struct {
	issued time.Time
}

// socket is one connection of the app.
type socket struct {
	id     int
	frames *watched
	conn   *websocket.Conn

	write sync.Mutex // one writer at a time

	// guarded by Sim.mu
	since    time.Time
	silent   bool // swallows everything that is sent
	mute     bool // sends pings but no envelopes
	unpinged bool // gets envelopes but no pings
	doomed   bool // ends by no fault of the app
	ready    bool // hello is out
	count    int  // envelopes sent
}

func connectionsOpen(s *Sim, c *call) (obj, *failure) {
	if s.linkOff || !s.manifest.socketMode() {
		return nil, fail("forbidden_team")
	}
	key := s.secret(40)
	s.tickets[key] = ticket{s.clock.Now()}
	host := c.base[len("http://"):]
	s.host = host
	return obj{"url": "ws://" + host + "/link/?ticket=" + key + "&app_id=" + s.app.ID}, nil
}

// link serves a socket from its handshake to its end.
func (s *Sim) link(w http.ResponseWriter, r *http.Request) {
	rule := s.faultFor(trait{Route: "link"})
	if rule.before(w, r) {
		return
	}
	if !s.redeem(r.URL.Query().Get("ticket")) {
		http.Error(w, "the ticket is used, expired or unknown", http.StatusForbidden)
		return
	}
	// A buffer of its own makes the library read from the watched connection.
	up := websocket.Upgrader{ReadBufferSize: 4096, CheckOrigin: func(*http.Request) bool { return true }}
	watch := &watcher{ResponseWriter: w}
	conn, err := up.Upgrade(watch, r, nil)
	if err != nil {
		return // the upgrader has answered
	}
	defer conn.Close()
	life := socketLife
	if r.URL.Query().Get("debug_reconnects") == "true" {
		life = debugLife
	}
	c := &socket{frames: watch.conn, conn: conn}
	if !s.enter(c) {
		_ = c.send(obj{"type": "disconnect", "reason": "too_many_websockets", "debug_info": debugInfo(c, life)})
		c.close(websocket.CloseNormalClosure, "too many websockets")
		return
	}
	defer s.leave(c)
	s.hello(c, life)
	s.listen(c)
}

func (s *Sim) redeem(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.tickets[key]
	delete(s.tickets, key)
	return ok && s.clock.Now().Sub(t.issued) <= ticketLife
}

func (s *Sim) enter(c *socket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sockets) >= maxSockets {
		s.find(RuleSockets, "the app opened more than %d sockets", maxSockets)
		return false
	}
	if s.closed {
		return false
	}
	s.stats.Connects++
	c.id, c.since = s.stats.Connects, s.clock.Now()
	s.sockets = append(s.sockets, c)
	s.record(Line{Kind: "socket", Socket: c.id, Event: "opened"})
	return true
}

func (s *Sim) leave(c *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sockets = slices.DeleteFunc(s.sockets, func(o *socket) bool { return o == c })
	s.record(Line{Kind: "socket", Socket: c.id, Event: "closed"})
	s.bump()
}

// hello greets the socket and starts its pings.
func (s *Sim) hello(c *socket, life int) {
	s.mu.Lock()
	n := len(s.sockets)
	s.mu.Unlock()
	err := c.send(obj{
		"type": "hello", "num_connections": n, "connection_info": obj{"app_id": s.app.ID}, "debug_info": debugInfo(c, life),
	})
	if s.opts.SocketLife > 0 {
		s.clock.AfterFunc(s.opts.SocketLife, func() { s.disconnect(c, DisconnectRefresh) })
	}
	if life == debugLife {
		s.clock.AfterFunc(debugLife*time.Second, func() { s.disconnect(c, DisconnectRefresh) })
	}
	if s.stormed() {
		s.disconnect(c, DisconnectRefresh)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.ready = err == nil
	s.ping(c)
	s.bump()
}

// host is another for each socket, as on Slack.
func (c *socket) host() string { return "applink-" + strconv.Itoa(c.id) }

func debugInfo(c *socket, life int) obj {
	return obj{
		"host": c.host(), "started": "2026-01-01 00:00:00.000", "build_number": 1,
		"approximate_connection_time": life,
	}
}

// ping keeps the socket's client content, and comes back until the socket is
// gone. The lock is held.
func (s *Sim) ping(c *socket) {
	if s.closed || !slices.Contains(s.sockets, c) {
		return
	}
	if !c.silent && !c.unpinged {
		s.background(func() { _ = c.control(websocket.PingMessage, []byte("ping")) })
	}
	s.clock.AfterFunc(s.opts.PingEvery, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ping(c)
	})
}

// listen reads acknowledgements until the socket ends.
func (s *Sim) listen(c *socket) {
	pong := c.conn.PingHandler()
	c.conn.SetPingHandler(func(data string) error {
		s.mu.Lock()
		silent := c.silent
		s.mu.Unlock()
		if silent {
			return nil
		}
		return pong(data)
	})
	for {
		kind, raw, err := c.conn.ReadMessage()
		if err != nil {
			return
		}
		s.heard(c, kind, raw)
	}
}

// heard takes one frame from the app.
func (s *Sim) heard(c *socket, kind int, raw []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.bump()
	if one := c.frames.next(); !one || kind != websocket.TextMessage || len(raw) >= maxAckBytes {
		s.find(RuleAckIgnored, "a message of %d bytes was ignored: only text in one frame below %d bytes is read", len(raw), maxAckBytes)
		return
	}
	var ack struct {
		ID      *string         `json:"envelope_id"`
		Payload json.RawMessage `json:"payload"`
	}
	if json.Unmarshal(raw, &ack) != nil || ack.ID == nil {
		s.find(RuleAckIgnored, "a frame that is not an acknowledgement was ignored")
		return
	}
	s.inspect("acknowledgement", string(raw))
	s.acked(c, *ack.ID, ack.Payload)
}

// send writes one frame as JSON.
func (c *socket) send(v any) error { return c.sendRaw(websocket.TextMessage, encode(v)) }

func (c *socket) sendRaw(kind int, raw []byte) error {
	c.write.Lock()
	defer c.write.Unlock()
	if err := c.conn.SetWriteDeadline(time.Now().Add(writeWait)); err != nil {
		return err
	}
	if err := c.conn.WriteMessage(kind, raw); err != nil {
		return fmt.Errorf("write to socket %d: %w", c.id, err)
	}
	return nil
}

func (c *socket) control(kind int, data []byte) error {
	return c.conn.WriteControl(kind, data, time.Now().Add(writeWait))
}

func (c *socket) close(code int, reason string) {
	err := c.control(websocket.CloseMessage, websocket.FormatCloseMessage(code, reason))
	if err == nil || errors.Is(err, websocket.ErrCloseSent) {
		_ = c.conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
		return
	}
	_ = c.conn.Close()
}

// reset ends the socket without a word, as a lost network does.
func (c *socket) reset() { _ = c.conn.NetConn().Close() }
