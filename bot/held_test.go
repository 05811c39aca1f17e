package bot

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"reconcilebot/runbook/stopwatch"
	"reconcilebot/state"
)

func TestWaitForATurnIsMeasured(t *testing.T) {
	start := time.Unix(1e9, 0)
	at := func(d time.Duration) time.Time { return start.Add(d) }
	l := newLane("C", start, time.Second, backoff{Least: time.Second, Most: time.Minute})
	edit := todo{r: state.Reconciliation{ID: "r", Rev: 4}, shown: state.Message{TS: "1"}}
	newer := edit
	newer.r.Rev = 5

	if got := l.release(edit, start); got != 0 {
		t.Errorf("what was due at once waited %s", got)
	}
	l.hold(edit, start)
	l.hold(edit, at(time.Second))
	if got := l.release(edit, at(3*time.Second)); got != 3*time.Second {
		t.Errorf("waited %s, want 3s", got)
	}
	if got := l.release(edit, at(9*time.Second)); got != 0 {
		t.Errorf("waited %s twice", got)
	}
	l.hold(edit, start)
	l.hold(newer, at(time.Second))
	if got := l.release(newer, at(3*time.Second)); got != 2*time.Second {
		t.Errorf("the newer revision waited %s, want 2s", got)
	}
	l.hold(edit, start)
	if got := l.release(newer, at(time.Second)); got != 0 {
		t.Errorf("the wait of another revision counted: %s", got)
	}
}

// TestOwnTimeLeavesOutTheWaitForATurn: Slack's pace is not the bot's own time.
func TestOwnTimeLeavesOutTheWaitForATurn(t *testing.T) {
	var log bytes.Buffer
	o := &outbox{log: slog.New(slog.NewJSONHandler(&log, nil))}
	now := time.Now()
	q := &question{at: now.Add(-3 * time.Second), d: state.Delivery{Received: now.Add(-3 * time.Second)}, waits: &stopwatch.Watch{}}
	r := state.Reconciliation{ID: "r", Opened: now.Add(-3 * time.Second), Steps: map[state.StepID]state.Step{
		"survey": {Started: now.Add(-3 * time.Second), Finished: now.Add(-2 * time.Second), Outside: 800 * time.Millisecond},
	}}
	o.timed("card edited", todo{r: r, held: time.Second}, q)
	var line struct{ Total, Own, Waiting float64 }
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatalf("%v: %s", err, log.String())
	}
	if line.Waiting != 1800 || line.Total-line.Own < 1799.9 || line.Total-line.Own > 1800.1 {
		t.Errorf("of %.1f ms, %.1f are the bot's own and %.1f waiting, want 1800 waiting", line.Total, line.Own, line.Waiting)
	}
}
