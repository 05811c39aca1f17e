package githubsim

import (
	"net/http"
	"sync"
)

// Hold keeps requests waiting, so that a test can end a client in the middle
// of one.
type Hold struct {
	match   func(*http.Request) bool
	arrived chan struct{}
	open    chan struct{}
	drop    bool
	seen    sync.Once
	done    sync.Once
}

// Hold makes every request that matches wait until it is let go.
func (s *Sim) Hold(match func(*http.Request) bool) *Hold {
	h := &Hold{match: match, arrived: make(chan struct{}), open: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holds = append(s.holds, h)
	return h
}

// Arrived is closed when the first request waits.
func (h *Hold) Arrived() <-chan struct{} { return h.arrived }

// Release lets the waiting requests and all later ones pass.
func (h *Hold) Release() { h.done.Do(func() { close(h.open) }) }

// Drop ends the waiting requests without having done anything, and lets later
// ones pass.
func (h *Hold) Drop() {
	h.done.Do(func() {
		h.drop = true
		close(h.open)
	})
}

// held waits if a request is to wait; it tells whether to go on with it.
func (s *Sim) held(req *http.Request) bool {
	s.mu.Lock()
	holds := append([]*Hold(nil), s.holds...)
	s.mu.Unlock()
	for _, h := range holds {
		if !h.match(req) {
			continue
		}
		select {
		case <-h.open:
			continue
		default:
		}
		h.seen.Do(func() { close(h.arrived) })
		select {
		case <-h.open:
			if h.drop {
				return false
			}
		case <-req.Context().Done():
			return false
		}
	}
	return true
}
