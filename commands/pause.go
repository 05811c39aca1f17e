package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"reconcilebot/commands/access"
	"reconcilebot/commands/card"
	"reconcilebot/runbook"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
	"reconcilebot/state"
)

// halt wants a target paused, prolong a pause extended, resume it ended.
type (
	halt struct {
		target  string
		lasts   time.Duration
		parents bool
		reason  string
	}
	prolong struct {
		target string
		by     time.Duration
		reason string
	}
	resume struct{ target, reason string }
)

// Bounds on how long a pause may last from now. What is paused for longer is
// not an emergency any more; it can be extended.
const (
	leastPause = 10 * time.Second
	mostPause  = 24 * time.Hour
	// byButton is how much the button extends a pause by.
	byButton = 30 * time.Minute
)

const (
	pauseUsage   = "pause TARGET 45m [with parents] because …"
	pauseExample = "pause payments-web 45m because the queue has to drain first"
)

func parsePause(w words) (act, error) {
	h := halt{reason: w.reason}
	if n := len(w.list); n == 4 && strings.EqualFold(w.list[2], "with") && strings.EqualFold(w.list[3], "parents") {
		h.parents, w.list = true, w.list[:2]
	}
	if len(w.list) != 2 {
		return nil, usage(pauseUsage, pauseExample)
	}
	if h.reason == "" {
		return nil, fault.New(fault.Invalid, "Say why, for those who find it paused and for the record. For example: /reconcile "+pauseExample)
	}
	h.target = w.list[0]
	var err error
	h.lasts, err = length(w.list[1])
	return h, err
}

func parseExtend(w words) (act, error) {
	if len(w.list) != 2 {
		return nil, usage("extend TARGET 30m [because …]", "extend payments-web 30m")
	}
	by, err := length(w.list[1])
	return prolong{target: w.list[0], by: by, reason: w.reason}, err
}

func parseResume(w words) (act, error) {
	if len(w.list) != 1 {
		return nil, usage("resume TARGET [because …]", "resume payments-web")
	}
	return resume{w.list[0], w.reason}, nil
}

// length reads how long something is to last, as people write it: 45m, 1h30m,
// 90s, or 45 alone, which is minutes.
func length(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		if d, err = time.ParseDuration(text + "m"); err != nil {
			return 0, fault.New(fault.Invalid, fmt.Sprintf("%q is not a length of time. Write it like 45m or 1h30m.", text))
		}
	}
	if d < leastPause || d > mostPause {
		return 0, fault.New(fault.Invalid, fmt.Sprintf("A pause lasts from %s to %s. It can be extended.", leastPause, "24 hours"))
	}
	return d, nil
}

func (h halt) about() string    { return h.target }
func (p prolong) about() string { return p.target }
func (r resume) about() string  { return r.target }

func (h halt) run(ctx context.Context, c *Commands, call call) (Reply, error) {
	in, err := c.incident(call.Room)
	if err != nil {
		return Reply{}, err
	}
	var parents []string
	if h.parents {
		if parents, err = c.ancestors(ctx, call); err != nil {
			return Reply{}, err
		}
	}
	now := c.Now().UTC()
	r, joined, err := c.Engine.Pause(
		runbook.Opening{ID: mint(call, "pause"), Incident: in.ID, Room: call.Room, Target: call.on.Target.String(), By: call.by.Person}, book.Pause,
		state.Pause{By: call.by.Person, Reason: h.reason, From: now, Until: now.Add(h.lasts), Parents: parents}, call.Delivery.ID)
	if err != nil {
		return Reply{}, err
	}
	if joined {
		return Reply{}, fault.New(fault.Conflict, fmt.Sprintf("%s is paused already, by %s for %s, until %s. Extend it with /reconcile extend %s 30m.",
			call.on.Name, r.Pause.By.Name, r.Incident, r.Pause.Until.Format("15:04 UTC"), call.on.Name))
	}
	return Reply{}, nil
}

// ancestors are the Applications above a target, nearest first, all of which
// may be paused by whoever asks.
func (c *Commands) ancestors(ctx context.Context, call call) (list []string, err error) {
	all, _ := c.targets.all(ctx)
	for at := call.on.TargetInfo; ; {
		name, found := strings.CutPrefix(at.Owner, "Application ")
		_, plain, qualified := strings.Cut(name, "_")
		if qualified {
			name = plain
		}
		i := slices.IndexFunc(all, func(t drift.TargetInfo) bool {
			return t.Cluster == at.Cluster && t.Kind == drift.Application && t.Name == name
		})
		if !found || i < 0 || slices.Contains(list, all[i].Target.String()) {
			return list, nil
		}
		at = all[i]
		if err := c.allow(ctx, call.by, access.Pause, at); err != nil {
			return nil, err
		}
		list = append(list, at.Target.String())
	}
}

