package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"github.com/slack-go/slack/socketmode"
)

// Bounds of one connection.
const (
	// maxFrame is more than Slack sends; a larger frame ends the connection.
	maxFrame = 4 << 20
	// maxAck is where Slack silently drops an acknowledgement (20 KiB).
	maxAck = 20_000
	// pingEvery and staleAfter find a connection that is dead though it looks
	// open, whether or not Slack pings.
	pingEvery  = 5 * time.Second
	staleAfter = 20 * time.Second
	writeWait  = 2 * time.Second
)

// socket is one Socket Mode connection. One goroutine reads, any may write.
type socket struct {
	conn  *websocket.Conn
	stale time.Duration
	seen  func() // called for every frame, pings included

	closing atomic.Bool

	mu sync.Mutex // one writer at a time
}

// dial opens the address that apps.connections.open gave.
func dial(ctx context.Context, address string) (*websocket.Conn, error) {
	d := websocket.Dialer{
		Proxy:            http.ProxyFromEnvironment,
		HandshakeTimeout: 15 * time.Second,
		// An acknowledgement must not be split: Slack drops fragments.
		WriteBufferSize: 32 << 10,
	}
	conn, resp, err := d.DialContext(ctx, address, nil)
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close() // the handshake's body says nothing we use
	}
	switch {
	case err == nil:
		return conn, nil
	case resp != nil:
		return nil, fmt.Errorf("open Slack's socket: the handshake was answered with %s", resp.Status)
	}
	// The address holds a ticket: an error that repeats it must not be kept.
	return nil, fmt.Errorf("open Slack's socket: %w", plain(err))
}

func newSocket(conn *websocket.Conn, stale time.Duration, seen func()) *socket {
	s := &socket{conn: conn, stale: stale, seen: seen}
	conn.SetReadLimit(maxFrame)
	answer := conn.PingHandler()
	conn.SetPingHandler(func(data string) error {
		if err := s.fresh(); err != nil {
			return err
		}
		return answer(data)
	})
	conn.SetPongHandler(func(string) error { return s.fresh() })
	return s
}

// fresh notes a frame and moves the deadline for the next.
func (s *socket) fresh() error {
	s.seen()
	if s.closing.Load() {
		return nil
	}
	return s.conn.SetReadDeadline(time.Now().Add(s.stale))
}

// frame is one text frame: what of it could be read, and all of it.
type frame struct {
	socketmode.Request
	size int
	at   time.Time
	// odd means that only the envelope's id could be read, if that.
	odd bool
}

// next reads a frame. What can't be read as Slack documents it is handed on
// with its envelope id alone, so that it can be acknowledged.
func (s *socket) next() (frame, error) {
	for {
		kind, raw, err := s.conn.ReadMessage()
		at := time.Now()
		if err != nil {
			return frame{}, fmt.Errorf("read from Slack's socket: %w", err)
		}
		if err := s.fresh(); err != nil {
			return frame{}, fmt.Errorf("read from Slack's socket: %w", err)
		}
		if kind != websocket.TextMessage || len(raw) == 0 {
			continue
		}
		f := frame{size: len(raw), at: at}
		if json.Unmarshal(raw, &f.Request) == nil {
			return f, nil
		}
		var id struct {
			EnvelopeID string `json:"envelope_id"`
		}
		f.Request, f.odd = socketmode.Request{}, true
		if json.Unmarshal(raw, &id) == nil {
			f.EnvelopeID = id.EnvelopeID
		}
		return f, nil
	}
}

// ack acknowledges an envelope. payload may be nil.
func (s *socket) ack(id string, payload any) error {
	raw, err := json.Marshal(socketmode.Response{EnvelopeID: id, Payload: payload})
	if err != nil {
		return fmt.Errorf("encode acknowledgement: %w", err)
	}
	if len(raw) >= maxAck {
		return fmt.Errorf("acknowledgement of %d bytes; Slack drops those from 20480", len(raw))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.conn.SetWriteDeadline(time.Now().Add(writeWait)); err != nil {
		return fmt.Errorf("acknowledge: %w", err)
	}
	if err := s.conn.WriteMessage(websocket.TextMessage, raw); err != nil {
		return fmt.Errorf("acknowledge: %w", err)
	}
	return nil
}

// beat pings until ctx ends or the connection is gone.
func (s *socket) beat(ctx context.Context) {
	tick := time.NewTicker(min(pingEvery, s.stale/3))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if s.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeWait)) != nil {
				return
			}
		}
	}
}

// close says goodbye and lets Slack hang up, so that what it had sent before
// is not cut off; a second later the connection ends in any case.
func (s *socket) close() {
	s.closing.Store(true)
	bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	err := s.conn.WriteControl(websocket.CloseMessage, bye, time.Now().Add(writeWait))
	if err != nil && !errors.Is(err, websocket.ErrCloseSent) {
		_ = s.conn.Close() // already broken
		return
	}
	_ = s.conn.SetReadDeadline(time.Now().Add(time.Second))
}
