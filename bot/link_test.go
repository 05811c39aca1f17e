package bot

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"reconcilebot/bot/slacksim"
)

// quick makes a bot reconnect without the pauses that spare Slack.
func quick(b *Bot) {
	b.links.settled = 0
	b.links.pause = backoff{Least: 5 * time.Millisecond, Most: 20 * time.Millisecond}
	b.links.pace.burst, b.links.pace.level = 1000, 1000
	b.links.stale = 300 * time.Millisecond
}

func TestConnectionsComeBack(t *testing.T) {
	for _, how := range []slacksim.Disconnect{
		slacksim.DisconnectRefresh, slacksim.DisconnectReset, slacksim.DisconnectClose, slacksim.DisconnectSilent,
	} {
		t.Run(string(how), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, slacksim.Options{})
			r.tune = quick
			r.start()
			last := 0
			for _, c := range r.sim.Connections() {
				last = max(last, c.ID)
			}
			r.sim.Disconnect(how)
			r.wait("two new sockets", func() bool {
				fresh := 0
				for _, c := range r.sim.Connections() {
					if c.ID > last && !c.Spoiled {
						fresh++
					}
				}
				return fresh == 2 && len(r.sim.Connections()) == 2
			})
			r.slash("alice", "inc-1234", "drift web")
			r.card("inc-1234", "web at revision 1")
			if m := r.bot.Metrics(); m.Reconnects < 2 {
				t.Errorf("metrics: %+v", m)
			}
			r.noFindings()
		})
	}
}

// TestAMuteConnectionIsReplaced: pings come on it and envelopes do not, which
// nobody can see. None is used for ever.
func TestAMuteConnectionIsReplaced(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	r.tune = func(b *Bot) {
		quick(b)
		b.links.life, b.links.overlap = 400*time.Millisecond, 50*time.Millisecond
	}
	r.start()
	r.sim.Disconnect(slacksim.DisconnectMute)
	r.wait("sockets that are not mute", func() bool {
		list := r.sim.Connections()
		return len(list) >= 2 && !slices.ContainsFunc(list, func(c slacksim.Connection) bool { return c.Spoiled })
	})
	r.slash("alice", "inc-1234", "drift web")
	r.card("inc-1234", "web at revision 1")
}

// TestWarningIsUsedToOverlap: with Slack's warning the new connections are
// there before the old ones go, and both are listened to.
func TestWarningIsUsedToOverlap(t *testing.T) {
	r := newRig(t, slacksim.Options{Routing: slacksim.RouteRoundRobin})
	r.tune = quick
	r.start()
	r.sim.Disconnect(slacksim.DisconnectWarning)
	r.wait("old and new sockets side by side", func() bool { return len(r.sim.Connections()) == 4 })
	for range 8 {
		r.slash("alice", "inc-1234", "help")
	}
	r.settled()
	r.noFindings()
}

func TestGarbageDoesNotEndAConnection(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	r.start()
	r.sim.Disconnect(slacksim.DisconnectGarbage)
	r.slash("alice", "inc-1234", "help")
	r.slash("alice", "inc-1234", "help")
	r.settled()
	if m := r.bot.Metrics(); m.Reconnects != 0 || m.Sockets != 2 {
		t.Errorf("metrics: %+v", m)
	}
	r.noFindings()
}

// TestWhyNotReady: what is wrong with an installation is told in words that
// say what to do, and Slack is not asked all the time.
func TestWhyNotReady(t *testing.T) {
	cases := map[string]struct {
		spoil func(*rig)
		want  string
	}{
		"the bot token is unknown": {want: "Slack does not know the token", spoil: func(r *rig) {
			r.sim.Fault(slacksim.Rule{Method: "auth.test", Error: "invalid_auth"})
		}},
		"the bot token was revoked": {want: "install the app again", spoil: func(r *rig) { r.sim.Revoke("bot", true) }},
		"the app-level token was revoked": {want: "install the app again", spoil: func(r *rig) {
			r.sim.Revoke("app", true)
		}},
		"the app-level token lacks its scope": {want: "lacks a scope", spoil: func(r *rig) {
			r.sim.Fault(slacksim.Rule{Method: "apps.connections.open", Error: "missing_scope"})
		}},
		"another workspace": {want: "workspace T0HOME, the configuration names T0ELSE", spoil: func(r *rig) {
			r.configure = func(c *Config) { c.Team = "T0ELSE" }
		}},
		"the tokens are swapped": {want: "must begin with xoxb-", spoil: func(r *rig) {
			r.configure = func(c *Config) {
				c.Slack = &Slack{api: c.Slack.api, bot: c.Slack.app, app: c.Slack.bot, http: c.Slack.http}
			}
		}},
		"Slack is down": {want: "503", spoil: func(r *rig) {
			r.sim.Fault(slacksim.Rule{Method: "auth.test", Status: 503})
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, slacksim.Options{})
			c.spoil(r)
			r.launch()
			r.wait("the reason", func() bool {
				ok, why := r.bot.Ready()
				return !ok && strings.Contains(why, c.want)
			})
			if n := len(r.sim.Calls()); n > 6 {
				t.Errorf("%d calls in no time", n)
			}
		})
	}
}