// pauseOf finds the pause of a target.
func (c *Commands) pauseOf(t drift.Target) (state.Reconciliation, error) {
	r, err := c.DB.Holding(state.PauseLease(t.String()))
	if errors.Is(err, state.ErrNotFound) {
		return r, &fault.Error{Kind: fault.Invalid, Err: err,
			Say: fmt.Sprintf("%s is not paused by reconcilebot. /reconcile status %s says how it stands.", t.Name, t.Name)}
	}
	return r, err
}

func (p prolong) run(_ context.Context, c *Commands, call call) (Reply, error) {
	r, err := c.pauseOf(call.on.Target)
	if err != nil {
		return Reply{}, err
	}
	return Reply{}, c.extend(r, call.by, call.Delivery.ID, p.by, p.reason)
}

// extend moves the end of a pause, counted from its end, or from now if that
// is over.
func (c *Commands) extend(r state.Reconciliation, by asker, act state.DeliveryID, d time.Duration, reason string) error {
	now := c.Now().UTC()
	until := r.Pause.Until
	if until.Before(now) {
		until = now
	}
	if until = until.Add(d); until.After(now.Add(mostPause)) {
		return fault.New(fault.Invalid, "A pause can't end more than 24 hours from now. Extend it by less, and again later.")
	}
	_, err := c.Engine.Extend(r.ID, state.Extension{By: by.Person, Reason: reason, Until: until, Delivery: act})
	return err
}

func (w resume) run(_ context.Context, c *Commands, call call) (Reply, error) {
	r, err := c.pauseOf(call.on.Target)
	if err != nil {
		return Reply{}, err
	}
	_, err = c.Engine.Resume(r.ID, state.Decision{By: call.by.Person, Reason: w.reason, Delivery: call.Delivery.ID})
	if err != nil || r.Room == call.Room {
		return Reply{}, err
	}
	m := card.Answer(fmt.Sprintf("%s is being resumed. Its card is in the channel of %s.", call.on.Name, r.Incident))
	return Reply{Ephemeral: &m}, nil
}

// clickedPause answers a button of a pause's card.
func (c *Commands) clickedPause(ctx context.Context, k clicked, req Request) (Reply, error) {
	if k.run.Pause == nil {
		return Reply{}, fault.New(fault.Invalid, "This button belongs to no pause.")
	}
	switch req.Action {
	case card.ActionExtend:
		return Reply{}, c.extend(k.run, k.by, req.Delivery.ID, byButton, "")
	case card.ActionResume:
		_, err := c.Engine.Resume(k.run.ID, state.Decision{By: k.by.Person, Delivery: req.Delivery.ID})
		return Reply{}, err
	}
	req.Room = k.run.Room
	return look{k.target.Name}.run(ctx, c, call{Request: req, by: k.by, on: onTarget{k.target}})
}

// askPause opens the modal that asks how long, and why.
func (c *Commands) askPause(k clicked) (Reply, error) {
	if r, err := c.DB.Holding(state.PauseLease(k.target.String())); err == nil {
		return Reply{}, fault.New(fault.Conflict, fmt.Sprintf("%s is paused already, by %s, until %s. Its card is in the channel of %s.", k.target.Name, r.Pause.By.Name, r.Pause.Until.Format("15:04 UTC"), r.Incident))
	}
	return Reply{Modal: card.AskPause(k.target.Short(), card.Carry(k.run.ID, k.digest, card.ActionPause))}, nil
}

// paused answers that modal.
func (c *Commands) paused(ctx context.Context, k clicked, req Request) (Reply, error) {
	d, err := length(lasts(req.View))
	if err != nil {
		return Reply{}, err
	}
	req.Room = k.run.Room
	return halt{target: k.target.Name, lasts: d, reason: why(req.View)}.run(ctx, c, call{Request: req, by: k.by, on: onTarget{k.target}})
}

// lasts is the length that was typed into the modal.
func lasts(v View) string { return strings.TrimSpace(visible(spaces(v.Values[card.BlockLength]))) }

// standing is what is open about a target, and what others did to it.
func (c *Commands) standing(ctx context.Context, t drift.TargetInfo) (card.Standing, error) {
	var is card.Standing
	for lease, into := range map[string]**state.Reconciliation{t.Target.String(): &is.Run, state.PauseLease(t.Target.String()): &is.Pause} {
		r, err := c.DB.Holding(lease)
		if errors.Is(err, state.ErrNotFound) {
			continue
		}
		if err != nil {
			return is, err
		}
		*into = &r
	}
	if c.Foreign == nil {
		return is, nil
	}
	others, err := c.Foreign(ctx, t.Target, is.Pause != nil)
	if err != nil {
		others = []string{"Whether somebody else keeps it from being reconciled can't be seen now."}
		c.Log.Warn("pauses of others can't be seen", "target", t.Target.String(), "err", err)
	}
	is.Others = others
	return is, nil
}
