package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"reconcilebot/bot/slacksim"
	"reconcilebot/commands/card"
	"reconcilebot/state"
)

// patience is how long somebody waits for a form to open.
const patience = 15 * time.Second

// people are everybody who uses the bot.
type people struct {
	c    Config
	sim  *slacksim.Sim
	book *diary
	// places are each person's channels.
	places [][]int
	// hands keep a person from doing two things at a time.
	hands   []chan struct{}
	marks   atomic.Int64
	targets atomic.Int64
}

func newPeople(c Config, sim *slacksim.Sim) *people {
	p := &people{c: c, sim: sim, book: &diary{}, places: make([][]int, c.People)}
	for channel := range c.Channels {
		for _, i := range inChannel(channel, c.Channels, c.People) {
			p.places[i] = append(p.places[i], channel)
		}
	}
	for range c.People {
		p.hands = append(p.hands, make(chan struct{}, 1))
	}
	return p
}

// live has one person act until enough was done.
func (p *people) live(ctx context.Context, i int, enough func() bool) {
	rng := rand.New(rand.NewPCG(p.c.Seed, uint64(i)))
	if len(p.places[i]) == 0 {
		return
	}
	for !enough() {
		think := time.Duration(rng.ExpFloat64() * float64(p.c.Think))
		select {
		case <-ctx.Done():
			return
		case <-time.After(min(think, 5*p.c.Think)):
		}
		select {
		case p.hands[i] <- struct{}{}:
			p.act(ctx, rng, i, p.places[i][rng.IntN(len(p.places[i]))])
			<-p.hands[i]
		default: // busy with something together with somebody else
		}
	}
}

// act does one thing, of those that people do, as often as they do it.
func (p *people) act(ctx context.Context, rng *rand.Rand, i, channel int) {
	p.tidy(ctx, i)
	place := p.sim.As(personID(i)).In(channelID(channel))
	switch n := rng.IntN(100); {
	case n < 30:
		p.ask(ctx, place, i, channel, rng.IntN(2) == 0)
	case n < 40:
		p.mention(ctx, place, i, channel, true)
	case n < 45:
		p.mention(ctx, place, i, channel, false)
	case n < 52:
		p.slash(ctx, place, "status", &deed{kind: board, person: i, channel: channel})
	case n < 62:
		if !isOutside(i) {
			name := targetName(int(p.targets.Add(1) - 1))
			p.slash(ctx, place, "drift "+name, &deed{kind: look, person: i, channel: channel, target: name})
		}
	case n < 66:
		p.shortcut(ctx, rng, place, i, channel)
	case n < 82:
		p.together(ctx, rng, i, channel, card.ActionAdopt, p.adopt)
	default:
		p.together(ctx, rng, i, channel, card.ActionApprove, p.approve)
	}
}

func (p *people) mark() string { return fmt.Sprintf("zz%dq", p.marks.Add(1)) }

// ask asks what nobody else asks.
func (p *people) ask(ctx context.Context, place *slacksim.Place, i, channel int, help bool) {
	d := &deed{kind: ask, person: i, channel: channel, mark: p.mark()}
	text := d.mark
	if help {
		text = "help " + d.mark
	}
	p.slash(ctx, place, text, d)
}

func (p *people) slash(ctx context.Context, place *slacksim.Place, text string, d *deed) {
	if isOutside(d.person) {
		return // Slack offers them no commands
	}
	p.book.add(d)
	inv, err := place.Slash(ctx, "/reconcile "+text)
	p.answered(d, inv, err)
}

// answered notes how an act was acknowledged.
func (p *people) answered(d *deed, inv *slacksim.Invocation, err error) {
	p.book.note(func() {
		d.acked = err == nil
		if inv != nil {
			d.trigger = inv.TriggerID
		}
		d.refused = err == nil && (inv.Text != "" || len(inv.Errors) > 0)
	})
	if err != nil && !errors.Is(err, slacksim.ErrOperationTimeout) && !errors.Is(err, slacksim.ErrDispatchFailed) && !errors.Is(err, context.Canceled) {
		p.sim.Report("people-are-stuck", fmt.Sprintf("%s by %s in #%s: %v", d.kind, personName(d.person), channelName(d.channel), err))
	}
}

// mention writes to the bot. Events are acknowledged behind people's backs.
func (p *people) mention(ctx context.Context, place *slacksim.Place, i, channel int, marked bool) {
	d := &deed{kind: board, person: i, channel: channel}
	text := "status"
	if marked {
		d.kind, d.mark = ask, p.mark()
		text = "help " + d.mark
	}
	p.book.add(d)
	inv, err := place.Mention(ctx, "<@U0APP> "+text)
	if err != nil {
		p.answered(d, inv, err)
		return
	}
	p.book.note(func() { d.ts = inv.TS })
}

