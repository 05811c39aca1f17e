package bot

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"reconcilebot/state"
)

// TestAnEventThatComesAgainLongAfter: it is known by what it is, over restarts,
// long after Slack's own retries have ended.
// https://github.com/mangowhoiscloud/geode/pull/3006
func TestAnEventThatComesAgainLongAfter(t *testing.T) {
	now := time.Unix(1e9, 0)
	path := filepath.Join(t.TempDir(), "state.db")
	event := `{"api_app_id":"A","team_id":"T","event_id":"Ev1","event":{"type":"app_mention","user":"U1","channel":"C1","ts":"7.1","text":"<@U0> revert web because over"}}`
	a, _, _, err := readEvent([]byte(event), identity{User: "U0"})
	if err != nil {
		t.Fatal(err)
	}
	for i, at := range []time.Duration{0, time.Minute, 6 * time.Minute, 40 * time.Minute} {
		now = time.Unix(1e9, 0).Add(at)
		db, err := state.Open(path, func() time.Time { return now })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ForgetDeliveries(now.Add(-24 * time.Hour)); err != nil {
			t.Fatal(err)
		}
		d, fresh, err := db.Receive(state.Delivery{ID: a.id(), Mint: "m"})
		if err != nil || fresh != (i == 0) {
			t.Errorf("after %s it is fresh: %t, %v", at, fresh, err)
		}
		if err := db.Handled(d.ID); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAStormIsWaitedOut: too many connections, five times in a row, each after
// a hello, is waited for longer and longer; a planned renewal is not.
func TestAStormIsWaitedOut(t *testing.T) {
	l := newLinks(Config{Hurry: 1, Log: slog.New(slog.DiscardHandler)}, nil, newHealth(), newMeters())
	pause, setup := l.pause, l.setup
	var least, most []time.Duration
	for range 5 {
		// What keep does after a connection that lived for a second.
		one := setup
		lo, hi := time.Duration(1<<62), time.Duration(0)
		for range 200 {
			again, p := one, pause
			d := l.after(0, "too_many_websockets", nil, time.Second, &p, &again)
			lo, hi = min(lo, d), max(hi, d)
			setup = again
		}
		if lo == hi {
			t.Errorf("the wait is always %s: all who wait come back at once", lo)
		}
		least, most = append(least, lo), append(most, hi)
	}
	if least[1] <= most[0] || least[4] < least[1] || most[4] > 4*setupPause {
		t.Errorf("the waits are from %v to %v", least, most)
	}
	if d := l.after(0, "refresh_requested", nil, l.settled+time.Second, &pause, &setup); d != 0 {
		t.Errorf("a planned renewal waits %s", d)
	}
}
