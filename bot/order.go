package bot

import (
	"slices"
	"sync"
	"time"

	"reconcilebot/commands"
)

// patience is how long an act waits for what the same person did before it in
// the same channel: something that hangs must not keep them out for longer.
const patience = 10 * time.Second

// order keeps what one person does in one channel in its order, though many
// acts are handled at a time: a command that needs what the one before it sets
// up must not overtake it. It is safe for concurrent use.
type order struct {
	patience time.Duration

	mu    sync.Mutex // guards what follows, and every place
	lines map[line][]*place
	// waiting is how many acts are held back.
	waiting int
}

type line struct{ user, room string }

// place is one act's place in a line.
type place struct {
	order *order
	line  line
	// hurried acts wait for nobody, since a form has to open in time, but what
	// comes after them waits for them.
	hurried bool
	// start hands an act over that is held back; otherwise nil.
	start func()
	timer *time.Timer
}

func newOrder() *order { return &order{patience: patience, lines: map[line][]*place{}} }

// enter takes the next place in the line that an act belongs to.
func (o *order) enter(a act) *place {
	p := &place{order: o, line: line{a.User, a.Room}, hurried: a.Kind == commands.Click || a.Kind == commands.Shortcut}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines[p.line] = append(o.lines[p.line], p)
	return p
}

// ready calls start, once, as soon as it is the act's turn.
func (p *place) ready(start func()) {
	o := p.order
	o.mu.Lock()
	if list := o.lines[p.line]; !p.hurried && len(list) > 0 && list[0] != p {
		p.start = start
		o.waiting++
		p.timer = time.AfterFunc(o.patience, func() {
			o.mu.Lock()
			start := p.due()
			o.mu.Unlock()
			start()
		})
		start = func() {}
	}
	o.mu.Unlock()
	start()
}

// due takes what starts an act that was held back. The lock is held; what is
// returned is called without it.
func (p *place) due() (start func()) {
	if p.start == nil {
		return func() {}
	}
	p.timer.Stop()
	p.order.waiting--
	start, p.start = p.start, nil
	return start
}

// leave gives the place up, when the act is handled or will not be. It may be
// called more than once, and on no place.
func (p *place) leave() {
	if p == nil {
		return
	}
	p.order.without(p)()
}

// without takes a place out of its line and returns what starts the next.
func (o *order) without(p *place) (start func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	rest := slices.DeleteFunc(o.lines[p.line], func(other *place) bool { return other == p })
	if len(rest) == 0 {
		delete(o.lines, p.line)
		return func() {}
	}
	o.lines[p.line] = rest
	return rest[0].due()
}

// held is how many acts wait for another one of the same person.
func (o *order) held() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.waiting
}
