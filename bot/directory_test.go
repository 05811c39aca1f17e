package bot

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/slack-go/slack"
	"golang.org/x/sync/errgroup"

	"reconcilebot/bot/slacksim"
)

// TestDirectoryKeepsAnswersForAMinute, but not that it is shut out of a
// channel: that is being mended as we speak.
func TestDirectoryKeepsAnswersForAMinute(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	now := time.Unix(1e9, 0)
	api, err := NewSlack(SlackConfig{API: r.api, BotToken: give(r.sim.BotToken()), AppToken: give(r.sim.AppToken())})
	if err != nil {
		t.Fatal(err)
	}
	d := NewDirectory(api, func() time.Time { return now })
	isGuest := func() bool {
		t.Helper()
		m, err := d.Member(t.Context(), "U0BOB", "T0HOME")
		if err != nil {
			t.Fatal(err)
		}
		return m.Guest
	}
	if isGuest() {
		t.Error("bob is no guest yet")
	}
	if err := r.sim.SetUser("U0BOB", func(u *slacksim.User) { u.Guest = true }); err != nil {
		t.Fatal(err)
	}
	if isGuest() {
		t.Error("looked up again within a minute")
	}
	now = now.Add(lookupLife)
	if !isGuest() {
		t.Error("still not looked up after a minute")
	}
	r.sim.Fault(slacksim.Rule{Method: "users.info", Status: 500})
	now = now.Add(lookupLife)
	if _, err := d.Member(t.Context(), "U0BOB", "T0HOME"); err == nil {
		t.Error("an old answer stood in for an error")
	}

	for i, want := range []bool{false, true} {
		room, err := d.Room(t.Context(), "C0OUT")
		if err != nil || room.IsMember != want {
			t.Fatalf("look-up %d: %+v %v", i, room, err)
		}
		if err := r.sim.As("alice").In("outside").Invite("reconcile"); err != nil {
			t.Fatal(err)
		}
	}
	if room, err := d.Room(t.Context(), "C0NOWHERE"); err != nil || room.IsMember {
		t.Errorf("a channel that is not there: %+v %v", room, err)
	}
}

// Those who ask at the same time wait for each other where Slack lets one call
// through at a time: nobody is turned away because others were quicker.
func TestLookupsQueueWhereSlackLimitsThem(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	api, err := NewSlack(SlackConfig{API: r.api, BotToken: give(r.sim.BotToken()), AppToken: give(r.sim.AppToken())})
	if err != nil {
		t.Fatal(err)
	}
	d := NewDirectory(api, nil)
	const every = 50 * time.Millisecond
	var mu sync.Mutex
	var next time.Time
	limited := func(*slack.Client) error {
		mu.Lock()
		defer mu.Unlock()
		if wait := time.Until(next); wait > 0 {
			return &slack.RateLimitedError{RetryAfter: wait}
		}
		next = time.Now().Add(every)
		return nil
	}
	var all errgroup.Group
	for range 12 {
		all.Go(func() error { return d.ask(t.Context(), "conversations.info", limited) })
	}
	if err := all.Wait(); err != nil {
		t.Error(err)
	}
	if d.queues.forming("conversations.info") {
		t.Error("somebody is still in the queue")
	}
}

// Who gives up makes room, and is told what Slack would have told him.
func TestLeavingAQueue(t *testing.T) {
	var q queues
	leave, err := q.join(t.Context(), "m")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("no time left"))
	if _, err := q.join(ctx, "m"); err == nil || err.Error() != "no time left" {
		t.Errorf("in spite of the end of time: %v", err)
	}
	leave()
	if q.forming("m") {
		t.Error("an empty queue is kept")
	}
}
