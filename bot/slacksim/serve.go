package slacksim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Handler serves everything on one address: the Web API under /api/, sockets
// under /link/, response URLs under /hooks/, files, the control API under
// /_sim/, and the page.
func (s *Sim) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/api/", s.api)
	mux.HandleFunc("/link/", s.link)
	mux.HandleFunc("/hooks/", s.answerHook)
	mux.HandleFunc("POST /upload/v1/", s.receive)
	mux.HandleFunc("GET /files-pri/", s.serveFile)
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, "<!doctype html><title>Sign in</title><p>Sign in to see this file.")
	})
	s.control(mux)
	s.page(mux)
	return mux
}

// Serve answers on a loopback listener until ctx ends. Other addresses are
// refused: whoever reaches the page can act as anyone.
func (s *Sim) Serve(ctx context.Context, l net.Listener) error {
	if addr, ok := l.Addr().(*net.TCPAddr); !ok || !addr.IP.IsLoopback() {
		return fmt.Errorf("serve the local Slack on %s: only loopback addresses are allowed", l.Addr())
	}
	srv := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() {
		s.Close()
		_ = srv.Close()
	})
	defer stop()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the local Slack on %s: %w", l.Addr(), err)
	}
	return nil
}