func (p *people) shortcut(ctx context.Context, rng *rand.Rand, place *slacksim.Place, i, channel int) {
	list := p.sim.Messages(channelID(channel))
	if len(list) == 0 || isOutside(i) {
		return
	}
	d := p.book.add(&deed{kind: shortcut, person: i, channel: channel})
	inv, err := place.MessageShortcut(ctx, list[rng.IntN(len(list))].TS, "reconcile_thread")
	p.answered(d, inv, err)
}

// recent is how many messages back somebody scrolls.
const recent = 25

// find picks a message with a button, of those in sight.
func (p *people) find(rng *rand.Rand, channel int, action string) (m slacksim.Message, run state.ReconciliationID, ok bool) {
	list := p.sim.Messages(channelID(channel))
	list = list[max(0, len(list)-recent):]
	for _, at := range rng.Perm(len(list)) {
		if b, has := list[at].Button(action); has {
			run, _, _ = card.Carried(b.Value)
			return list[at], run, true
		}
	}
	return m, "", false
}

// together does something alone, or, every fourth time, in the same moment as
// somebody else in the channel.
func (p *people) together(ctx context.Context, rng *rand.Rand, i, channel int, action string, what func(context.Context, *slacksim.Place, *deed, slacksim.Message)) {
	m, run, ok := p.find(rng, channel, action)
	if !ok {
		return
	}
	one := func(i int) {
		what(ctx, p.sim.As(personID(i)).In(channelID(channel)), &deed{person: i, channel: channel, run: run}, m)
	}
	list := inChannel(channel, p.c.Channels, p.c.People)
	other := list[rng.IntN(len(list))]
	if other == i || rng.IntN(4) > 0 {
		one(i)
		return
	}
	select {
	case p.hands[other] <- struct{}{}:
	default:
		one(i)
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { <-p.hands[other] }()
		p.tidy(ctx, other)
		one(other)
	}()
	one(i)
	<-done
}

func (p *people) approve(ctx context.Context, place *slacksim.Place, d *deed, m slacksim.Message) {
	d.kind = vote
	p.book.add(d)
	inv, err := place.Click(ctx, m.TS, card.ActionApprove)
	p.answered(d, inv, p.edited(err))
}

// edited excuses a button that went from the card between looking and
// pressing: nothing was sent then.
func (p *people) edited(err error) error {
	if err != nil && (strings.Contains(err.Error(), "to press") || strings.Contains(err.Error(), "there is no message")) {
		return slacksim.ErrDispatchFailed
	}
	return err
}

// adopt clicks for the form, waits for it, and sends it.
func (p *people) adopt(ctx context.Context, place *slacksim.Place, d *deed, m slacksim.Message) {
	d.kind = click
	p.book.add(d)
	me := p.sim.As(personID(d.person))
	before := len(p.sim.Ephemerals(personID(d.person), channelID(d.channel)))
	inv, err := place.Click(ctx, m.TS, card.ActionAdopt)
	p.answered(d, inv, p.edited(err))
	if err != nil {
		return
	}
	waiting, stop := context.WithTimeout(ctx, patience)
	defer stop()
	_ = p.sim.Wait(waiting, "the form", func() bool { // when it does not come, tidy sees to it
		return me.OpenView() != nil || len(p.sim.Ephemerals(personID(d.person), channelID(d.channel))) > before
	})
	v := me.OpenView()
	if v == nil {
		return
	}
	run := p.opened(d.person, v)
	form := p.book.add(&deed{kind: submit, person: d.person, channel: d.channel, run: run})
	inv, err = me.Submit(ctx, v.ID, map[string]string{card.BlockReason: "the queue was backing up"})
	p.answered(form, inv, err)
}

// tidy closes a form that came too late for its click, or was not taken.
func (p *people) tidy(ctx context.Context, i int) {
	me := p.sim.As(personID(i))
	v := me.OpenView()
	if v == nil {
		return
	}
	p.opened(i, v)
	if _, err := me.CloseView(ctx, v.ID); err != nil {
		p.sim.Report("people-are-stuck", fmt.Sprintf("closing a form: %v", err))
	}
}

// opened notes for which click a form came, which may not be the last one, and
// says what it is about.
func (p *people) opened(i int, v *slacksim.View) state.ReconciliationID {
	run, _, _ := card.Carried(v.Private)
	p.book.note(func() {
		for _, d := range p.book.deeds {
			if d.kind == click && d.person == i && d.run == run && !d.form {
				d.form = true
				return
			}
		}
	})
	return run
}
