package slacksim

import (
	"errors"
	"testing"
	"time"
)

// TestMishapsAreNoFindings: what Slack or the network loses is not the app's
// fault, and an envelope that comes twice is another envelope.
func TestMishapsAreNoFindings(t *testing.T) {
	cases := map[string]struct {
		mishap func(*Sim)
		want   error
	}{
		"swallowed": {func(s *Sim) { s.Fault(Rule{Envelope: kindCommand, Swallow: true}) }, ErrOperationTimeout},
		"too late":  {func(s *Sim) { s.Fault(Rule{Envelope: kindCommand, Delay: 400 * time.Millisecond}) }, ErrOperationTimeout},
		"mute":      {func(s *Sim) { s.Disconnect(DisconnectMute) }, ErrOperationTimeout},
		"twice":     {func(s *Sim) { s.Fault(Rule{Envelope: kindCommand, Twice: true}) }, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, Options{AckWindow: 200 * time.Millisecond})
			conn := w.connect(t, 1)
			got := make(chan string, 4)
			go func() {
				for {
					var o obj
					if conn.ReadJSON(&o) != nil || conn.WriteJSON(obj{"envelope_id": o["envelope_id"]}) != nil {
						return
					}
					got <- str(o["envelope_id"])
				}
			}()
			c.mishap(w.Sim)
			_, err := w.As("alice").In("C0INC").Slash(t.Context(), "/reconcile status")
			if !errors.Is(err, c.want) {
				t.Errorf("the person sees %v, want %v", err, c.want)
			}
			if name == "twice" {
				if a, b := <-got, <-got; a == b {
					t.Errorf("both have the id %s", a)
				}
			}
			w.ExpectNoFindings(t)
		})
	}
}
