package bot

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"reconcilebot/bot/slacksim"
	"reconcilebot/state"
)

// TestCardSurvivesBadAnswers: whatever happens to the call that posts a card,
// the channel ends with one card.
func TestCardSurvivesBadAnswers(t *testing.T) {
	post := func(r slacksim.Rule) slacksim.Rule { r.Method, r.Times = "chat.postMessage", 1; return r }
	cases := map[string]slacksim.Rule{
		"posted, the answer lost":                post(slacksim.Rule{DropAnswer: true}),
		"the connection reset before anything":   post(slacksim.Rule{Reset: true}),
		"asked to wait a second":                 post(slacksim.Rule{Status: 429, RetryAfter: 1}),
		"an error page":                          post(slacksim.Rule{Status: 502, Body: "<html>bad gateway</html>"}),
		"no JSON":                                post(slacksim.Rule{Body: "<html>"}),
		"ok is false and no reason":              post(slacksim.Rule{Body: `{"ok":false}`}),
		"ok is true and no timestamp":            post(slacksim.Rule{Body: `{"ok":true}`}),
		"an internal error of Slack":             post(slacksim.Rule{Error: "internal_error"}),
		"rate limited, said with status 200":     post(slacksim.Rule{Error: "service_unavailable"}),
		"the channel's look-up fails once":       {Method: "conversations.info", Times: 1, Status: 503},
		"posted, lost, and the search fails too": post(slacksim.Rule{DropAnswer: true}),
	}
	for name, rule := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := slacksim.Options{Limits: slacksim.LimitsOff}
			if rule.Status == 429 {
				opts.Limits = slacksim.LimitsRealistic
			}
			r := newRig(t, opts)
			r.start()
			r.sim.Fault(rule)
			if strings.Contains(name, "search") {
				r.sim.Fault(slacksim.Rule{Method: "conversations.history", Times: 1, Status: 500})
			}
			r.slash("alice", "inc-1234", "drift payments-web")
			r.card("inc-1234", "payments-web at revision 1")
			r.settled()
			if n := len(r.sim.Messages("inc-1234")); n != 1 {
				t.Errorf("%d messages, want 1", n)
			}
			r.noFindings()
		})
	}
}

// TestNoticesSurviveBadAnswers: the thread has every notice once, in order.
func TestNoticesSurviveBadAnswers(t *testing.T) {
	for name, rule := range map[string]slacksim.Rule{
		"posted, the answer lost": {Method: "chat.postMessage", Nth: 1, DropAnswer: true},
		"reset":                   {Method: "chat.postMessage", Nth: 1, Reset: true},
		"an error page":           {Method: "chat.postMessage", Nth: 2, Status: 500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, slacksim.Options{Limits: slacksim.LimitsOff})
			r.start()
			r.slash("alice", "inc-1234", "drift payments-web")
			m := r.card("inc-1234", "revision 1")
			r.sim.Fault(rule)
			if _, err := r.sim.As("bob").In("inc-1234").Click(t.Context(), m.TS, "approve"); err != nil {
				t.Fatal(err)
			}
			r.card("inc-1234", "revision 2")
			r.settled()
			want := []string{"notice: approved", "notice: closed"}
			if got := threadTexts(r.sim.Thread("inc-1234", m.TS)); !slices.Equal(got, want) {
				t.Errorf("thread: %q, want %q", got, want)
			}
			r.noFindings()
		})
	}
}

// change moves a reconciliation on, as the engine does.
func (r *rig) change(id state.ReconciliationID) {
	r.t.Helper()
	if _, err := r.db.Change(id, func(*state.Reconciliation, time.Time) ([]state.Said, error) { return nil, nil }); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) onlyRun() state.Reconciliation {
	r.t.Helper()
	list, err := r.db.Unclosed()
	if err != nil || len(list) != 1 {
		r.t.Fatalf("reconciliations: %v, %v; want one", list, err)
	}
	return list[0]
}

func TestCardThatCannotBeEditedIsReplaced(t *testing.T) {
	for _, code := range []string{"message_not_found", "cant_update_message", "edit_window_closed", "block_mismatch"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, slacksim.Options{Limits: slacksim.LimitsOff})
			r.start()
			r.slash("alice", "inc-1234", "drift payments-web")
			old := r.card("inc-1234", "revision 1")
			r.settled()
			r.sim.Fault(slacksim.Rule{Method: "chat.update", Error: code, Times: 1})
			r.change(r.onlyRun().ID)
			m := r.card("inc-1234", "revision 2")
			if m.TS == old.TS {
				t.Fatal("the card was edited, not replaced")
			}
			r.settled()
			r.change(r.onlyRun().ID)
			if again := r.card("inc-1234", "revision 3"); again.TS != m.TS {
				t.Error("the replacement was not remembered")
			}
			r.settled()
			r.noFindings()
		})
	}
}

// TestReplacementLostOnTheWay: the search for a replacement must not find what
// it replaces.
func TestReplacementLostOnTheWay(t *testing.T) {
	r := newRig(t, slacksim.Options{Limits: slacksim.LimitsOff})
	r.start()
	r.slash("alice", "inc-1234", "drift payments-web")
	old := r.card("inc-1234", "revision 1")
	r.settled()
	r.sim.Fault(slacksim.Rule{Method: "chat.update", Error: "edit_window_closed", Times: 1})
	r.sim.Fault(slacksim.Rule{Method: "chat.postMessage", DropAnswer: true, Times: 1})
	r.change(r.onlyRun().ID)
	m := r.card("inc-1234", "revision 2")
	r.settled()
	if n := len(r.sim.Messages("inc-1234")); n != 2 || m.TS == old.TS {
		t.Errorf("%d messages, the last %s; want the old and one new", n, m.TS)
	}
	r.noFindings()
}

