package bot

import (
	"testing"

	"reconcilebot/bot/slacksim"
	"reconcilebot/commands/card"
)

// TestRefusedUpdate: where Slack takes neither the blocks nor all of the text,
// the old buttons are taken away all the same.
// https://github.com/NousResearch/hermes-agent/pull/35495
func TestRefusedUpdate(t *testing.T) {
	for name, refusals := range map[string][]string{
		"the blocks":         {"invalid_blocks"},
		"the blocks, length": {"invalid_blocks", "msg_too_long"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, slacksim.Options{})
			r.start()
			p := r.bot.outbox.post
			var before card.Message
			for _, n := range card.Gallery() {
				if n.Name == "waiting for approval" {
					before = n.Message
				}
			}
			s, err := p.once(t.Context(), post{key: "card/r-1", room: "C0INC", message: before})
			if err != nil {
				t.Fatal(err)
			}
			for _, code := range refusals {
				r.sim.Fault(slacksim.Rule{Method: "chat.update", Error: code, Times: 1})
			}
			if err := p.edit(t.Context(), "C0INC", s.ts, card.Answer("approved by bob")); err != nil {
				t.Fatal(err)
			}
			m := r.card("inc-1234", "approved by bob")
			if len(m.Buttons()) != 0 {
				t.Errorf("there are still buttons: %+v", m.Buttons())
			}
			// What Slack refuses for another reason is not tried again smaller.
			r.sim.Fault(slacksim.Rule{Method: "chat.update", Error: "message_not_found", Times: 1})
			if err := p.edit(t.Context(), "C0INC", s.ts, before); err == nil || troubleOf(err).Remedy != replace {
				t.Errorf("a message that is gone: %v", err)
			}
			r.noFindings()
		})
	}
}
