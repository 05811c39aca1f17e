package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"reconcilebot/state"
)

// A running bot holds its state file, so a copy of it is had from the bot
// itself: over a socket beside the file, which only the bot's own user can
// open. It gives a copy and takes nothing.

// socketOf is where the socket of a state file is.
func socketOf(statePath string) string { return statePath + ".sock" }

// serveCopies gives copies of the state until ctx ends. Where there can be no
// socket, such as on a path that is too long for one, backups are had while
// the bot does not run, and that is said in the log.
func serveCopies(ctx context.Context, statePath string, db *state.DB, log *slog.Logger) error {
	path := socketOf(statePath)
	// What a killed process left behind; the state file's lock says that nobody
	// else is there.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		log.Warn("there are no backups while the bot runs", "err", err)
		return nil
	}
	l, err := net.Listen("unix", path)
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		log.Warn("there are no backups while the bot runs", "err", err)
		return nil
	}
	server := &http.Server{Handler: copies(db, log), ReadHeaderTimeout: 10 * time.Second}
	go func() { // ends with ctx, and serve with it
		<-ctx.Done()
		_ = server.Close() // a backup under way is cut off, and its taker notices
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("give copies of the state: %w", err)
	}
	return nil
}

func copies(db *state.DB, log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /state", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		if err := db.Backup(w); err != nil {
			log.Error("a backup was not finished", "err", err)
			// Half a file must not look like a whole one.
			panic(http.ErrAbortHandler)
		}
	})
	return mux
}

// errNotRunning means that no bot answers beside a state file.
var errNotRunning = errors.New("no bot runs on this state file")

// fromRunning copies the state of the bot that runs on a file.
func fromRunning(ctx context.Context, statePath string, to io.Writer) error {
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socketOf(statePath))
	}}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://reconcilebot/state", nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("%w (%v)", errNotRunning, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the bot answers %s", resp.Status)
	}
	if _, err := io.Copy(to, resp.Body); err != nil {
		return fmt.Errorf("copy the state: %w", err)
	}
	return nil
}
