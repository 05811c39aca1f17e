package slacksim

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Rule makes something go wrong. Empty fields match everything; a rule without
// any of Method, Envelope and Route matches every method.
type Rule struct {
	Method   string `json:"method,omitempty"`   // of the Web API
	Envelope string `json:"envelope,omitempty"` // slash_commands, interactive, events_api
	Route    string `json:"route,omitempty"`    // hooks, link
	Channel  string `json:"channel,omitempty"`
	User     string `json:"user,omitempty"`

	Nth         int       `json:"nth,omitempty"`   // only the nth match
	Every       int       `json:"every,omitempty"` // every so many
	Times       int       `json:"times,omitempty"` // at most so often
	Probability float64   `json:"probability,omitempty"`
	Until       time.Time `json:"until,omitzero"`

	Delay      time.Duration `json:"delay,omitempty"`
	Error      string        `json:"error,omitempty"`       // ok:false with this code
	Status     int           `json:"status,omitempty"`      // HTTP status
	RetryAfter int           `json:"retry_after,omitempty"` // seconds
	Body       string        `json:"body,omitempty"`        // in place of the answer
	Reset      bool          `json:"reset,omitempty"`       // end the connection before anything happened
	DropAnswer bool          `json:"drop_answer,omitempty"` // do it, then end the connection
	Swallow    bool          `json:"swallow,omitempty"`     // an envelope is never sent
	Twice      bool          `json:"twice,omitempty"`       // an envelope's contents are sent again under another id

	seen, fired int
}

// trait is what a request or envelope is matched by.
type trait struct{ Method, Envelope, Route, Channel, User string }

// Fault adds a rule; the first that matches acts.
func (s *Sim) Fault(r Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &r)
	s.bump()
}

// ClearFaults removes every rule.
func (s *Sim) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
	s.bump()
}

// Faults are the rules in force.
func (s *Sim) Faults() []Rule {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []Rule{}
	for _, r := range s.faults {
		out = append(out, *r)
	}
	return out
}

func (s *Sim) faultFor(t trait) *Rule {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.faults {
		if r.matches(t) && s.due(r) {
			r.fired++
			copied := *r
			return &copied
		}
	}
	return nil
}

func (r *Rule) matches(t trait) bool {
	anything := r.Method == "" && r.Envelope == "" && r.Route == ""
	target := anything && t.Method != "" || r.Method != "" && r.Method == t.Method ||
		r.Envelope != "" && r.Envelope == t.Envelope || r.Route != "" && r.Route == t.Route
	return target && (r.Channel == "" || r.Channel == t.Channel) && (r.User == "" || r.User == t.User)
}

func (s *Sim) due(r *Rule) bool {
	r.seen++
	switch {
	case r.Times > 0 && r.fired >= r.Times,
		r.Nth > 0 && r.seen != r.Nth,
		r.Every > 0 && r.seen%r.Every != 0,
		!r.Until.IsZero() && s.clock.Now().After(r.Until),
		r.Probability > 0 && s.rng.Float64() >= r.Probability:
		return false
	}
	return true
}

// before acts ahead of the request and tells whether it is thereby answered.
func (r *Rule) before(w http.ResponseWriter, req *http.Request) bool {
	if r == nil {
		return false
	}
	pause(req.Context().Done(), r.Delay)
	switch {
	case r.Reset:
		hangUp(w)
		return true
	case r.Status != 0:
		if r.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(r.RetryAfter))
		}
		http.Error(w, r.Body, r.Status)
		return true
	case r.Body != "":
		_, _ = fmt.Fprint(w, r.Body)
		return true
	case r.Error != "":
		writeJSON(w, http.StatusOK, obj{"ok": false, "error": r.Error})
		return true
	}
	return false
}

// after acts when the request has been carried out.
func (r *Rule) after(w http.ResponseWriter) bool {
	if r == nil || !r.DropAnswer {
		return false
	}
	hangUp(w)
	return true
}

// swallows tells whether an envelope is lost on its way.
func (r *Rule) swallows() bool { return r != nil && r.Swallow }

// delays tells whether an envelope comes late.
func (r *Rule) delays() bool { return r != nil && r.Delay > 0 }

// doubles tells whether an envelope's contents come twice.
func (r *Rule) doubles() bool { return r != nil && r.Twice }

// wait keeps an envelope back for as long as the rule says.
func (r *Rule) wait(s *Sim) {
	if r.delays() {
		pause(s.quit, r.Delay)
	}
}

func pause(done <-chan struct{}, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-done:
	}
}

func hangUp(w http.ResponseWriter) {
	if h, ok := w.(http.Hijacker); ok {
		if conn, _, err := h.Hijack(); err == nil {
			_ = conn.Close()
		}
	}
}

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
	DisconnectGarbage Disconnect = "garbage"           // a frame that is not JSON; the socket stays
)

// Disconnect does this to every open socket and tells to how many.
func (s *Sim) Disconnect(how Disconnect) int {
	s.mu.Lock()
	sockets := slices.Clone(s.sockets)
	s.linkOff = s.linkOff || how == DisconnectLinkOff
	for _, c := range sockets {
		c.silent = c.silent || how == DisconnectSilent
		c.mute = c.mute || how == DisconnectMute
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

func (s *Sim) disconnect(c *socket, how Disconnect) {
	switch how {
	case DisconnectWarning:
		_ = c.send(obj{"type": "disconnect", "reason": "warning", "debug_info": obj{"host": "applink-1"}})
		s.clock.AfterFunc(10*time.Second, func() { s.disconnect(c, DisconnectRefresh) })
	case DisconnectRefresh, DisconnectLinkOff:
		s.retire(c)
		_ = c.send(obj{"type": "disconnect", "reason": string(how), "debug_info": obj{"host": "applink-1"}})
		c.close(1000, "")
	case DisconnectReset:
		s.retire(c)
		c.reset()
	case DisconnectClose:
		s.retire(c)
		c.close(1001, "going away")
	case DisconnectGarbage:
		_ = c.sendRaw(1, []byte("this is not JSON"))
	}
}

// retire keeps envelopes from a socket that is about to end.
func (s *Sim) retire(c *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.ready = false
	s.doom(c)
}

// AppDies says that the app's process is about to be killed: what it has not
// acknowledged by then is lost, and is no finding.
func (s *Sim) AppDies() {
	s.mu.Lock()
	defer s.mu.Unlock()
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
