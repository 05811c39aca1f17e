package bot

import (
	"slices"
	"strings"
	"testing"

	"reconcilebot/bot/slacksim"
	"reconcilebot/commands/card"
)

// TestAChannelGetsANewID: what goes on there goes on, on the same card and in
// the same thread.
func TestAChannelGetsANewID(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	r.start()
	r.slash("alice", "inc-1234", "drift web")
	m := r.card("inc-1234", "web at revision 1")
	r.settled()
	if err := r.sim.SetChannel("inc-1234", func(c *slacksim.Channel) { c.ID = "C0NEW" }); err != nil {
		t.Fatal(err)
	}
	r.wait("the move", func() bool {
		list, err := r.db.Unclosed()
		return err == nil && len(list) == 1 && list[0].Room == "C0NEW"
	})
	r.press(r.sim.As("bob").In("inc-1234"), m, card.ActionApprove)
	r.card("inc-1234", "web at revision 2")
	r.settled()
	if list := r.sim.Messages("C0NEW"); len(list) != 1 || list[0].TS != m.TS {
		t.Errorf("%d messages in the channel, want the one card", len(list))
	}
	if got, want := threadTexts(r.sim.Thread("C0NEW", m.TS)), []string{"notice: approved", "notice: closed"}; !slices.Equal(got, want) {
		t.Errorf("thread: %q, want %q", got, want)
	}
	if key, err := r.db.MessageAt("C0NEW", m.TS); err != nil || !strings.HasPrefix(string(key), "card/") {
		t.Errorf("the card is found as %q, %v", key, err)
	}
	r.noFindings()
}

// TestTheAppIsRemoved: nobody is told that all is well, though the sockets are
// still open, until Slack greets the bot again.
func TestTheAppIsRemoved(t *testing.T) {
	for _, event := range []string{"app_uninstalled", "tokens_revoked"} {
		t.Run(event, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, slacksim.Options{})
			r.tune = quick
			r.start()
			if ok, why := r.bot.Ready(); !ok {
				t.Fatalf("not ready: %s", why)
			}
			r.sim.Emit(event, "", nil)
			r.wait("the bot to see it", func() bool {
				ok, why := r.bot.Ready()
				return !ok && strings.Contains(why, "install it again")
			})
			r.sim.Disconnect(slacksim.DisconnectRefresh)
			r.wait("the bot to be back", func() bool { ok, _ := r.bot.Ready(); return ok })
			r.noFindings()
		})
	}
}
