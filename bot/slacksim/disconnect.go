package slacksim

import (
	"slices"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

// Disconnect says how Slack ends or spoils the app's sockets.
type Disconnect string

// The ways of ending sockets.
const (
	DisconnectWarning Disconnect = "warning"           // a warning, refresh_requested ten seconds later
	DisconnectRefresh Disconnect = "refresh_requested" // at once, then closed
	DisconnectLinkOff Disconnect = "link_disabled"     // Socket Mode switched off, until LinkOn
	DisconnectReset   Disconnect = "reset"             // the network is gone
	DisconnectClose   Disconnect = "close"             // a normal close, no frame before it
	DisconnectSilent  Disconnect = "silent"            // open, but nothing comes any more
	DisconnectMute    Disconnect = "mute"              // pings come, envelopes do not
	DisconnectNormal  Disconnect = "close_1000"        // closed as if all was said
	DisconnectBroken  Disconnect = "close_1011"        // an internal error of the server
	DisconnectCut     Disconnect = "truncated_frame"   // a frame that ends halfway, and the network with it
	DisconnectNoPings Disconnect = "no_pings"          // envelopes come, pings do not
	// The socket stays after these.
	DisconnectGarbage Disconnect = "garbage"       // a frame that is not JSON
	DisconnectEmpty   Disconnect = "empty_frame"   // a frame with nothing in it
	DisconnectBinary  Disconnect = "binary_frame"  // a hello, but as binary
	DisconnectUnknown Disconnect = "unknown_frame" // a type that no client knows
	DisconnectHuge    Disconnect = "huge_frame"    // the same, with eight megabytes
)

// Disconnect does this to every open socket and tells to how many.
func (s *Sim) Disconnect(how Disconnect) int {
	s.mu.Lock()
	sockets := slices.Clone(s.sockets)
	s.linkOff = s.linkOff || how == DisconnectLinkOff
	for _, c := range sockets {
		c.silent = c.silent || how == DisconnectSilent
		c.mute = c.mute || how == DisconnectMute
		c.unpinged = c.unpinged || how == DisconnectNoPings
	}
	s.bump()
	s.mu.Unlock()
	for _, c := range sockets {
		s.disconnect(c, how)
	}
	return len(sockets)
}

// LinkOn switches Socket Mode on again.
func (s *Sim) LinkOn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.linkOff = false
	s.bump()
}

// Storm ends the next n sockets as soon as they are greeted, as Slack does
// when it moves an app from host to host.
func (s *Sim) Storm(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.storm = n
	s.bump()
}

// stormed tells whether a socket that was just greeted ends at once.
func (s *Sim) stormed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.storm == 0 {
		return false
	}
	s.storm--
	return true
}

func (s *Sim) disconnect(c *socket, how Disconnect) {
	switch how {
	case DisconnectWarning:
		_ = c.send(obj{"type": "disconnect", "reason": "warning", "debug_info": obj{"host": c.host()}})
		s.clock.AfterFunc(10*time.Second, func() { s.disconnect(c, DisconnectRefresh) })
		return
	case DisconnectGarbage, DisconnectEmpty, DisconnectBinary, DisconnectUnknown, DisconnectHuge:
		_ = c.sendRaw(oddFrame(how))
		return
	case DisconnectSilent, DisconnectMute, DisconnectNoPings:
		return
	}
	s.retire(c)
	switch how {
	case DisconnectRefresh, DisconnectLinkOff:
		_ = c.send(obj{"type": "disconnect", "reason": string(how), "debug_info": obj{"host": c.host()}})
		c.close(websocket.CloseNormalClosure, "")
	case DisconnectReset:
		c.reset()
	case DisconnectCut:
		// The header of a text frame of 100 bytes, and four of them.
		_, _ = c.conn.NetConn().Write([]byte{0x81, 100, '{', '"', 't', 'y'})
		c.reset()
	case DisconnectClose:
		c.close(websocket.CloseGoingAway, "going away")
	case DisconnectNormal:
		c.close(websocket.CloseNormalClosure, "")
	case DisconnectBroken:
		c.close(websocket.CloseInternalServerErr, "internal error")
	}
}

// oddFrame is a frame that a client must survive.
func oddFrame(how Disconnect) (kind int, raw []byte) {
	switch how {
	case DisconnectEmpty:
		return websocket.TextMessage, nil
	case DisconnectBinary:
		return websocket.BinaryMessage, encode(obj{"type": "hello"})
	case DisconnectUnknown:
		return websocket.TextMessage, encode(obj{"type": "weather", "reason": "rain"})
	case DisconnectHuge:
		return websocket.TextMessage, encode(obj{"type": "weather", "reason": strings.Repeat("x", 8<<20)})
	}
	return websocket.TextMessage, []byte("this is not JSON")
}

// retire keeps envelopes from a socket that is about to end.
func (s *Sim) retire(c *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.ready = false
	s.doom(c)
}

// AppDies says that the app's process is about to be killed: what it has not
// acknowledged by then is lost, and is no finding; nor is it one when its
// successor does not know how long it was told to wait.
func (s *Sim) AppDies() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.limits {
		b.refused = time.Time{}
	}
	for _, c := range s.sockets {
		s.doom(c)
	}
}

// doom excuses what is under way on a socket: it ends before the app had its
// three seconds. The lock is held.
func (s *Sim) doom(c *socket) {
	c.doomed = true
	for _, d := range s.pending {
		if d.socket == c {
			d.spoiled = true
		}
	}
}
