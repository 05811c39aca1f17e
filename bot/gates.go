package bot

import (
	"sync"
	"time"
)

// gates keep a method from being called while Slack wants it left alone. The
// limits are per method and workspace, so a pause holds for every channel. It
// is safe for concurrent use.
type gates struct {
	now   func() time.Time
	pause backoff // while Slack does not answer
	// editsEvery is the pace of edits in the workspace.
	editsEvery time.Duration

	mu    sync.Mutex // guards what follows
	edits bucket
	gate  map[string]*gate
}

type gate struct {
	until time.Time
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
	have.until = g.now().Add(d)
}

func (g *gates) opened(method string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.gate, method)
}
