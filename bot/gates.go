package bot

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"reconcilebot/state"
)

// gates keep a method from being called while Slack wants it left alone. The
// limits are per method and workspace, so a pause holds for every channel. It
// is safe for concurrent use.
type gates struct {
	now   func() time.Time
	pause backoff // while Slack does not answer
	// editsEvery is the pace of edits in the workspace.
	editsEvery time.Duration
	// keep writes down how long Slack wants a method left alone, so that a
	// restart keeps to it; nil where nothing outlives the process.
	keep func(method string, until time.Time)

	mu    sync.Mutex // guards what follows
	edits bucket
	gate  map[string]*gate
}

type gate struct {
	until time.Time
	// at is when it was closed.
	at    time.Time
	pause backoff
}

func newGates(now func() time.Time, hurry int) *gates {
	return &gates{
		now: now, pause: backoff{Least: time.Second, Most: time.Minute}, gate: map[string]*gate{},
		editsEvery: editsEvery / time.Duration(hurry), edits: bucket{editsAtStart, now()},
	}
}

// Slack takes 50 edits a minute over the whole workspace (Tier 3,
// https://docs.slack.dev/apis/web-api/rate-limits). The last of them are kept
// for cards that people wait for; progress can be shown a little later.
const (
	editsEvery   = time.Minute / 50
	editsAtOnce  = 40.0
	editsAtStart = 20.0
	editsKept    = 10.0
)

// edit says how long an edit has to wait for its turn in the workspace.
func (g *gates) edit(urgent bool) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	least := 1 + editsKept
	if urgent {
		least = 1
	}
	return g.edits.wait(g.now(), editsAtOnce, g.editsEvery, least)
}

// edited counts an edit.
func (g *gates) edited() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.edits.wait(g.now(), editsAtOnce, g.editsEvery, 1)
	g.edits.level--
}

// closed says for how long a method must be left alone.
func (g *gates) closed(method string) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if have := g.gate[method]; have != nil {
		return have.until.Sub(g.now())
	}
	return 0
}

// close closes a method's gate: for as long as Slack said, or longer and
// longer while it does not answer.
func (g *gates) close(method string, t trouble) {
	until := g.shut(method, t)
	if t.Code == "ratelimited" && g.keep != nil {
		g.keep(method, until)
	}
}

func (g *gates) shut(method string, t trouble) time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	have := g.gate[method]
	if have == nil {
		have = &gate{pause: g.pause}
		g.gate[method] = have
	}
	d := t.After
	if d == 0 {
		d = have.pause.next()
	}
	have.at = g.now()
	have.until = have.at.Add(d)
	return have.until
}

// outlive has what Slack wants left alone kept over a restart, and takes up
// what was kept.
func (g *gates) outlive(db *state.DB, log *slog.Logger) error {
	until, err := db.Limits()
	if err != nil {
		return fmt.Errorf("read what Slack wants left alone: %w", err)
	}
	for method, at := range until {
		g.gate[method] = &gate{until: at, pause: g.pause}
	}
	g.keep = func(method string, until time.Time) {
		if err := db.Limit(method, until); err != nil {
			log.Warn("how long Slack wants a method left alone was not stored", "method", method, "err", err)
		}
	}
	return nil
}

// opened opens a gate after a call that began at a time and went well. One
// that was on its way when the gate was closed says nothing.
func (g *gates) opened(method string, began time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if have := g.gate[method]; have != nil && began.After(have.at) {
		delete(g.gate, method)
	}
}
