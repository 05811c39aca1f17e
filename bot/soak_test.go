package bot

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"reconcilebot/bot/slacksim"
)

// TestEveryoneAtOnce: a hundred commands while connections come and go; each
// that Slack says was taken is done, once.
func TestEveryoneAtOnce(t *testing.T) {
	r := newRig(t, slacksim.Options{Limits: slacksim.LimitsOff})
	r.tune = quick
	r.start()
	var wg sync.WaitGroup
	taken := make(chan struct{}, 200)
	for i := range 100 {
		who, where := []string{"alice", "bob"}[i%2], []string{"inc-1234", "two"}[i/2%2]
		wg.Go(func() {
			_, err := r.sim.As(who).In(where).Slash(t.Context(), fmt.Sprintf("/reconcile drift web-%d", i))
			if err == nil {
				taken <- struct{}{}
			}
		})
		if i%25 == 24 {
			wg.Go(func() { r.sim.Disconnect(slacksim.DisconnectWarning) })
		}
	}
	wg.Wait()
	r.settled()
	if n := len(taken); n != 100 {
		t.Errorf("%d of 100 commands were taken", n)
	}
	if n := len(r.sim.Messages("inc-1234")) + len(r.sim.Messages("two")); n != 100 {
		t.Errorf("%d cards, want 100", n)
	}
	if m := r.sim.Metrics(); m.AckMax > 2*time.Second {
		t.Errorf("acknowledgements: median %s, most %s", m.AckMedian, m.AckMax)
	}
	if m := r.bot.Metrics(); m.Posted != 100 || m.Missed != 0 {
		t.Errorf("metrics: %+v", m)
	}
	r.noFindings()
}
