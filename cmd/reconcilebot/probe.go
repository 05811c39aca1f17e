package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"time"
)

// probes answers /livez, /readyz and /metrics. ready tells whether the bot
// can be spoken to and, if not, why; metrics writes numbers in Prometheus'
// text format.
func probes(ready func() (ok bool, why string), metrics func(io.Writer) error) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "alive") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if ok, why := ready(); !ok {
			answer(w, http.StatusServiceUnavailable, why)
			return
		}
		answer(w, http.StatusOK, "ready")
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		// The whole text first: half an answer would look like a fall to zero.
		var text bytes.Buffer
		if err := errors.Join(process(&text), metrics(&text)); err != nil {
			answer(w, http.StatusInternalServerError, "the numbers could not be read")
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = text.WriteTo(w) // a prober that is gone has no ear
	})
	return mux
}

// process writes the process's own numbers.
func process(w io.Writer) error {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	_, err := fmt.Fprintf(w, "# TYPE reconcilebot_goroutines gauge\nreconcilebot_goroutines %d\n"+
		"# TYPE reconcilebot_heap_bytes gauge\nreconcilebot_heap_bytes %d\n", runtime.NumGoroutine(), m.HeapAlloc)
	return err
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, text) // a prober that is gone has no ear
}

// listener serves HTTP on an address until its context ends.
type listener struct {
	what    string
	server  *http.Server
	socket  net.Listener
	tlsCert string
	tlsKey  string
}

// listen opens the address at once, so that a taken one is an error at start.
func listen(what, address string, handler http.Handler, log *slog.Logger) (*listener, error) {
	socket, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for %s: %w; is another process on that address?", what, err)
	}
	return &listener{what: what, socket: socket, server: &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}}, nil
}

// serve blocks until ctx ends, then lets the requests under way finish.
func (l *listener) serve(ctx context.Context) error {
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		stopped <- l.server.Shutdown(end)
	})
	defer stop()
	var err error
	if l.tlsCert != "" {
		err = l.server.ServeTLS(l.socket, l.tlsCert, l.tlsKey)
	} else {
		err = l.server.Serve(l.socket)
	}
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", l.what, err)
	}
	if err := <-stopped; err != nil {
		return fmt.Errorf("stop serving %s: %w", l.what, err)
	}
	return nil
}