func TestThreadWhoseCardWasDeleted(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	r.start()
	r.slash("alice", "inc-1234", "drift payments-web")
	old := r.card("inc-1234", "revision 1")
	r.settled()
	r.delete("C0INC", old.TS)
	id := r.onlyRun().ID
	if _, err := r.db.Change(id, func(*state.Reconciliation, time.Time) ([]state.Said, error) {
		return []state.Said{{Notice: "approved"}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	r.settled()
	m, err := r.db.Message(cardKey(id))
	if err != nil || m.TS == old.TS {
		t.Fatalf("card at %+v, %v; want a new one", m, err)
	}
	r.noFindings()
}

// delete removes one of the bot's messages, as an administrator would.
func (r *rig) delete(channel, ts string) {
	r.t.Helper()
	resp, err := http.PostForm(r.api+"chat.delete", url.Values{"token": {r.sim.BotToken()}, "channel": {channel}, "ts": {ts}})
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	if raw, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(raw), `"ok":true`) {
		r.t.Fatalf("delete: %s %v", raw, err)
	}
}

// TestClosedChannels: what can't be posted is said to the one who asked, kept,
// and posted as soon as it can be.
func TestClosedChannels(t *testing.T) {
	cases := map[string]struct {
		channel, advice string
		open            func(*rig) error
	}{
		"the bot is not in the channel": {"outside", "Invite me", func(r *rig) error {
			err := r.sim.As("alice").In("outside").Invite("reconcile")
			r.bot.intake.hear(news{Type: "member_joined_channel", Channel: "C0OUT"})
			return err
		}},
		"a private channel without the bot": {"private", "Invite me", func(r *rig) error {
			if err := r.sim.As("alice").In("private").Invite("reconcile"); err != nil {
				return err
			}
			_, err := r.sim.As("alice").In("private").Slash(r.t.Context(), "/reconcile nothing")
			return err // whatever anybody does there has the channel tried again
		}},
		"shared with another organisation": {"two", "shared with another organisation", func(r *rig) error {
			err := r.sim.SetChannel("two", func(c *slacksim.Channel) { c.ExtShared = false })
			r.bot.cfg.Directory.forgetRoom("C0TWO")
			r.bot.outbox.reopen("C0TWO")
			return err
		}},
		"archived meanwhile": {"archived", "archived", func(r *rig) error {
			err := r.sim.SetChannel("archived", func(c *slacksim.Channel) { c.Archived = false })
			r.bot.outbox.reopen("C0ARCH")
			return err
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, slacksim.Options{})
			r.start()
			if c.channel == "two" {
				if err := r.sim.SetChannel("two", func(c *slacksim.Channel) { c.ExtShared = true }); err != nil {
					t.Fatal(err)
				}
			}
			if c.channel == "archived" {
				r.app.mu.Lock()
				r.app.hold = make(chan struct{})
				r.app.mu.Unlock()
			}
			r.slash("alice", c.channel, "drift payments-web")
			if c.channel == "archived" {
				if err := r.sim.SetChannel("archived", func(c *slacksim.Channel) { c.Archived = true }); err != nil {
					t.Fatal(err)
				}
				close(r.app.hold)
			}
			r.wait("the advice", func() bool {
				for _, m := range r.sim.Ephemerals("alice", c.channel) {
					if strings.Contains(m.Text, c.advice) {
						return true
					}
				}
				return false
			})
			if n := len(r.sim.Messages(c.channel)); n != 0 {
				t.Fatalf("%d messages in the channel", n)
			}
			if err := c.open(r); err != nil {
				t.Fatal(err)
			}
			r.card(c.channel, "payments-web at revision")
			r.settled()
			if n := len(r.sim.Ephemerals("alice", c.channel)); n != 1 {
				t.Errorf("advised %d times", n)
			}
			r.noFindings()
		})
	}
}

func TestBlocksThatSlackRefusesBecomeText(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	r.start()
	r.slash("alice", "inc-1234", "drift too-long")
	m := r.card("inc-1234", "too-long at revision 1")
	if len(m.Blocks) != 0 {
		t.Error("the refused blocks were shown")
	}
	r.settled()
	r.noFindings()
}

// TestManyChangesAreFewEdits: edits are coalesced, and the last one wins.
func TestManyChangesAreFewEdits(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	r.start()
	r.slash("alice", "inc-1234", "drift payments-web")
	r.card("inc-1234", "revision 1")
	id := r.onlyRun().ID
	for range 40 {
		r.change(id)
	}
	m := r.card("inc-1234", "revision 41")
	r.settled()
	if m.Versions > 8 {
		t.Errorf("%d versions of the card for 40 changes within a second", m.Versions)
	}
	r.noFindings()
}

func TestSecretsAreCutOut(t *testing.T) {
	r := newRig(t, slacksim.Options{Canaries: []string{"hunter2"}})
	r.configure = func(c *Config) {
		c.Redact = func(s string) string { return strings.ReplaceAll(s, "hunter2", "…") }
	}
	r.start()
	r.slash("alice", "inc-1234", "drift hunter2")
	r.card("inc-1234", "… at revision 1")
	r.settled()
	r.noFindings()
}
