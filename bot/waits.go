package bot

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// waits sums up the time in which at least one call to another system was
// under way, so that the bot's own share of a delay can be told.
type waits struct {
	mu    sync.Mutex // guards what follows
	calls int
	since time.Time
	sum   time.Duration
}

type waitsKey struct{}

func withWaits(ctx context.Context, w *waits) context.Context {
	return context.WithValue(ctx, waitsKey{}, w)
}

func (w *waits) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calls++; w.calls == 1 {
		w.since = time.Now()
	}
}

func (w *waits) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calls--; w.calls == 0 {
		w.sum += time.Since(w.since)
	}
}

func (w *waits) total() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sum
}

// waiting notes that another system is waited for until the result is called.
func waiting(ctx context.Context) (done func()) {
	if w, ok := ctx.Value(waitsKey{}).(*waits); ok {
		w.begin()
		return w.end
	}
	return func() {}
}

// Waits makes a transport whose calls do not count as the bot's own time in
// the log lines about how long a card took. Other systems' clients may be
// given one too.
func Waits(next http.RoundTripper) http.RoundTripper { return waitingTransport{next} }

type waitingTransport struct{ next http.RoundTripper }

func (t waitingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	done := waiting(r.Context())
	defer done()
	return t.next.RoundTrip(r)
}
