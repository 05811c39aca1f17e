package bot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"reconcilebot/commands/card"
	"reconcilebot/runbook/stopwatch"
	"reconcilebot/state"
)

// drawError is a card that could not be drawn.
type drawError struct{ cause any }

func (e *drawError) Error() string { return fmt.Sprintf("drawing a message panicked: %v", e.cause) }

// card draws the card of a reconciliation.
func (o *outbox) card(ctx context.Context, t todo) (card.Message, error) {
	m, _, err := draw(func() (card.Message, bool) { return o.app.Card(ctx, t.r), true })
	return m, err
}

// postCard posts the one message that a reconciliation has in its channel.
func (o *outbox) postCard(ctx context.Context, t todo, q *question) error {
	m, err := o.card(ctx, t)
	if err != nil {
		return err
	}
	before, err := o.db.Message(replacedKey(t.r.ID))
	if err != nil && !errors.Is(err, state.ErrNotFound) {
		return err
	}
	_, err = o.post.once(ctx, post{
		key: cardKey(t.r.ID), room: t.room(), message: m, after: before.TS,
		stand: func(s standing) error {
			o.timed("card posted", t, q)
			now := state.Message{Room: t.room(), TS: s.ts, Rev: t.r.Rev}
			if s.found {
				now.Rev = 0 // what it shows is not known: it is edited next
			}
			return o.db.Redrawn(t.r.ID, cardKey(t.r.ID), now)
		},
	})
	if err == nil {
		o.link(ctx, t)
	}
	return err
}

// editCard brings a card up to date. One that can't be edited any more is
// replaced by a new one.
func (o *outbox) editCard(ctx context.Context, t todo, q *question) error {
	m, err := o.card(ctx, t)
	if err != nil {
		return err
	}
	err = o.post.edit(ctx, t.room(), t.shown.TS, m)
	if err == nil {
		o.timed("card edited", t, q) // people see it from now on
		err = o.db.Redrawn(t.r.ID, cardKey(t.r.ID), state.Message{Room: t.room(), TS: t.shown.TS, URL: t.shown.URL, Rev: t.r.Rev})
		if err == nil {
			o.link(ctx, t)
		}
		return err
	}
	if troubleOf(err).Remedy == replace {
		return o.replace(t, err)
	}
	return err
}

// replaceEvery is how often one card is posted anew at most: a fault that the
// new one has too must not fill the channel.
const replaceEvery = 10 * time.Minute

// replace forgets where the card stands, so that a new one is posted; the old
// place is kept, so that the search for the new one does not find the old.
func (o *outbox) replace(t todo, why error) error {
	before, err := o.db.Message(replacedKey(t.r.ID))
	if err != nil && !errors.Is(err, state.ErrNotFound) {
		return err
	}
	if o.now().Sub(before.Tried) < replaceEvery {
		return why
	}
	o.log.Warn("a card can't be edited any more and is posted again", "run", t.r.ID, "err", why)
	if err := o.db.SaveMessage(replacedKey(t.r.ID), state.Message{Room: t.shown.Room, TS: t.shown.TS, Tried: o.now()}); err != nil {
		return err
	}
	return o.db.SaveMessage(cardKey(t.r.ID), state.Message{Room: t.r.Room})
}

// sayNotice says one thing in the thread of the card.
func (o *outbox) sayNotice(ctx context.Context, t todo) error {
	n := *t.notice
	m, ok, err := draw(func() (card.Message, bool) { return o.app.Notice(ctx, t.r, n.Kind) })
	if err != nil {
		return err
	}
	if !ok {
		return o.db.DropNotice(n.ID, "nothing is said about it")
	}
	_, err = o.post.once(ctx, post{
		key: noticeKey(n), room: t.room(), thread: t.shown.TS, message: m,
		stand: func(s standing) error {
			err := o.db.NoticeSent(n.ID, noticeKey(n), state.Message{Room: t.room(), TS: s.ts, Rev: n.Rev})
			if err == nil && s.loose {
				// Slack put the answer into the channel because the card was
				// deleted: editing it finds that out and posts a new one.
				err = o.db.Redraw(t.r.ID)
			}
			return err
		},
	})
	return err
}

