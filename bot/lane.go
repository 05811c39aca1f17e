package bot

import (
	"time"

	"reconcilebot/state"
)

const (
	// slackPace: Slack takes one message per second and channel, with short
	// bursts, https://docs.slack.dev/apis/web-api/rate-limits. One card is
	// edited no faster.
	slackPace = time.Second
	postBurst = 2.0
	// editBurst keeps what follows a card's first appearance from waiting.
	editBurst = 3.0
)

// bucket allows so many at once and one more every so often.
type bucket struct {
	level float64
	at    time.Time
}

// wait says how long it takes until there are as many as needed.
func (b *bucket) wait(now time.Time, size float64, every time.Duration, needed float64) time.Duration {
	b.level = min(size, b.level+float64(now.Sub(b.at))/float64(every))
	b.at = now
	if b.level >= needed {
		return 0
	}
	return time.Duration((needed - b.level) * float64(every))
}

// lane is one channel's way out: one thing at a time, at Slack's pace. The
// outbox's lock guards it.
type lane struct {
	room  state.Room
	every time.Duration
	busy  bool
	// posts starts at one, since a process before this one may have used up
	// the rest.
	posts bucket
	// flying is how many posts are on their way.
	flying int
	// shut is until when the channel is left alone because it can't be posted
	// to.
	shut  time.Time
	pause backoff
	told  map[string]bool
	retry backoff
	// edits paces each card, tried holds what failed.
	edits map[state.ReconciliationID]*bucket
	tried map[state.MessageKey]*retry
	// held is since when something waits for its turn.
	held map[state.MessageKey]held
	// stale is since when a card shows less than is known.
	stale map[state.ReconciliationID]time.Time
}

// maxStale is how long progress makes room for what people wait for. Then it
// is as urgent: else a busy hour would hide it for good.
const maxStale = 10 * time.Second

type held struct {
	rev   uint64
	since time.Time
}

// retry is something that failed: until when it is put off, and for how long
// the next time.
type retry struct {
	until time.Time
	pause backoff
}

func newLane(room state.Room, now time.Time, every time.Duration, again backoff) *lane {
	return &lane{
		room: room, every: every, retry: again, posts: bucket{1, now}, pause: backoff{Least: 30 * time.Second, Most: 10 * time.Minute},
		told: map[string]bool{}, edits: map[state.ReconciliationID]*bucket{}, tried: map[state.MessageKey]*retry{},
		held: map[state.MessageKey]held{}, stale: map[state.ReconciliationID]time.Time{},
	}
}

// hold notes that something is not due yet. A new revision waits anew: while
// the one before waited, the engine was at work.
func (l *lane) hold(t todo, now time.Time) {
	if h, ok := l.held[t.key()]; !ok || h.rev != t.r.Rev {
		l.held[t.key()] = held{t.r.Rev, now}
	}
}

// release says how long something had to wait for its turn.
func (l *lane) release(t todo, now time.Time) time.Duration {
	h, ok := l.held[t.key()]
	delete(l.held, t.key())
	if !ok || h.rev != t.r.Rev {
		return 0
	}
	return now.Sub(h.since)
}

// pick chooses what to say next, or says when there is something: new cards
// first, then edits, then notices.
func (l *lane) pick(list []todo, now time.Time, g *gates) (best todo, at time.Time) {
	for _, t := range list {
		due := l.due(t, now, g)
		if due.Before(now) {
			due = now
		}
		if at.IsZero() || due.Before(at) || due.Equal(at) && t.rank() < best.rank() {
			best, at = t, due
		}
	}
	return best, at
}

func (t todo) rank() int {
	switch {
	case t.notice != nil:
		return 2
	case t.shown.TS != "":
		return 1
	}
	return 0
}

// urgent tells whether somebody has to do something before it goes on, or
// waits for the end.
func (t todo) urgent() bool {
	return !t.r.Decided() || t.r.IsClosed() || t.r.Failure != nil || t.r.Wait != nil && t.r.Wait.For != "poll"
}

// due is when something may be said.
func (l *lane) due(t todo, now time.Time, g *gates) time.Time {
	at := l.shut
	later := func(t time.Time) {
		if t.After(at) {
			at = t
		}
	}
	if r := l.tried[t.key()]; r != nil {
		later(r.until)
	}
	if t.rank() == 1 {
		if b := l.edits[t.r.ID]; b != nil {
			later(now.Add(b.wait(now, editBurst, l.every, 1)))
		}
		later(now.Add(g.closed("chat.update")))
		later(l.turnToEdit(t, now, g))
		return at
	}
	later(now.Add(l.turn(now)))
	later(now.Add(g.closed("chat.postMessage")))
	return at
}

// turnToEdit is when an edit has its turn in the workspace.
func (l *lane) turnToEdit(t todo, now time.Time, g *gates) time.Time {
	since, known := l.stale[t.r.ID]
	if !known {
		since = now
		l.stale[t.r.ID] = now
	}
	at := now.Add(g.edit(true))
	if t.urgent() {
		return at
	}
	if old := since.Add(maxStale); old.After(at) {
		at = old
	}
	if spare := now.Add(g.edit(false)); spare.Before(at) {
		return spare
	}
	return at
}

// said notes that something was said.
func (l *lane) said(t todo, now time.Time) {
	delete(l.tried, t.key())
	if t.notice == nil {
		delete(l.stale, t.r.ID)
	}
	l.pause.reset()
	clear(l.told)
	l.spend(t, now)
	if t.notice == nil && t.r.IsClosed() {
		delete(l.edits, t.r.ID)
	}
}

// turn says how long it takes until a post may be sent. Slack may count those
// on their way any moment, the next one included, so what they used is not
// gained again before they have landed.
func (l *lane) turn(now time.Time) time.Duration {
	return l.posts.wait(now, postBurst-float64(l.flying), l.every, 1)
}

// begin counts a post before it is sent.
func (l *lane) begin(now time.Time) {
	l.turn(now)
	l.posts.level--
	l.flying++
}

// landed notes that a post came to its end, a good one or not.
func (l *lane) landed(now time.Time) {
	l.turn(now)
	l.flying--
}

// spend counts an edit that Slack saw, whether or not it liked it.
func (l *lane) spend(t todo, now time.Time) {
	if t.rank() != 1 {
		return
	}
	b := l.edits[t.r.ID]
	if b == nil {
		b = &bucket{editBurst, now}
		l.edits[t.r.ID] = b
	}
	b.wait(now, editBurst, l.every, 1)
	b.level--
}

// again puts something off.
func (l *lane) again(t todo, now time.Time, atLeast time.Duration) {
	r := l.tried[t.key()]
	if r == nil {
		r = &retry{pause: l.retry}
		l.tried[t.key()] = r
	}
	r.until = now.Add(max(atLeast, r.pause.next()))
}

// close leaves the channel alone for a while, and says whether the person is
// to be told of it.
func (l *lane) close(t todo, code string, now time.Time) (tell bool) {
	l.shut = now.Add(l.pause.next())
	key := string(t.r.ID) + " " + code
	tell = !l.told[key]
	l.told[key] = true
	return tell
}

func (l *lane) reopen() {
	l.shut = time.Time{}
	clear(l.told)
	l.pause.reset()
	for _, r := range l.tried {
		r.until = time.Time{}
	}
}
