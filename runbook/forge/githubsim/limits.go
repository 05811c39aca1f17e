package githubsim

import (
	"net/http"
	"strconv"
	"time"
)

// limit is the hourly allowance of REST requests. It is the host's, not each
// user's: one client's use is what tests look at.
const limit = 5000

// SetLimited makes every REST request fail with an exhausted rate limit until
// a time.
func (s *Sim) SetLimited(until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limited = until
}

// SetBusy makes every REST request fail with a secondary rate limit until a
// time: what GitHub answers to who asks too much at once.
func (s *Sim) SetBusy(until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = until
}

// Spent is how many REST requests have cost rate limit.
func (s *Sim) Spent() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spent
}

// quota is what is left of this hour, and when it ends.
func (s *Sim) quota() (left int, reset time.Time) {
	hour := s.now().Truncate(time.Hour)
	if !hour.Equal(s.hour) {
		s.hour, s.spentBefore = hour, s.spent
	}
	if s.now().Before(s.limited) {
		return 0, s.limited
	}
	return max(limit-(s.spent-s.spentBefore), 0), hour.Add(time.Hour)
}

// overLimit writes the rate limit's headers, and tells what is wrong if a
// request may not pass.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
func (s *Sim) overLimit(h http.Header, login string) *failure {
	left, reset := s.quota()
	h.Set("X-RateLimit-Limit", strconv.Itoa(limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(left))
	h.Set("X-RateLimit-Used", strconv.Itoa(limit-left))
	// Whole seconds, rounded up: never too early.
	h.Set("X-RateLimit-Reset", strconv.FormatInt(reset.Add(time.Second-1).Unix(), 10))
	h.Set("X-RateLimit-Resource", "core")
	const about = "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"
	if wait := s.busy.Sub(s.now()); wait > 0 {
		h.Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
		return &failure{status: http.StatusForbidden, doc: about + "#about-secondary-rate-limits",
			message: "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}
	}
	if left == 0 {
		return &failure{status: http.StatusForbidden, doc: about, message: "API rate limit exceeded for user " + login + "."}
	}
	return nil
}

func (s *Sim) getRateLimit(*asked) (int, any, error) {
	left, reset := s.quota()
	core := map[string]any{"limit": limit, "used": limit - left, "remaining": left, "reset": reset.Unix()}
	return http.StatusOK, map[string]any{"resources": map[string]any{"core": core}, "rate": core}, nil
}
