package lookout

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"reconcilebot/runbook"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
	"reconcilebot/state"
)

// speak brings what is new about a target into its channel. news are the ids
// of audited writes; none means that the target has been out of sync for long.
func (l *Lookout) speak(ctx context.Context, t drift.Target, news []string) error {
	said, err := l.said(t)
	if err != nil {
		return err
	}
	news = slices.DeleteFunc(slices.Clone(news), func(id string) bool { return said[id] })
	open, err := l.DB.Holding(t.String())
	switch {
	case err == nil:
		if len(news) == 0 {
			return nil
		}
		l.repeat(t, open)
		return l.say(t, news...)
	case !errors.Is(err, state.ErrNotFound):
		return err
	}
	if _, err := l.DB.Holding(state.PauseLease(t.String())); err == nil {
		// Whoever paused it looks after it: the pause's card tells what differs.
		return nil
	}
	in, ok, err := l.where(t)
	if err != nil || !ok {
		return err
	}
	seen, err := l.Look(ctx, t.String())
	if err != nil {
		return err
	}
	d := seen.Drift
	digest := "digest:" + d.Digest
	if d.Refused != "" || len(d.Changes)+len(d.Own) == 0 || len(news) == 0 && said[digest] {
		return l.say(t, news...)
	}
	if !l.mayOpen(in.Room) {
		l.Log.Warn("a channel has had enough new cards for now", "channel", in.Room, "target", t.String())
		return nil
	}
	found, err := json.Marshal(seen)
	if err != nil {
		return fmt.Errorf("keep what was found in %s: %w", t, err)
	}
	sum := sha256.Sum256([]byte(t.String() + digest + fmt.Sprint(news)))
	id := state.ReconciliationID("r-seen-" + hex.EncodeToString(sum[:8]))
	if _, _, err := l.Engine.Open(runbook.Opening{ID: id, Incident: in.ID, Room: in.Room, Target: t.String(), By: state.Person{Name: Name}, Found: found}); err != nil {
		return err
	}
	if passing(d) {
		l.lookLater(t)
	}
	return l.say(t, append(news, digest)...)
}

// passing tells whether something is about to be undone: then the card will
// have to say that it was.
func passing(d drift.Drift) bool {
	return slices.ContainsFunc(d.Changes, func(c drift.Change) bool {
		return c.Outlook.Kind == drift.SelfHeal || c.Outlook.Kind == drift.Syncing || c.Outlook.Kind == drift.MovedHead
	})
}

// repeat has an open card looked at again, unless somebody decided already.
func (l *Lookout) repeat(t drift.Target, r state.Reconciliation) {
	_, err := l.Engine.Again(r.ID, state.Person{Name: Name})
	if err != nil && fault.Of(err) != fault.Conflict {
		l.Log.Warn("a card was not looked at again", "target", t.String(), "run", r.ID, "err", err)
	}
}

func (l *Lookout) lookLater(t drift.Target) {
	l.mu.Lock()
	l.again[t] = l.Now().Add(l.Healing)
	l.mu.Unlock()
	l.poke()
}

// due looks again at what was about to be undone, and says when the next such
// look is.
func (l *Lookout) due(context.Context) (next time.Duration, ok bool) {
	l.mu.Lock()
	var now []drift.Target
	for t, at := range l.again {
		left := at.Sub(l.Now())
		if left <= 0 {
			now = append(now, t)
			delete(l.again, t)
		} else if !ok || left < next {
			next, ok = left, true
		}
	}
	l.mu.Unlock()
	for _, t := range now {
		if r, err := l.DB.Holding(t.String()); err == nil && !r.Decided() {
			l.repeat(t, r)
		}
	}
	return next, ok
}

// said lists what has been said of a target. It is on disk, so that nothing is
// said again after a restart.
func (l *Lookout) said(t drift.Target) (map[string]bool, error) {
	facts, err := l.DB.Facts(saidKey(t))
	said := map[string]bool{}
	for _, f := range facts {
		said[f.ID] = true
	}
	return said, err
}

func (l *Lookout) say(t drift.Target, ids ...string) error {
	var facts []state.Fact
	for _, id := range ids {
		facts = append(facts, state.Fact{Object: saidKey(t), ID: id, At: l.Now(), Data: json.RawMessage("{}")})
	}
	if len(facts) == 0 {
		return nil
	}
	return l.DB.Learn(facts)
}

func saidKey(t drift.Target) string { return "said|" + t.String() }

// where finds the incident that a target's change belongs to: the one that has
// dealt with the target, else the one whose channel the configuration names
// for it. ok is false where there is none.
func (l *Lookout) where(t drift.Target) (in state.Incident, ok bool, err error) {
	all, err := l.DB.OpenIncidents()
	if err != nil {
		return in, false, err
	}
	for _, in := range slices.Backward(all) {
		runs, err := l.DB.OfIncident(in.ID)
		if err != nil {
			return in, false, err
		}
		if slices.ContainsFunc(runs, func(r state.Reconciliation) bool { return r.Target == t.String() }) {
			return in, true, nil
		}
	}
	if room := l.Channel(t); room != "" {
		i := slices.IndexFunc(all, func(in state.Incident) bool { return in.Room == room })
		if i < 0 {
			l.Log.Info("a change by hand, and its channel is bound to no incident", "target", t.String(), "channel", room)
			return in, false, nil
		}
		return all[i], true, nil
	}
	return in, false, nil
}

// A channel gets no more than so many new cards in such a time.
const (
	mostCards = 10
	cardsIn   = 10 * time.Minute
)

func (l *Lookout) mayOpen(room state.Room) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	since := l.Now().Add(-cardsIn)
	l.fresh[room] = slices.DeleteFunc(l.fresh[room], func(at time.Time) bool { return at.Before(since) })
	if len(l.fresh[room]) >= mostCards {
		return false
	}
	l.fresh[room] = append(l.fresh[room], l.Now())
	return true
}
