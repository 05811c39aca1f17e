package bot

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"reconcilebot/bot/slacksim"
	"reconcilebot/commands"
)

func TestOrder(t *testing.T) {
	o := newOrder()
	o.patience = time.Hour
	var began []string
	enter := func(name string, a act) *place {
		p := o.enter(a)
		if name != "" {
			p.ready(func() { began = append(began, name) })
		}
		return p
	}
	want := func(when string, waiting int, names ...string) {
		t.Helper()
		if !slices.Equal(began, names) || o.held() != waiting {
			t.Errorf("%s: %q began and %d wait, want %q and %d", when, began, o.held(), names, waiting)
		}
	}
	here := func(k commands.Kind) act { return act{Kind: k, User: "U1", Room: "C1"} }
	first := enter("", here(commands.Slash)) // still being stored
	second := enter("second", here(commands.Slash))
	enter("elsewhere", act{Kind: commands.Slash, User: "U1", Room: "C2"})
	enter("somebody else", act{Kind: commands.Slash, User: "U2", Room: "C1"})
	want("before the first is stored", 1, "elsewhere", "somebody else")
	click := enter("click", here(commands.Click))
	want("a click waits for nobody", 1, "elsewhere", "somebody else", "click")
	third := enter("third", here(commands.Mention))
	first.ready(func() { began = append(began, "first") })
	want("once the first is stored", 2, "elsewhere", "somebody else", "click", "first")
	first.leave()
	first.leave()
	want("once the first is handled", 1, "elsewhere", "somebody else", "click", "first", "second")
	second.leave()
	want("while the click is handled", 1, "elsewhere", "somebody else", "click", "first", "second")
	click.leave()
	want("once the click is handled", 0, "elsewhere", "somebody else", "click", "first", "second", "third")
	third.leave()
	if n := len(o.lines); n != 2 {
		t.Errorf("%d lines are left, want those of the two that are still handled", n)
	}
}

// TestOrderHasItsEnd: something that hangs does not keep its person out.
func TestOrderHasItsEnd(t *testing.T) {
	o := newOrder()
	o.patience = time.Millisecond
	o.enter(act{User: "U1"})
	began := make(chan struct{})
	p := o.enter(act{User: "U1"})
	p.ready(func() { close(began) })
	<-began
	p.leave()
	if n := o.held(); n != 0 {
		t.Errorf("%d wait", n)
	}
}

// TestCommandsOfOnePersonKeepTheirOrder, though many are handled at a time.
func TestCommandsOfOnePersonKeepTheirOrder(t *testing.T) {
	r := newRig(t, slacksim.Options{Limits: slacksim.LimitsOff})
	r.start()
	s, acks := wire(t, r)
	const many = 40
	for i := range many {
		id := fmt.Sprint("burst-", i)
		r.bot.intake.take(s, envelope(id, "slash_commands", fmt.Sprintf(
			`{"team_id":"T0HOME","api_app_id":"A0APP","user_id":"U0ALICE","channel_id":"C0INC","command":"/reconcile","text":"nothing %d","trigger_id":"%s"}`, i, id)))
	}
	for range many {
		<-acks
	}
	r.settled()
	list := r.app.requests()
	if len(list) != many {
		t.Fatalf("%d handled", len(list))
	}
	for i, req := range list {
		if want := fmt.Sprintf("nothing %d", i); req.Text != want {
			t.Fatalf("number %d handled is %q", i, req.Text)
		}
	}
	if n := r.bot.pool.waiting(); n != 0 {
		t.Errorf("%d wait", n)
	}
}

// TestWhatHangsHoldsUpOnlyWhatFollowsIt: the same person's next command waits;
// their click and what others do there do not.
func TestWhatHangsHoldsUpOnlyWhatFollowsIt(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	r.tune = func(b *Bot) { b.pool.order.patience = time.Hour }
	r.start()
	r.slash("alice", "inc-1234", "drift web")
	m := r.card("inc-1234", "revision 1")
	r.settled()
	hold := make(chan struct{})
	r.app.mu.Lock()
	r.app.seen, r.app.hold = nil, hold
	r.app.mu.Unlock()
	began := func(n int) func() bool { return func() bool { return len(r.app.requests()) == n } }
	r.slash("alice", "inc-1234", "nothing hangs")
	r.wait("the first to begin", began(1))
	r.slash("alice", "inc-1234", "nothing more")
	r.slash("bob", "inc-1234", "nothing for bob")
	r.slash("alice", "two", "nothing elsewhere")
	r.press(r.sim.As("alice").In("inc-1234"), m, "adopt")
	r.wait("all but one to begin", began(4))
	if slices.ContainsFunc(r.app.requests(), func(q commands.Request) bool { return q.Text == "nothing more" }) {
		t.Error("a command overtook the one before it")
	}
	close(hold)
	r.wait("the last one to begin", began(5))
	r.settled()
	r.noFindings()
}