func TestSocketModeSwitchedOff(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	r.start()
	r.sim.Disconnect(slacksim.DisconnectLinkOff)
	r.wait("the reason", func() bool {
		ok, why := r.bot.Ready()
		return !ok && strings.Contains(why, "Socket Mode is switched off")
	})
	r.noFindings()
}

// TestTokensAreReadAgain: a token that is renewed while the bot runs is used.
func TestTokensAreReadAgain(t *testing.T) {
	now := "xoxb-one"
	s, err := NewSlack(SlackConfig{BotToken: func() (string, error) { return now, nil }, AppToken: give("xapp-1")})
	if err != nil {
		t.Fatal(err)
	}
	first, err := s.use()
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := s.use(); again != first {
		t.Error("a new client for the same tokens")
	}
	now = "xoxb-two"
	if second, _ := s.use(); second == first {
		t.Error("the old client for a new token")
	}
}

func TestOpenPace(t *testing.T) {
	now := time.Unix(1000, 0)
	p := newOpenPace(func() time.Time { return now }, 1)
	var waits []time.Duration
	for range 6 {
		waits = append(waits, p.take())
	}
	for i, want := range []time.Duration{0, 0, 0, 0, openEvery, 2 * openEvery} {
		if waits[i] != want {
			t.Errorf("call %d waits %s, want %s", i, waits[i], want)
		}
	}
	now = now.Add(10 * time.Minute)
	if d := p.take(); d != 0 {
		t.Errorf("after ten minutes: %s", d)
	}
}

// TestOperatorsTroubleIsAskedForLessAndLess: a hello between two refusals
// changes nothing, and many bots do not come back in one moment.
// https://github.com/mangowhoiscloud/geode/pull/3006
func TestOperatorsTroubleIsAskedForLessAndLess(t *testing.T) {
	l := newLinks(Config{Log: slog.New(slog.DiscardHandler), Hurry: 1}, nil, newHealth(), newMeters())
	firsts := map[time.Duration]bool{}
	for range 5 {
		pause, setup := l.pause, l.setup
		var waits []time.Duration
		for range 5 {
			waits = append(waits, l.after(0, "too_many_websockets", nil, time.Second, &pause, &setup))
		}
		if waits[0] < setupPause || waits[1] < 2*setupPause || waits[1] <= waits[0] || waits[4] < 4*setupPause*2/3-1 {
			t.Errorf("waits of %s", waits)
		}
		firsts[waits[0]] = true
	}
	if len(firsts) < 2 {
		t.Error("each waits equally long")
	}
}

func TestBackoff(t *testing.T) {
	b := backoff{Least: time.Second, Most: 8 * time.Second}
	for i, most := range []time.Duration{1, 2, 4, 8, 8, 8} {
		most *= time.Second
		if d := b.next(); d > most || d < most-most/3-1 {
			t.Errorf("pause %d: %s, want up to a third below %s", i, d, most)
		}
	}
	b.reset()
	if d := b.next(); d > time.Second {
		t.Errorf("after a reset: %s", d)
	}
}

func TestLinger(t *testing.T) {
	parent, cancel := context.WithCancel(t.Context())
	ctx, stop := linger(parent, 20*time.Millisecond)
	defer stop()
	cancel()
	if ctx.Err() != nil {
		t.Error("ended at once")
	}
	<-ctx.Done()
}

// TestTokensOfTwoApps: commands would come to one app and be answered by
// another.
func TestTokensOfTwoApps(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	r.sim.Fault(slacksim.Rule{Method: "bots.info", Body: `{"ok":true,"bot":{"id":"B0APP","app_id":"A0OTHER"}}`})
	r.launch()
	r.wait("the reason", func() bool {
		ok, why := r.bot.Ready()
		return !ok && strings.Contains(why, "A0OTHER") && strings.Contains(why, "A0APP")
	})
	r.noFindings()
}
