package scenario

import (
	"context"
	"fmt"
	"slices"
	"time"

	"reconcilebot/bot/slacksim"
	"reconcilebot/cmd/lab/world"
)

// speakScenarios are those in which the bot speaks first. Their names begin
// with world.SpeaksFirst.
func speakScenarios() []Scenario {
	return []Scenario{
		{Name: "drift-speaks-scale", Does: "a change by hand is in the channel before anybody asks, each time once; printed is how long that takes", play: speaksScale},
		{Name: "drift-speaks-healed", Does: "a fix that self-heal erased is shown and brought back through Git", play: speaksHealed},
		{Name: "drift-speaks-once", Does: "what is nobody's change is not spoken of, and a second change is put on the same card", play: speaksOnce},
	}
}

// unasked waits for a card that nobody asked for, other than the last one.
func (t *story) unasked(says ...string) {
	before := t.card.TS
	t.do("the card that nobody asked for", func(ctx context.Context) (err error) {
		says = append([]string{t.world.App, "Nobody asked"}, says...)
		t.card, err = t.see(ctx, fmt.Sprint("a card that says ", says), func(m slacksim.Message) bool { return m.TS != before && has(m, says...) })
		return err
	})
}

// SpokenFirst is the measure of how long it takes from kubectl's end to the
// card.
const SpokenFirst = "kubectl to the card that nobody asked for"

func speaksScale(t *story) {
	const rounds = 9
	var took []time.Duration
	for n := range rounds {
		t.does(alice("scale", "deployment/$APP", fmt.Sprintf("--replicas=%d", 4+n)))
		begun := time.Now()
		t.unasked(fmt.Sprintf("3 → %d", 4+n), byAlice+"scale", nextOne+"put it back to 3")
		took = append(took, time.Since(begun))
		if n == rounds-1 || t.err != nil {
			break
		}
		t.further++
		t.presses(world.OnCall, "Not now")
		t.shows("closed", "left as it is")
	}
	slices.Sort(took)
	t.note(SpokenFirst+", median of "+fmt.Sprint(len(took)), took[len(took)/2])
	t.note(SpokenFirst+", the slowest", took[len(took)-1])
}

func speaksHealed(t *story) {
	t.heals()
	t.scaled()
	t.is(inDeployment("spec.replicas", "3", "6"), "3")
	t.unasked(undoneNow, "spec.replicas  3 → 6", byAlice+"scale", "Argo CD undid it")
	t.decides("Bring it back through Git", "Why was Git bypassed?", reason)
	t.approves()
	t.proposed()
	t.reviewed()
	t.merged()
	t.recorded("adopted into Git", reason)
	t.stands(6)
}

func speaksOnce(t *story) {
	t.does(alice("rollout", "restart", "deployment/$APP"))
	t.scaled()
	t.unasked("3 → 6", "1 change made by hand")
	t.does(alice("set", "env", "deployment/$APP", "LOG_LEVEL=debug"))
	t.shows("both on one card", "2 changes made by hand", "3 → 6", "info → debug")
}
