package bot

import (
	"testing"
	"time"

	"reconcilebot/state"
)

// TestLaneChooses: what is said next in a channel, and when.
func TestLaneChooses(t *testing.T) {
	start := time.Unix(1e9, 0)
	at := func(d time.Duration) time.Time { return start.Add(d) }
	decided := state.Reconciliation{Decision: state.Decision{At: start}}
	fresh := todo{r: state.Reconciliation{ID: "new"}}
	edit := todo{r: state.Reconciliation{ID: "edit"}, shown: state.Message{TS: "1"}}
	progress := todo{r: decided, shown: state.Message{TS: "2"}}
	notice := todo{r: state.Reconciliation{ID: "n"}, shown: state.Message{TS: "3"}, notice: &state.Notice{ID: "1"}}
	cases := map[string]struct {
		list    []todo
		prepare func(*lane, *gates)
		want    todo
		after   time.Duration
	}{
		"a new card before all else":         {[]todo{notice, edit, fresh}, nil, fresh, 0},
		"an edit before a notice":            {[]todo{notice, edit}, nil, edit, 0},
		"an edit while posts have to wait":   {[]todo{fresh, edit}, func(l *lane, _ *gates) { l.posts.level = 0 }, edit, 0},
		"whatever is due first":              {[]todo{fresh}, func(l *lane, _ *gates) { l.posts.level = 0 }, fresh, time.Second},
		"nothing while Slack wants a pause":  {[]todo{fresh}, func(_ *lane, g *gates) { g.close("chat.postMessage", trouble{After: 7 * time.Second}) }, fresh, 7 * time.Second},
		"a pause of one method is not all":   {[]todo{fresh, edit}, func(_ *lane, g *gates) { g.close("chat.postMessage", trouble{After: 7 * time.Second}) }, edit, 0},
		"nothing where nothing can be said":  {[]todo{fresh, edit}, func(l *lane, _ *gates) { l.shut = at(time.Minute) }, fresh, time.Minute},
		"one card no faster than its pace":   {[]todo{edit}, func(l *lane, _ *gates) { l.edits["edit"] = &bucket{0, start} }, edit, time.Second},
		"what failed is put off":             {[]todo{edit, notice}, func(l *lane, _ *gates) { l.tried[edit.key()] = &retry{until: at(time.Hour)} }, notice, 0},
		"progress when there is enough":      {[]todo{progress}, nil, progress, 0},
		"progress when edits are short":      {[]todo{progress}, func(_ *lane, g *gates) { g.edits.level = 5 }, progress, 6 * editsEvery},
		"progress that was put off for long": {[]todo{progress}, func(l *lane, g *gates) { g.edits.level, l.stale[progress.r.ID] = 1, at(-maxStale) }, progress, 0},
		"progress that was put off a while":  {[]todo{progress}, func(l *lane, g *gates) { g.edits.level, l.stale[progress.r.ID] = 1, at(2*time.Second-maxStale) }, progress, 2 * time.Second},
		"what people wait for, all the same": {[]todo{progress, edit}, func(_ *lane, g *gates) { g.edits.level = 5 }, edit, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := newGates(func() time.Time { return start }, 1)
			l := newLane("C", start, time.Second, backoff{Least: time.Second, Most: time.Minute})
			if c.prepare != nil {
				c.prepare(l, g)
			}
			got, when := l.pick(c.list, start, g)
			if got.key() != c.want.key() || max(when.Sub(start), 0) != c.after {
				t.Errorf("%s after %s, want %s after %s", got.key(), when.Sub(start), c.want.key(), c.after)
			}
		})
	}
}

func TestLaneTellsOnce(t *testing.T) {
	now := time.Unix(1e9, 0)
	l := newLane("C", now, time.Second, backoff{Least: time.Second, Most: time.Minute})
	card := todo{r: state.Reconciliation{ID: "r"}}
	if !l.close(card, "not_in_channel", now) || l.close(card, "not_in_channel", now) {
		t.Error("want to be told the first time, and not the second")
	}
	if !l.close(card, "is_archived", now) {
		t.Error("another reason is news")
	}
	if d := l.shut.Sub(now); d < 30*time.Second {
		t.Errorf("tried again after %s", d)
	}
	l.reopen()
	if !l.shut.IsZero() || !l.close(card, "is_archived", now) {
		t.Error("after somebody did something there, it is tried and told again")
	}
}

// TestLanePaysBeforeItPosts: however late Slack counts what is on its way, it
// never counts more than a burst at once.
func TestLanePaysBeforeItPosts(t *testing.T) {
	now := time.Unix(1e9, 0)
	l := newLane("C", now, time.Second, backoff{Least: time.Second, Most: time.Minute})
	check := func(when string, want time.Duration) {
		t.Helper()
		if d := l.turn(now); d != want {
			t.Errorf("%s: %s until the next, want %s", when, d, want)
		}
	}
	l.begin(now)
	check("beside a post on its way", time.Second)
	now = now.Add(10 * time.Second)
	check("beside one that takes long", 0)
	l.begin(now)
	now = now.Add(10 * time.Second)
	check("beside two that take long", time.Second)
	l.landed(now)
	l.landed(now)
	check("in the moment in which both are counted", time.Second)
	now = now.Add(2 * time.Second)
	for range 2 {
		check("after a rest", 0)
		l.begin(now)
	}
	check("after a burst", time.Second)
}
