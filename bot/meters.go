package bot

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// meters count what the bot does. They are safe for concurrent use.
type meters struct {
	acks                                             latencies
	reconnects, opens, connections, foreign          atomic.Int64
	received, repeated, refused, unknown, ackFailed  atomic.Int64
	handled, panics, posted, edited, limited, missed atomic.Int64
	lastFrame                                        atomic.Int64 // nanoseconds of the epoch
}

func newMeters() *meters { return &meters{} }

func (m *meters) frame() { m.lastFrame.Store(time.Now().UnixNano()) }

// latencies keeps the last thousand durations.
type latencies struct {
	mu    sync.Mutex // guards what follows
	ring  []time.Duration
	next  int
	count int64
	most  time.Duration
}

const latencyRing = 1000

func (l *latencies) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	l.most = max(l.most, d)
	if len(l.ring) < latencyRing {
		l.ring = append(l.ring, d)
		return
	}
	l.ring[l.next] = d
	l.next = (l.next + 1) % latencyRing
}

func (l *latencies) read() Latency {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := Latency{Count: l.count, Max: l.most}
	if len(l.ring) == 0 {
		return out
	}
	sorted := slices.Clone(l.ring)
	slices.Sort(sorted)
	at := func(q int) time.Duration { return sorted[(len(sorted)-1)*q/100] }
	out.P50, out.P99 = at(50), at(99)
	return out
}

// Latency is how long something took: the quantiles over the last thousand,
// the maximum since the start.
type Latency struct {
	Count         int64
	P50, P99, Max time.Duration
}

// Metrics are numbers about the wire, since the start of the process.
type Metrics struct {
	// Ack is from the receipt of a frame to its acknowledgement's write.
	Ack Latency
	// LastFrame is when Slack last sent anything, pings included.
	LastFrame time.Time
	// Sockets are open and greeted now; Connections is how many Slack says
	// that this app has, and Foreign how many of them are not the bot's own:
	// both as of the last hello.
	Sockets, Connections, Foreign int64
	Opens, Reconnects             int64
	// Received counts acts that were stored; Repeated those that came again;
	// Refused those that could not be stored in time; Unknown those of a kind
	// that the bot does not know; AckFailed acknowledgements that were lost.
	Received, Repeated, Refused, Unknown, AckFailed int64
	// Queue is how many acts wait to be handled.
	Queue           int64
	Handled, Panics int64
	// Posted and Edited count messages; Limited how often Slack asked for a
	// pause; Missed what could not be said to anyone.
	Posted, Edited, Limited, Missed int64
}

// Metrics reads the numbers as they are now.
func (b *Bot) Metrics() Metrics {
	m := b.meters
	out := Metrics{
		Ack: m.acks.read(), Sockets: int64(b.health.sockets()), Connections: m.connections.Load(), Foreign: m.foreign.Load(),
		Opens: m.opens.Load(), Reconnects: m.reconnects.Load(),
		Received: m.received.Load(), Repeated: m.repeated.Load(), Refused: m.refused.Load(),
		Unknown: m.unknown.Load(), AckFailed: m.ackFailed.Load(),
		Queue: int64(b.pool.waiting()), Handled: m.handled.Load(), Panics: m.panics.Load(),
		Posted: m.posted.Load(), Edited: m.edited.Load(), Limited: m.limited.Load(), Missed: m.missed.Load(),
	}
	if ns := m.lastFrame.Load(); ns != 0 {
		out.LastFrame = time.Unix(0, ns)
	}
	return out
}

// Write writes the numbers in the Prometheus text format.
func (m Metrics) Write(w io.Writer) error {
	age := 0.0
	if !m.LastFrame.IsZero() {
		age = time.Since(m.LastFrame).Seconds()
	}
	rows := []struct {
		name, kind string
		value      float64
	}{
		{"slack_ack_seconds_p50", "gauge", m.Ack.P50.Seconds()},
		{"slack_ack_seconds_p99", "gauge", m.Ack.P99.Seconds()},
		{"slack_ack_seconds_max", "gauge", m.Ack.Max.Seconds()},
		{"slack_acks_total", "counter", float64(m.Ack.Count)},
		{"slack_ack_failures_total", "counter", float64(m.AckFailed)},
		{"slack_last_frame_age_seconds", "gauge", age},
		{"slack_sockets", "gauge", float64(m.Sockets)},
		{"slack_connections", "gauge", float64(m.Connections)},
		{"slack_foreign_connections", "gauge", float64(m.Foreign)},
		{"slack_opens_total", "counter", float64(m.Opens)},
		{"slack_reconnects_total", "counter", float64(m.Reconnects)},
		{"slack_received_total", "counter", float64(m.Received)},
		{"slack_repeated_total", "counter", float64(m.Repeated)},
		{"slack_refused_total", "counter", float64(m.Refused)},
		{"slack_unknown_total", "counter", float64(m.Unknown)},
		{"slack_queue_length", "gauge", float64(m.Queue)},
		{"slack_handled_total", "counter", float64(m.Handled)},
		{"slack_panics_total", "counter", float64(m.Panics)},
		{"slack_posted_total", "counter", float64(m.Posted)},
		{"slack_edited_total", "counter", float64(m.Edited)},
		{"slack_rate_limited_total", "counter", float64(m.Limited)},
		{"slack_missed_total", "counter", float64(m.Missed)},
	}
	for _, r := range rows {
		if _, err := fmt.Fprintf(w, "# TYPE reconcilebot_%s %s\nreconcilebot_%s %g\n", r.name, r.kind, r.name, r.value); err != nil {
			return fmt.Errorf("write metrics: %w", err)
		}
	}
	return nil
}
