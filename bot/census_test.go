package bot

import (
	"strings"
	"testing"
	"time"

	"reconcilebot/bot/slacksim"
)

func TestCensus(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := census{now: func() time.Time { return now }}
	c.came()
	c.came()
	if n := c.foreign(2); n != 0 {
		t.Errorf("%d of two connections are foreign, and both are ours", n)
	}
	c.went()
	if n := c.foreign(2); n != 0 {
		t.Errorf("%d are foreign, though Slack may not know yet that one is gone", n)
	}
	now = now.Add(lingering + time.Second)
	if n := c.foreign(2); n != 1 {
		t.Errorf("%d are foreign long after one of ours has gone, want 1", n)
	}
	if n := c.foreign(4); n != 3 {
		t.Errorf("%d of four connections are foreign, and one is ours", n)
	}
	if n := c.foreign(3); n != 3 {
		t.Errorf("%d are foreign, though a count from a moment before may be read late", n)
	}
	now = now.Add(lingering + time.Second)
	if n := c.foreign(1); n != 0 {
		t.Errorf("%d are foreign long after they have gone", n)
	}
}

// TestSomebodyElseListens: two bots with two connections each share people's
// commands at random. https://github.com/slackapi/bolt-js/issues/2112
func TestSomebodyElseListens(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	other, err := NewSlack(SlackConfig{API: r.api, BotToken: give(r.sim.BotToken()), AppToken: give(r.sim.AppToken()), Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	api, err := other.use()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, address, err := api.StartSocketModeContext(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		conn, err := dial(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		go func() { // ends with the connection
			for {
				if _, _, err := conn.ReadMessage(); err != nil {
					return
				}
			}
		}()
	}
	r.wait("the other's sockets", func() bool { return len(r.sim.Connections()) == 2 })
	r.start()
	r.wait("the other to be noticed", func() bool { return r.bot.Metrics().Foreign == 2 })
	if !strings.Contains(r.log.text(), "more connections to Slack than this bot holds") {
		t.Error("nothing is said about it")
	}
}

// TestRenewalIsNobodyElse: old and new connections side by side are the bot's
// own.
func TestRenewalIsNobodyElse(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	r.tune = quick
	r.start()
	r.sim.Disconnect(slacksim.DisconnectWarning)
	r.wait("old and new sockets side by side", func() bool { return len(r.sim.Connections()) == 4 && r.bot.health.sockets() == 4 })
	r.sim.Disconnect(slacksim.DisconnectReset)
	r.wait("two sockets", func() bool { return len(r.sim.Connections()) == 2 && r.bot.health.sockets() == 2 })
	if strings.Contains(r.log.text(), "more connections to Slack") {
		t.Error("the bot takes its own connections for somebody else's")
	}
	r.noFindings()
}
