// Package stopwatch tells the time that the program works from the time in
// which it waits for another system.
//
// It must never change what it measures: a call without a watch in its
// context goes through untouched.
//
// Why it travels in the context: a call to another system is made many layers
// below the one that wants to know, and all of those pass the context on.
package stopwatch

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// Watch sums up the time in which at least one call to another system was
// under way. It is safe for concurrent use; its zero value is ready.
type Watch struct {
	mu    sync.Mutex // guards what follows
	calls int
	since time.Time
	sum   time.Duration
}

type key struct{}

// With puts a watch into a context.
func With(ctx context.Context, w *Watch) context.Context { return context.WithValue(ctx, key{}, w) }

// Outside notes that another system is waited for until the result is called.
func Outside(ctx context.Context) (back func()) {
	if w, ok := ctx.Value(key{}).(*Watch); ok {
		w.begin()
		return w.end
	}
	return func() {}
}

func (w *Watch) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calls++; w.calls == 1 {
		w.since = time.Now()
	}
}

func (w *Watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calls--; w.calls == 0 {
		w.sum += time.Since(w.since)
	}
}

// Total is the sum so far.
func (w *Watch) Total() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sum
}

// Transport makes a transport whose calls are waits.
func Transport(next http.RoundTripper) http.RoundTripper { return transport{next} }

type transport struct{ next http.RoundTripper }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	back := Outside(r.Context())
	defer back()
	return t.next.RoundTrip(r)
}