// failed decides what becomes of something that could not be said. Nothing is
// given up but what Slack will never take.
func (o *outbox) failed(ctx context.Context, l *lane, t todo, err error) {
	now := o.now()
	tr := troubleOf(err)
	var drawing *drawError
	if errors.As(err, &drawing) {
		o.meters.panics.Add(1)
	}
	o.mu.Lock()
	if tr.Code != "" || tr.Unsure {
		l.spend(t, now)
	}
	tell := false
	switch tr.Remedy {
	case closedRoom:
		tell = l.close(t, tr.Code, now)
	case setup:
		l.again(t, now, setupPause)
	case unfit:
		l.again(t, now, time.Minute)
	case replace:
		l.again(t, now, time.Second)
	default:
		l.again(t, now, tr.After)
	}
	o.mu.Unlock()
	o.report(ctx, t, tr, tell)
}

// report logs what could not be said, and tells the person about a channel
// that can't be posted to.
func (o *outbox) report(ctx context.Context, t todo, tr trouble, tell bool) {
	what := "card"
	if t.notice != nil {
		what = "notice " + t.notice.Kind
	}
	switch {
	case tr.Remedy == later:
		o.log.Warn("not said yet", "run", t.r.ID, "what", what, "err", tr.Err)
	case tr.Remedy == closedRoom:
		o.log.Warn("the channel can't be posted to", "run", t.r.ID, "what", what, "room", t.room(), "err", tr.Err)
		if tell {
			o.advise(ctx, t, tr.Code)
		}
	default:
		o.log.Error("not said", "run", t.r.ID, "what", what, "err", tr.Err)
	}
	if t.notice == nil {
		return
	}
	var err error
	switch tr.Remedy {
	case unfit:
		err = o.db.DropNotice(t.notice.ID, "Slack or the drawing of it refused: "+tr.Code)
	case replace:
		err = o.db.Redraw(t.r.ID) // the thread is gone, so the card may be too
	}
	if err != nil {
		o.log.Error("a notice could not be put away", "run", t.r.ID, "err", err)
	}
}

// advise tells whoever asked why nothing appears in the channel.
func (o *outbox) advise(ctx context.Context, t todo, code string) {
	q := o.asked.by(t.r.Room, t.r.OpenedBy.ID)
	if q == nil {
		q = o.asked.by(t.r.Room, "")
	}
	if q == nil {
		q = &question{act: act{User: t.r.OpenedBy.ID, Room: string(t.r.Room)}, d: state.Delivery{Received: o.now()}, waits: &stopwatch.Watch{}}
	}
	if err := o.answers.say(ctx, q, roomAdvice(code)); err != nil {
		o.meters.missed.Add(1)
		o.log.Error("an answer did not reach the person", "user", q.act.User, "err", troubleOf(err).Err)
	}
}

// timed logs how long it took from the person's act to the card. own leaves
// out the time in which other systems were waited for, by the wire (waited) or
// by the engine's steps (outside). The two may overlap, so the longer one is
// taken off: own is never told smaller than it was. The card's wait for its
// turn at Slack's pace comes after the steps that it shows.
func (o *outbox) timed(what string, t todo, q *question) {
	if q == nil || q.at.IsZero() || q.d.Received.After(t.r.Opened) || t.r.Opened.Sub(q.d.Received) > handleWithin {
		o.log.Info(what, "run", t.r.ID, "rev", t.r.Rev)
		return
	}
	var steps, outside time.Duration
	for _, s := range t.r.Steps {
		outside += s.Outside
		if !s.Finished.IsZero() {
			steps += s.Finished.Sub(s.Started) - s.WaitedFor()
		}
	}
	total, waiting := q.total(), max(q.waits.Total(), outside+t.held)
	o.log.Info(what, "run", t.r.ID, "rev", t.r.Rev, "total", ms(total), "own", ms(total-waiting), "waiting", ms(waiting), "steps", ms(steps))
}
