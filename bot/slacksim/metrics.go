package slacksim

import (
	"maps"
	"slices"
	"time"
)

// Metrics are counts since the start.
type Metrics struct {
	Connects    int             `json:"connects"` // sockets ever opened
	Envelopes   int             `json:"envelopes"`
	Acked       int             `json:"acked"`
	Unacked     int             `json:"unacked"`
	Lost        int             `json:"lost"` // not acknowledged, by no fault of the app
	RateLimited int             `json:"rate_limited"`
	Refused     map[string]int  `json:"refused,omitempty"` // of these, by method
	AckMedian   time.Duration   `json:"ack_median"`
	AckMax      time.Duration   `json:"ack_max"`
	latencies   []time.Duration // the last thousand
}

func (m *Metrics) ack(d time.Duration) {
	m.Acked++
	m.AckMax = max(m.AckMax, d)
	m.latencies = keep(m.latencies, d)
}

// Metrics tells how the app has done so far.
func (s *Sim) Metrics() Metrics {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.stats
	if sorted := slices.Sorted(slices.Values(m.latencies)); len(sorted) > 0 {
		m.AckMedian = sorted[len(sorted)/2]
	}
	m.latencies, m.Refused = nil, maps.Clone(m.Refused)
	return m
}

// Call is the record of one call of the app.
type Call struct {
	At      time.Time     `json:"at"`
	Method  string        `json:"method"`
	Args    args          `json:"args,omitempty"` // without the token
	Status  int           `json:"status"`
	Error   string        `json:"error,omitempty"`
	Took    time.Duration `json:"took"`
	Channel string        `json:"channel,omitempty"`
}

func (s *Sim) note(c *call, began time.Time, status int, code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	made := Call{
		At: began, Method: c.name, Args: c.args, Status: status, Error: code,
		Took: s.clock.Now().Sub(began), Channel: c.args["channel"],
	}
	s.calls = keep(s.calls, made)
	s.record(Line{Kind: "call", Call: &made})
	s.bump()
}

func (s *Sim) noteHook(status int, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	made := Call{At: s.clock.Now(), Method: "response_url", Status: status, Error: errorText(status, text)}
	s.calls = keep(s.calls, made)
	s.record(Line{Kind: "call", Call: &made})
	s.bump()
}

func errorText(status int, text string) string {
	if status == 200 {
		return ""
	}
	return text
}

// Calls are the app's last calls of the Web API and response URLs.
func (s *Sim) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Envelopes are the last deliveries to the app.
func (s *Sim) Envelopes() []Envelope {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Envelope, 0, len(s.traffic))
	for _, e := range s.traffic {
		out = append(out, *e)
	}
	return out
}

// Connection is an open socket of the app.
type Connection struct {
	ID        int       `json:"id"`
	Since     time.Time `json:"since"`
	Envelopes int       `json:"envelopes"`
	Spoiled   bool      `json:"spoiled,omitempty"` // silent or mute
}

// Connections are the app's open sockets.
func (s *Sim) Connections() []Connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []Connection{}
	for _, c := range s.sockets {
		if c.ready {
			out = append(out, Connection{c.id, c.since, c.count, c.silent || c.mute})
		}
	}
	return out
}
