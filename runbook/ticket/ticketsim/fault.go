package ticketsim

import (
	"net/http"
	"strconv"
)

// Fault is what goes wrong with a request.
type Fault struct {
	// Writes means that it meets only requests that write.
	Writes bool
	// Status is what is answered in the request's place; 0 lets it through.
	Status int
	// RetryAfter, in seconds, goes with Status.
	RetryAfter int
	// Drop breaks the connection after the work is done, so that nobody hears
	// of it.
	Drop bool
}

// Fail makes the next request that fits a fault meet it; several faults meet
// one request each.
func (s *Sim) Fail(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// Down takes the system away, or brings it back.
func (s *Sim) Down(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

// fault takes the fault that a request meets. The lock is held.
func (s *Sim) fault(writes bool) (f Fault, ok bool) {
	for i, f := range s.faults {
		if !f.Writes || writes {
			s.faults = append(s.faults[:i], s.faults[i+1:]...)
			return f, true
		}
	}
	return Fault{}, false
}

func (f Fault) headers(h http.Header) {
	if f.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}
}
