package bot

import (
	"testing"
	"time"

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
