package book

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"reconcilebot/runbook"
	"reconcilebot/runbook/argocd"
	"reconcilebot/state"
)

const waitsForArgo = "waiting for Argo CD, which can't be reached; this goes on by itself when it is back"

// TestALongOutageFillsNoLog looks again as often as an outage of two hours
// asks for, and counts the lines.
func TestALongOutageFillsNoLog(t *testing.T) {
	var log bytes.Buffer
	start := time.Date(2026, 3, 14, 14, 0, 0, 0, time.UTC)
	now := start
	s := &systems{Config: Config{Now: func() time.Time { return now }, Log: slog.New(slog.NewTextHandler(&log, nil))}}
	r := state.Reconciliation{ID: id}
	down := &argocd.Unavailable{What: "get Application", Err: errors.New("connection refused")}
	looks := 0
	for now.Sub(start) < 2*time.Hour {
		s.outcome(r, "survey", "look", down)
		looks++
		r.Wait = &state.Wait{Step: "survey", Since: start, For: runbook.ForOutage, Why: waitsForArgo}
		now = now.Add(runbook.Poll(start, now, time.Second, 30*time.Second))
	}
	lines := strings.Count(log.String(), "waiting for a system")
	// The beginning, and the doublings 1, 2, 4, 8, 16, 32 and 64 minutes.
	if lines != 8 {
		t.Errorf("%d looks made %d lines, want 8:\n%s", looks, lines, log.String())
	}

	log.Reset()
	s.outcome(r, "survey", "look", down)
	if log.Len() != 0 {
		t.Errorf("a further look was logged:\n%s", log.String())
	}
	s.outcome(r, "plan", "look", down)
	if !strings.Contains(log.String(), "step=plan") {
		t.Errorf("a new wait was not logged:\n%s", log.String())
	}
}
