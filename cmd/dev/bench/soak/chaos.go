package soak

import (
	"context"
	"math/rand/v2"
	"time"

	"reconcilebot/bot/slacksim"
)

// mishaps are what goes wrong at any time, each with its probability.
func mishaps() []slacksim.Rule {
	var list []slacksim.Rule
	add := func(p float64, r slacksim.Rule) {
		r.Probability = p
		list = append(list, r)
	}
	for _, method := range []string{"chat.postMessage", "chat.update"} {
		add(0.03, slacksim.Rule{Method: method, DropAnswer: true})
		add(0.02, slacksim.Rule{Method: method, Status: 429, RetryAfter: 1})
		add(0.01, slacksim.Rule{Method: method, Status: 503})
		add(0.01, slacksim.Rule{Method: method, Reset: true})
		add(0.01, slacksim.Rule{Method: method, Error: "internal_error"})
		add(0.005, slacksim.Rule{Method: method, Body: `{"ok":false}`})
		add(0.005, slacksim.Rule{Method: method, Body: "<!doctype html><title>Slack</title>"})
		add(0.002, slacksim.Rule{Method: method, Delay: 12 * time.Second})
	}
	for _, method := range []string{"chat.postEphemeral", "views.open", "conversations.history", "conversations.replies"} {
		add(0.02, slacksim.Rule{Method: method, DropAnswer: true})
		add(0.02, slacksim.Rule{Method: method, Status: 429, RetryAfter: 1})
		add(0.01, slacksim.Rule{Method: method, Status: 503})
	}
	for _, method := range []string{"users.info", "conversations.info"} {
		add(0.01, slacksim.Rule{Method: method, Status: 429, RetryAfter: 1})
		add(0.01, slacksim.Rule{Method: method, Status: 503})
		add(0.005, slacksim.Rule{Method: method, Reset: true})
	}
	for _, method := range []string{"apps.connections.open", "auth.test"} {
		add(0.04, slacksim.Rule{Method: method, Status: 503})
		add(0.02, slacksim.Rule{Method: method, Reset: true})
	}
	add(0.02, slacksim.Rule{Route: "hooks", DropAnswer: true})
	add(0.01, slacksim.Rule{Route: "hooks", Status: 503})
	add(0.01, slacksim.Rule{Route: "hooks", Reset: true})
	add(0.03, slacksim.Rule{Route: "link", Status: 409})
	for _, kind := range []string{"slash_commands", "interactive", "events_api"} {
		add(0.03, slacksim.Rule{Envelope: kind, Twice: true})
		add(0.003, slacksim.Rule{Envelope: kind, Swallow: true})
		add(0.003, slacksim.Rule{Envelope: kind, Delay: 3500 * time.Millisecond})
	}
	return list
}

// endings are what happens to the sockets, and how many times as often as the
// rarest.
var endings = []struct {
	how    slacksim.Disconnect
	weight int
}{
	{slacksim.DisconnectWarning, 6},
	{slacksim.DisconnectRefresh, 6},
	{slacksim.DisconnectReset, 6},
	{slacksim.DisconnectClose, 4},
	{slacksim.DisconnectGarbage, 4},
	{slacksim.DisconnectSilent, 1},
	{slacksim.DisconnectMute, 1},
}

// between is how many envelopes go by, on average, before something happens to
// the sockets.
const between = 150

// chaos spoils the sockets again and again until ctx ends.
func chaos(ctx context.Context, rng *rand.Rand, sim *slacksim.Sim) {
	sum := 0
	for _, e := range endings {
		sum += e.weight
	}
	next := 0
	for ctx.Err() == nil {
		next += 1 + rng.IntN(2*between)
		if !reach(ctx, sim, next) {
			return
		}
		n := rng.IntN(sum)
		for _, e := range endings {
			if n -= e.weight; n < 0 {
				sim.Disconnect(e.how)
				if e.how == slacksim.DisconnectMute {
					// What gets pings looks as a quiet one does: nothing but
					// its end tells. Until then half of everything is lost.
					pause(ctx, time.Second)
					sim.Disconnect(slacksim.DisconnectReset)
				}
				break
			}
		}
	}
}

// reach waits until so many envelopes went out; false means that ctx ended.
func reach(ctx context.Context, sim *slacksim.Sim, envelopes int) bool {
	for sim.Metrics().Envelopes < envelopes {
		if !pause(ctx, 20*time.Millisecond) {
			return false
		}
	}
	return ctx.Err() == nil
}

// pause waits, or returns false when ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// executioner kills the bot at so many random moments until ctx ends, and
// starts it again each time, to live until life ends.
func executioner(ctx, life context.Context, rng *rand.Rand, c Config, sim *slacksim.Sim, p *process) (done int, err error) {
	for done = range c.Kills {
		// One in each of as many equal parts of the way.
		at := int((float64(done) + rng.Float64()) * float64(c.Envelopes) / float64(c.Kills))
		if !reach(ctx, sim, at) || !pause(ctx, time.Duration(rng.IntN(50))*time.Millisecond) {
			return done, nil
		}
		sim.AppDies()
		if err := p.kill(); err != nil {
			return done, err
		}
		if err := p.start(life); err != nil {
			return done, err
		}
	}
	return c.Kills, nil
}
