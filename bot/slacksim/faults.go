package slacksim

import (
	"fmt"
	"net/http"
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
	Truncate   bool          `json:"truncate,omitempty"`    // do it, and send half of the answer
	Lose       bool          `json:"lose,omitempty"`        // answer ok, but the message or file never appears
	Warn       string        `json:"warn,omitempty"`        // a warning beside the answer

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

// truncates tells whether only half of the answer is sent.
func (r *Rule) truncates() bool { return r != nil && r.Truncate }

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
