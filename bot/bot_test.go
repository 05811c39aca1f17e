package bot

import (
	"slices"
	"strings"
	"testing"
	"time"

	"reconcilebot/bot/slacksim"
	"reconcilebot/commands"
)

func TestMainJobOnTheWire(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	r.start()
	inv := r.slash("alice", "inc-1234", "drift payments-web")
	if inv.AckLatency > 500*time.Millisecond {
		t.Errorf("acknowledged after %s", inv.AckLatency)
	}
	m := r.card("inc-1234", "payments-web at revision 1")

	if _, err := r.sim.As("alice").In("inc-1234").Click(t.Context(), m.TS, "adopt"); err != nil {
		t.Fatal(err)
	}
	r.wait("the modal", func() bool { return r.sim.View("alice") != nil })
	v := r.sim.View("alice")
	sub, err := r.sim.As("alice").Submit(t.Context(), v.ID, map[string]string{"reason": "x"})
	if err != nil || sub.Errors["reason"] == "" {
		t.Fatalf("a reason of one letter: %v, %v; want an error at the input", sub.Errors, err)
	}
	if sub, err = r.sim.As("alice").Submit(t.Context(), v.ID, map[string]string{"reason": "queue backing up"}); err != nil || len(sub.Errors) > 0 {
		t.Fatalf("submit: %v, %v", sub.Errors, err)
	}
	m = r.card("inc-1234", "at revision 2")
	if _, err := r.sim.As("bob").In("inc-1234").Click(t.Context(), m.TS, "approve"); err != nil {
		t.Fatal(err)
	}
	r.card("inc-1234", "at revision 3")
	r.settled()

	if n := len(r.sim.Messages("inc-1234")); n != 1 {
		t.Errorf("%d messages in the channel, want the one card", n)
	}
	want := []string{"notice: decided", "notice: approved", "notice: closed"}
	if got := threadTexts(r.sim.Thread("inc-1234", m.TS)); !slices.Equal(got, want) {
		t.Errorf("thread: %q, want %q", got, want)
	}
	for _, req := range r.app.requests() {
		if req.Kind == commands.Submit && req.Room != "C0INC" {
			t.Errorf("the modal came back without its channel: %+v", req)
		}
	}
	if got := r.bot.Metrics(); got.Ack.Count < 5 || got.Received != 4 || got.Posted != 4 || got.Sockets != 2 {
		t.Errorf("metrics: %+v", got)
	}
	r.noFindings()
}

func TestAnswers(t *testing.T) {
	cases := map[string]struct{ text, wantEphemeral, wantPublic string }{
		"help is for the one who asks":            {"help", "help for U0ALICE", ""},
		"status is for all":                       {"status", "", "status of everything"},
		"a refusal is said and harmless":          {"denied", "You may not. &lt;!channel&gt; &amp; co. can.", ""},
		"what broke is a reference":               {"broken", "Something broke on my side", ""},
		"a panic is a reference and nothing else": {"panic", "Something broke on my side", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, slacksim.Options{})
			r.start()
			r.slash("alice", "inc-1234", c.text)
			r.wait("the answer", func() bool {
				for _, m := range r.sim.Ephemerals("alice", "inc-1234") {
					if c.wantEphemeral != "" && strings.Contains(m.Text, c.wantEphemeral) {
						return true
					}
				}
				for _, m := range r.sim.Messages("inc-1234") {
					if c.wantPublic != "" && m.Text == c.wantPublic {
						return true
					}
				}
				return false
			})
			r.settled()
			if n := len(r.sim.Messages("inc-1234")); (c.wantPublic == "") != (n == 0) {
				t.Errorf("%d messages in the channel", n)
			}
			r.noFindings()
		})
	}
}

func TestMentionIsAnsweredInItsThread(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	r.start()
	if _, err := r.sim.As("alice").In("inc-1234").Mention(t.Context(), "@reconcile status"); err != nil {
		t.Fatal(err)
	}
	r.wait("the request", func() bool { return len(r.app.requests()) == 1 })
	req := r.app.requests()[0]
	if req.Kind != commands.Mention || req.Text != "status" || req.User != "U0ALICE" || req.Team != "T0HOME" {
		t.Errorf("request: %+v", req)
	}
	r.settled()
	if got := threadTexts(r.sim.Thread("inc-1234", req.Message)); !slices.Equal(got, []string{"status of everything"}) {
		t.Errorf("thread: %q", got)
	}
	r.noFindings()
}
