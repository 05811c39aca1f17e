package bot

import (
	"time"

	"reconcilebot/state"
)

const (
	// postBurst and postEvery: Slack takes one message per second and channel,
	// with short bursts, https://docs.slack.dev/apis/web-api/rate-limits.
	postBurst = 2.0
	postEvery = time.Second
	// editEvery is how often one card is edited at most.
	editEvery = time.Second
)

// lane is one channel's way out: one thing at a time, at Slack's pace. The
// outbox's lock guards it.
type lane struct {
	room state.Room
	busy bool
	// level is how many messages may be posted now. It starts at one, since a
	// process before this one may have used up the rest.
	level float64
	at    time.Time
	// shut is until when the channel is left alone because it can't be posted
	// to.
	shut  time.Time
	pause backoff
	told  map[string]bool
	// edited is when a card was edited last, tried what failed.
	edited map[state.ReconciliationID]time.Time
	tried  map[state.MessageKey]*retry
}

type retry struct {
	until time.Time
	pause backoff
}

func newLane(room state.Room, now time.Time) *lane {
	return &lane{
		room: room, level: 1, at: now, pause: backoff{Least: 30 * time.Second, Most: 10 * time.Minute},
		told: map[string]bool{}, edited: map[state.ReconciliationID]time.Time{}, tried: map[state.MessageKey]*retry{},
	}
}

// pick chooses what to say next, or says when there is something: new cards
// first, then edits, then notices.
func (l *lane) pick(list []todo, now time.Time, g *gates) (best todo, at time.Time) {
	for _, t := range list {
		due := l.due(t, now, g)
		sooner := at.IsZero() || due.Before(at) || !due.After(now) && t.rank() < best.rank()
		if !at.IsZero() && !at.After(now) && (due.After(now) || t.rank() >= best.rank()) {
			sooner = false
		}
		if sooner {
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
		later(l.edited[t.r.ID].Add(editEvery))
		later(now.Add(g.closed("chat.update")))
		return at
	}
	later(now.Add(l.untilPost(now)))
	later(now.Add(g.closed("chat.postMessage")))
	return at
}

// untilPost says how long it takes until one more message may be posted.
func (l *lane) untilPost(now time.Time) time.Duration {
	l.level = min(postBurst, l.level+float64(now.Sub(l.at))/float64(postEvery))
	l.at = now
	if l.level >= 1 {
		return 0
	}
	return time.Duration((1 - l.level) * float64(postEvery))
}

// said notes that something was said.
func (l *lane) said(t todo, now time.Time) {
	delete(l.tried, t.key())
	l.pause.reset()
	clear(l.told)
	l.spend(t, now)
}

// spend counts a call that Slack saw, whether or not it liked it.
func (l *lane) spend(t todo, now time.Time) {
	switch {
	case t.rank() != 1:
		l.untilPost(now)
		l.level--
		if t.notice == nil {
			l.edited[t.r.ID] = now
		}
	case t.r.IsClosed():
		delete(l.edited, t.r.ID)
	default:
		l.edited[t.r.ID] = now
	}
}

// again puts something off.
func (l *lane) again(t todo, now time.Time, atLeast time.Duration) {
	r := l.tried[t.key()]
	if r == nil {
		r = &retry{pause: backoff{Least: time.Second, Most: 2 * time.Minute}}
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
