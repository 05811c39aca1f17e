package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"reconcilebot/commands"
	"reconcilebot/runbook/fault"
	"reconcilebot/runbook/stopwatch"
	"reconcilebot/state"
)

const (
	// queueLength is how many acts may wait in memory. What does not fit is
	// refused before it is stored.
	queueLength = 512
	// maxTries is how often handling one act may end with the process: an act
	// that kills it must not kill it for ever.
	maxTries = 5
	// answerLife is how long an answer is tried while Slack does not take it.
	answerLife = hookLife
	// handleWithin bounds one request, which may ask other systems.
	handleWithin = time.Minute
	// sweepEvery is how often the disk is looked at for acts that were not
	// handed over.
	sweepEvery = 10 * time.Second
)

// job is an act that is to be handled.
type job struct {
	d  state.Delivery
	at time.Time // when its frame was read; zero after a restart
	// acked is how long after that it was acknowledged.
	acked time.Duration
	// place is its place among what the same person does; nil for none.
	place *place
	// pause is for when Slack does not take the answer.
	pause backoff
}

// pool handles acts, several at a time, each once. It is safe for concurrent
// use.
type pool struct {
	app     app
	db      *state.DB
	answers *answers
	outbox  *outbox
	asked   *asked
	meters  *meters
	log     *slog.Logger
	now     func() time.Time
	workers int
	queue   chan job
	order   *order
	// suspects takes those in turn that the process ended with before: of
	// several at a time nobody could tell which of them ended it.
	suspects sync.Mutex

	mu   sync.Mutex // guards what follows
	busy map[state.DeliveryID]bool
}

func newPool(c Config, an *answers, out *outbox, as *asked, m *meters) *pool {
	return &pool{
		app: c.App, db: c.DB, answers: an, outbox: out, asked: as, meters: m, log: c.Log, now: c.Now,
		workers: c.Workers, queue: make(chan job, queueLength), order: newOrder(), busy: map[state.DeliveryID]bool{},
	}
}

func (p *pool) waiting() int { return len(p.queue) + p.order.held() }

func (p *pool) full() bool { return p.waiting() >= cap(p.queue)-slots }

// hold keeps an act to the one who asks, so that nobody else takes it off the
// disk; false means that it is held already.
func (p *pool) hold(id state.DeliveryID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy[id] {
		return false
	}
	p.busy[id] = true
	return true
}

// enqueue queues an act that is held, when it is its turn. One that does not
// fit is found on disk later.
func (p *pool) enqueue(j job) {
	if j.place == nil {
		p.push(j)
		return
	}
	j.place.ready(func() { p.push(j) })
}

func (p *pool) push(j job) {
	select {
	case p.queue <- j:
	default:
		p.release(j.d.ID)
		j.place.leave()
	}
}

func (p *pool) release(id state.DeliveryID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.busy, id)
}

// run handles acts until ctx ends; those under way then may go on until work
// ends. What a restart left unhandled comes first.
func (p *pool) run(ctx, work context.Context) error {
	p.sweep()
	var g errgroup.Group
	for range p.workers {
		g.Go(func() error { p.serve(ctx, work); return nil })
	}
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return g.Wait()
		case <-tick.C:
			p.sweep()
		}
	}
}

func (p *pool) serve(ctx, work context.Context) {
	for {
		if ctx.Err() != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case j := <-p.queue:
			wait, again := p.handle(work, j)
			j.place.leave()
			if again {
				p.later(j, wait)
			} else {
				p.release(j.d.ID)
			}
		}
	}
}

// later queues an act again: when Slack said that it may be, or after longer
// and longer pauses. It stays held until then.
func (p *pool) later(j job, after time.Duration) {
	if j.pause.Least == 0 {
		j.pause = backoff{Least: time.Second, Most: time.Minute}
	}
	if after <= 0 {
		after = j.pause.next()
	}
	j.d.Tries = 0 // it came to an end, and is no suspect
	time.AfterFunc(after, func() { p.enqueue(job{d: j.d, pause: j.pause}) })
}

// sweep queues what is on disk and was not handled.
func (p *pool) sweep() {
	list, err := p.db.Unhandled()
	if err != nil {
		p.log.Error("unhandled acts were not read", "err", err)
		return
	}
	for _, d := range list {
		if p.hold(d.ID) {
			p.enqueue(job{d: d, place: p.placeOf(d)})
		}
	}
}

// placeOf takes a place for an act that is on disk.
func (p *pool) placeOf(d state.Delivery) *place {
	var a act
	if json.Unmarshal(d.Payload, &a) != nil {
		return nil // handling it says so
	}
	return p.order.enter(a)
}

