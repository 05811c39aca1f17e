package soak

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"reconcilebot/bot/slacksim"
)

// timekeeper follows what Slack sees of the bot, and what the kernel does. It
// is safe for concurrent use.
type timekeeper struct {
	sim *slacksim.Sim
	bot *process

	mu   sync.Mutex // guards what follows
	seen map[string]bool
	acks []time.Duration
	// mentions holds the ts of those that were acknowledged.
	mentions map[string]bool
	// forms holds the triggers for which a form was opened, also if another
	// took its place before anybody saw it.
	forms  map[string]bool
	memory []memory // at each thousand envelopes
}

func newTimekeeper(sim *slacksim.Sim, bot *process) *timekeeper {
	return &timekeeper{sim: sim, bot: bot, seen: map[string]bool{}, mentions: map[string]bool{}, forms: map[string]bool{}}
}

// keep looks again and again until ctx ends: the local Slack remembers the
// last thousand envelopes only.
func (k *timekeeper) keep(ctx context.Context) {
	for pause(ctx, 200*time.Millisecond) {
		k.look()
	}
}

// thousand is after how many envelopes the memory is looked at.
const thousand = 1000

func (k *timekeeper) look() {
	envelopes, calls, sent := k.sim.Envelopes(), k.sim.Calls(), k.sim.Metrics().Envelopes
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range calls {
		if c.Method == "views.open" && c.Error == "" {
			k.forms[c.Args["trigger_id"]] = true
		}
	}
	for _, e := range envelopes {
		if e.State != "acked" || k.seen[e.ID] {
			continue
		}
		k.seen[e.ID] = true
		k.acks = append(k.acks, e.Latency/Hurry)
		var p struct {
			Event struct{ Type, TS string }
		}
		if json.Unmarshal(e.Payload, &p) == nil && p.Event.Type == "app_mention" {
			k.mentions[p.Event.TS] = true
		}
	}
	if len(k.memory) < sent/thousand {
		// One that was killed in this moment takes nothing.
		if m, err := k.bot.memory(); err == nil && m.total() > 0 {
			k.memory = append(k.memory, m)
		}
	}
}

// acknowledged tells whether a mention was.
func (k *timekeeper) acknowledged(ts string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.mentions[ts]
}

// opened tells whether a click brought a form.
func (k *timekeeper) opened(trigger string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.forms[trigger]
}

func (k *timekeeper) fill(r *Report) {
	k.look()
	k.mu.Lock()
	defer k.mu.Unlock()
	slices.Sort(k.acks)
	r.Acks, r.Memory = len(k.acks), slices.Clone(k.memory)
	if n := len(k.acks); n > 0 {
		r.P50, r.P99, r.Most = k.acks[n/2], k.acks[n*99/100], k.acks[n-1]
	}
}
