package bot

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/slack-go/slack"

	"reconcilebot/commands/card"
	"reconcilebot/runbook/stopwatch"
	"reconcilebot/state"
)

// outbox says what the store has to say: one card per reconciliation, posted
// once and then edited, and notices in its thread, in order. It is safe for
// concurrent use.
type outbox struct {
	app     app
	db      *state.DB
	post    *poster
	answers *answers
	asked   *asked
	meters  *meters
	log     *slog.Logger
	now     func() time.Time
	wake    chan struct{}
	pace    time.Duration
	retry   backoff // what failed is tried again after
	// due reads what is to be said; rounds alone use it.
	due *state.Waiting

	mu    sync.Mutex // guards what follows
	lanes map[state.Room]*lane
}

// todo is one thing to say: a card, or, with a notice, a message in its
// thread.
type todo struct {
	r state.Reconciliation
	// shown is where the card stands; its TS is empty when it does not yet.
	shown  state.Message
	notice *state.Notice
	// held is how long it had to wait for its turn at Slack's pace.
	held time.Duration
}

func (t todo) key() state.MessageKey {
	if t.notice != nil {
		return noticeKey(*t.notice)
	}
	return cardKey(t.r.ID)
}

// room is where it is to be said. Where a card stood when it was last touched
// is not asked: Slack gives channels new ids, and a note of the old one may
// have been written in that very moment.
func (t todo) room() state.Room { return t.r.Room }

// run says things until ctx ends; what is under way then may go on until work
// ends.
func (o *outbox) run(ctx, work context.Context) error {
	var bg sync.WaitGroup
	defer bg.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-o.db.Changed():
		case <-o.wake:
		case <-timer.C:
		}
		if ctx.Err() == nil {
			timer.Reset(o.round(work, &bg))
		}
	}
}

// idleRound is how often the store is looked at without a hint.
const idleRound = 30 * time.Second

// round starts whatever is due, one thing per channel, and says when to come
// again.
func (o *outbox) round(ctx context.Context, bg *sync.WaitGroup) time.Duration {
	if o.post.me.Load() == nil {
		return idleRound // Slack has not let us in yet
	}
	all, err := o.collect()
	if err != nil {
		o.log.Error("what is to be said was not read", "err", err)
		return 5 * time.Second
	}
	now := o.now()
	next := now.Add(idleRound)
	o.mu.Lock()
	defer o.mu.Unlock()
	for room, list := range all {
		l := o.lane(room)
		if l.busy {
			continue
		}
		t, at := l.pick(list, now, o.post.gates)
		if at.After(now) {
			if at.Before(next) {
				next = at
			}
			for _, t := range list { // the first of them is not due: none is
				l.hold(t, now)
			}
			continue
		}
		t.held = l.release(t, now)
		l.busy = true
		if t.rank() != 1 {
			l.begin(now)
		}
		bg.Go(func() {
			o.say(ctx, l, t)
			o.mu.Lock()
			if t.rank() != 1 {
				l.landed(o.now())
			}
			l.busy = false
			o.mu.Unlock()
			o.nudge()
		})
	}
	return next.Sub(now)
}

// lane finds or makes a channel's lane. The lock is held.
func (o *outbox) lane(room state.Room) *lane {
	l := o.lanes[room]
	if l == nil {
		l = newLane(room, o.now(), o.pace, o.retry)
		o.lanes[room] = l
	}
	return l
}

// maxTurn is how long an answer waits for its turn before it makes room for
// others.
const maxTurn = 3 * time.Second

// turn waits for a turn to post in a channel, which answers and cards share;
// landed is called when the post came to its end. A turn that is too far off
// is an error that says how far.
func (o *outbox) turn(ctx context.Context, room state.Room) (landed func(), err error) {
	until := o.now().Add(maxTurn)
	for {
		o.mu.Lock()
		now := o.now()
		l := o.lane(room)
		wait := l.turn(now)
		if wait == 0 {
			l.begin(now)
		}
		o.mu.Unlock()
		switch {
		case wait == 0:
			return func() {
				o.mu.Lock()
				defer o.mu.Unlock()
				l.landed(o.now())
			}, nil
		case now.Add(wait).After(until):
			return nil, &slack.RateLimitedError{RetryAfter: wait}
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// nudge asks for a round.
func (o *outbox) nudge() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// reopen tries a channel again that could not be posted to: something
// happened there.
func (o *outbox) reopen(room state.Room) {
	o.mu.Lock()
	if l := o.lanes[room]; l != nil {
		l.reopen()
	}
	o.mu.Unlock()
	o.nudge()
}

// collect reads what is to be said, by channel. Of one reconciliation's
// notices only the first is given: they are said in order, and only once the
// card stands.
func (o *outbox) collect() (map[state.Room][]todo, error) {
	due, err := o.due.Read()
	if err != nil {
		return nil, err
	}
	out := map[state.Room][]todo{}
	for _, d := range due {
		t := todo{r: d.Reconciliation, shown: d.Card}
		room := t.room()
		if d.Redraw {
			out[room] = append(out[room], t)
		}
		if t.notice = d.Notice; t.notice != nil && t.shown.TS != "" {
			out[room] = append(out[room], t)
		}
	}
	return out, nil
}

// say says one thing and notes how it went.
func (o *outbox) say(ctx context.Context, l *lane, t todo) {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("posting took longer than a minute"))
	defer cancel()
	q := o.asked.by(t.r.Room, t.r.OpenedBy.ID)
	if q != nil {
		ctx = stopwatch.With(ctx, q.waits)
	}
	err := o.speak(ctx, t, q)
	if err == nil {
		o.mu.Lock()
		l.said(t, o.now())
		o.mu.Unlock()
		return
	}
	o.failed(ctx, l, t, err)
}

// speak says it; a panic on the way is an error of this one thing.
func (o *outbox) speak(ctx context.Context, t todo, q *question) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &drawError{p}
		}
	}()
	switch {
	case t.notice != nil:
		return o.sayNotice(ctx, t)
	case t.shown.TS == "":
		return o.postCard(ctx, t, q)
	}
	return o.editCard(ctx, t, q)
}

// draw lets commands draw; a panic there is an error of this one card.
func draw(what func() (card.Message, bool)) (m card.Message, ok bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &drawError{p}
		}
	}()
	m, ok = what()
	return m, ok, nil
}