// handle answers one act and notes that it is handled, in this order: a crash
// in between handles it once more, which its mint makes harmless. again means
// that it is to be handled once more, after that time at least.
func (p *pool) handle(ctx context.Context, j job) (after time.Duration, again bool) {
	if j.d.Tries > 0 {
		p.suspects.Lock()
		defer p.suspects.Unlock()
	}
	d, err := p.db.Begin(j.d.ID)
	if err != nil {
		p.log.Error("an act could not be begun", "delivery", j.d.ID, "err", err)
		return 0, false // the sweep finds it
	}
	if !d.Handled.IsZero() {
		return 0, false
	}
	var a act
	if err := json.Unmarshal(d.Payload, &a); err != nil {
		p.log.Error("a stored act can't be read", "delivery", d.ID, "err", err)
		p.done(d)
		return 0, false
	}
	q := &question{act: a, d: d, at: j.at, waits: &stopwatch.Watch{}}
	p.asked.put(q)
	if err := p.answer(stopwatch.With(ctx, q.waits), q); err != nil {
		if after, again = p.unanswered(ctx, q, err); again {
			return after, true
		}
		p.meters.missed.Add(1)
	}
	p.done(d)
	p.log.Info("handled", "command", a.Kind, "user", a.User, "acked", ms(j.acked), "total", ms(q.total()), "waiting", ms(q.waits.Total()))
	return 0, false
}

// answer has an act answered. The error says why the answer did not arrive.
func (p *pool) answer(ctx context.Context, q *question) error {
	if q.d.Tries > maxTries {
		p.log.Error("an act was given up: handling it never came to an end", "delivery", q.d.ID, "command", q.act.Kind, "user", q.act.User)
		return p.answers.say(ctx, q, fault.Say(errors.New("handling it never came to an end"), q.d.Mint))
	}
	reply, err := p.ask(ctx, q.act.request(q.d))
	if err != nil && ctx.Err() != nil {
		return err // the program stops, and the error may be for that reason
	}
	p.outbox.reopen(state.Room(q.act.Room))
	if err != nil {
		p.logFault(q, err)
		return p.answers.say(ctx, q, fault.Say(err, q.d.Mint))
	}
	return p.answers.give(ctx, q, reply)
}

// unanswered decides what becomes of an act whose answer did not arrive: it is
// handled again while the program stops or Slack is unwell, until nobody
// waits for it any more.
func (p *pool) unanswered(ctx context.Context, q *question, err error) (after time.Duration, again bool) {
	t := troubleOf(err)
	stopping := ctx.Err() != nil
	if !stopping && (t.Remedy != later && t.Remedy != setup || p.now().Sub(q.d.Received) > answerLife) {
		p.log.Error("an answer was not given", "delivery", q.d.ID, "command", q.act.Kind, "user", q.act.User, "err", t.Err)
		return 0, false
	}
	if !stopping {
		p.log.Warn("an answer is not given yet", "delivery", q.d.ID, "command", q.act.Kind, "user", q.act.User, "err", t.Err)
	}
	if err := p.db.Postpone(q.d.ID, p.answers.hooks.uses(q)); err != nil {
		p.log.Error("an act could not be put off", "delivery", q.d.ID, "err", err)
	}
	return t.After, true
}

func (p *pool) done(d state.Delivery) {
	if err := p.db.Handled(d.ID); err != nil {
		p.log.Error("an act could not be marked as handled", "delivery", d.ID, "err", err)
		return
	}
	p.meters.handled.Add(1)
}

// ask lets commands answer; a panic there is an error.
func (p *pool) ask(ctx context.Context, r commands.Request) (reply commands.Reply, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, handleWithin, fmt.Errorf("answering took longer than %s", handleWithin))
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			p.meters.panics.Add(1)
			p.log.Error("a command panicked", "command", r.Kind, "user", r.User, "err", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = fmt.Errorf("answering a %s panicked: %v", r.Kind, v)
		}
	}()
	return p.app.Handle(ctx, r)
}

// logFault logs an answer that is an error: ours as an error with the
// reference that the person gets, theirs as news.
func (p *pool) logFault(q *question, err error) {
	if fault.Of(err) == fault.Internal {
		p.log.Error("a command broke", "ref", q.d.Mint, "command", q.act.Kind, "user", q.act.User, "err", err)
		return
	}
	p.log.Info("refused", "command", q.act.Kind, "user", q.act.User, "err", err)
}

// apologise tells somebody that their act was not stored, and whether that
// arrived in time.
func (p *pool) apologise(a act, by time.Time) (told bool) {
	ctx, cancel := context.WithDeadlineCause(context.Background(), by, errors.New("there was no time left to apologise"))
	defer cancel()
	q := &question{act: a, d: state.Delivery{ID: a.id(), Received: p.now()}, waits: &stopwatch.Watch{}}
	for {
		err := p.answers.say(ctx, q, busyText)
		if err == nil {
			return true
		}
		if troubleOf(err).Remedy != later || sleep(ctx, 200*time.Millisecond) != nil {
			p.meters.missed.Add(1)
			p.log.Error("an answer did not reach the person", "command", a.Kind, "user", a.User, "err", troubleOf(err).Err)
			return false
		}
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
