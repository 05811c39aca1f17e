package slacksim

import (
	"testing"

	"github.com/slack-go/slack/socketmode"
)

// TestAPayloadThatNobodySees: only some acknowledgements may say something.
func TestAPayloadThatNobodySees(t *testing.T) {
	w := start(t, Options{Limits: LimitsOff})
	w.run(t, func(app *socketmode.Client, e socketmode.Event) {
		if e.Request != nil && e.Request.EnvelopeID != "" {
			app.Ack(*e.Request, obj{"text": "hello"})
		}
	})
	alice := w.As("alice").In("C0INC")
	if _, err := alice.Slash(t.Context(), "/reconcile help"); err != nil {
		t.Fatal(err)
	}
	w.ExpectNoFindings(t)
	ts := str(w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": "x", "blocks": seeking})["ts"])
	if _, err := alice.Click(t.Context(), ts, "go"); err != nil {
		t.Fatal(err)
	}
	if _, err := alice.Mention(t.Context(), "@reconcile hello"); err != nil {
		t.Fatal(err)
	}
	w.must(t, "a finding each for the click and the event", func() bool { return len(w.Findings()) == 2 })
	for _, f := range w.Findings() {
		if f.Rule != RuleAckPayload {
			t.Errorf("found %+v", f)
		}
	}
}
