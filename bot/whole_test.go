package bot

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"reconcilebot/bot/slacksim"
	"reconcilebot/commands"
	"reconcilebot/commands/access"
	"reconcilebot/commands/card"
	"reconcilebot/runbook"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// TestWholeWay has people do the main job by what they see, through the real
// commands, cards and engine. Only the books reach nothing.
func TestWholeWay(t *testing.T) {
	r := newRig(t, slacksim.Options{})
	r.open()
	r.play(books(), nil)
	r.start()
	alice, bob, gwen := r.sim.As("alice").In("inc-1234"), r.sim.As("bob").In("inc-1234"), r.sim.As("gwen").In("inc-1234")

	r.slash("alice", "inc-1234", "incident INC-1234")
	r.settled()
	r.slash("alice", "inc-1234", "drift payments-web")
	m := r.card("inc-1234", "replicas")
	r.press(gwen, m, card.ActionAdopt)
	r.hears("gwen", "guests")
	r.press(alice, m, card.ActionAdopt)
	r.wait("the modal", func() bool { return r.sim.View("alice") != nil })
	if inv, err := r.sim.As("alice").Submit(t.Context(), r.sim.View("alice").ID, map[string]string{card.BlockReason: "queue backing up"}); err != nil || len(inv.Errors) > 0 {
		t.Fatalf("submit: %v %v", inv, err)
	}
	r.wait("the plan on the card", func() bool {
		m = r.card("inc-1234", "")
		_, ok := m.Button(card.ActionApprove)
		return ok
	})
	r.press(alice, m, card.ActionApprove)
	r.hears("alice", "can't approve")
	r.press(bob, m, card.ActionApprove)
	r.wait("the end", func() bool {
		list, err := r.db.Unclosed()
		return err == nil && len(list) == 0
	})
	r.settled()
	if n := len(threadTexts(r.sim.Thread("inc-1234", m.TS))); n < 2 {
		t.Errorf("%d messages in the thread, want the decision and the record at least", n)
	}
	r.noFindings()
}

// press clicks a button that must be there.
func (r *rig) press(p *slacksim.Place, m slacksim.Message, action string) {
	r.t.Helper()
	if _, err := p.Click(r.t.Context(), m.TS, action); err != nil {
		r.t.Fatal(err)
	}
}

// hears waits for words that only one person sees.
func (r *rig) hears(who, words string) {
	r.t.Helper()
	r.wait(who+" to hear "+words, func() bool {
		for _, m := range r.sim.Ephemerals(who, "inc-1234") {
			if strings.Contains(m.PlainText()+m.Text, words) {
				if m.ThreadTS != "" {
					r.t.Errorf("%q is said to %s where only the thread shows it", words, who)
				}
				return true
			}
		}
		return false
	})
}

type oneTarget struct{}

// play puts the real commands and engine behind the bot, with books of the
// test; redact may be nil.
func (r *rig) play(books []runbook.Book, redact func(string) string) {
	engine := runbook.New(runbook.Config{DB: r.db, Log: slog.New(slog.NewTextHandler(r.log, nil)), Books: books})
	r.configure = func(c *Config) {
		if redact != nil {
			c.Redact = redact
		}
		c.App = commands.New(commands.Config{
			DB: r.db, Engine: engine, Directory: c.Directory, Team: "T0HOME", Access: policy(), Log: c.Log,
			Targets: map[string]commands.Lister{"production-eu": oneTarget{}},
		})
	}
	ctx, stop := context.WithCancel(r.t.Context())
	ran := make(chan error, 1)
	go func() { ran <- engine.Run(ctx) }()
	r.t.Cleanup(func() {
		stop()
		if err := <-ran; err != nil {
			r.t.Error(err)
		}
	})
}

func (oneTarget) Targets(context.Context) ([]drift.TargetInfo, error) {
	return []drift.TargetInfo{{Target: payments(), Sync: "OutOfSync", Health: "Healthy"}}, nil
}

func payments() drift.Target {
	return drift.Target{Cluster: "production-eu", Kind: drift.Application, Namespace: "argocd", Name: "payments-web"}
}

func policy() *access.Policy {
	return &access.Policy{
		People: []access.Person{
			{Name: "alice", Slack: "U0ALICE", Kubernetes: []string{"alice@example.com"}},
			{Name: "bob", Slack: "U0BOB", Kubernetes: []string{"bob@example.com"}},
		},
		Rules: []access.Rule{{
			Targets: []string{"production-eu/*"}, See: []string{access.Everyone}, Decide: []string{"alice", "bob"},
			Approve: access.Approvers{By: []string{"alice", "bob"}, Count: 1},
		}},
	}
}

// step is a step made of a function.
type step struct {
	id state.StepID
	do func(state.Reconciliation) runbook.Outcome
}

func (s step) ID() state.StepID { return s.id }

func (s step) Do(_ context.Context, r state.Reconciliation) runbook.Outcome { return s.do(r) }

func books() []runbook.Book {
	seen := book.Seen{Drift: drift.Drift{
		Target: payments(), Sync: "OutOfSync", Health: "Healthy", Digest: "d1",
		Changes: []drift.Change{{
			Object: manifest.Object{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "payments", Name: "web"}, UID: "u",
			Path: manifest.Path{manifest.Key("spec"), manifest.Key("replicas")}, Op: manifest.Set, Git: 3.0, Live: 6.0,
			Evidence: drift.Evidence{Kind: drift.ByAudit, Person: "alice@example.com", Tool: "kubectl scale", At: time.Now().Add(-4 * time.Minute)},
		}},
	}}
	survey := step{"survey", func(state.Reconciliation) runbook.Outcome {
		return runbook.Result[book.Seen]{Step: "survey"}.Done(seen)
	}}
	plan := step{"plan", func(state.Reconciliation) runbook.Outcome {
		return runbook.Result[book.Plan]{Step: "plan"}.Done(book.Plan{
			Seen: seen, Digest: "p1", Made: time.Now(), Needs: book.Needs{Approvals: 1, From: []string{"bob"}, Expires: time.Now().Add(time.Hour)},
		})
	}}
	approve := step{"approve", func(r state.Reconciliation) runbook.Outcome {
		votes := r.Standing("p1")
		if len(votes) == 0 {
			return runbook.Wait(time.Hour, runbook.ForPeople, "waiting for an approval")
		}
		return runbook.Result[book.Approval]{Step: "approve"}.Done(book.Approval{Votes: votes, At: time.Now()})
	}}
	ballot := func(r state.Reconciliation) (runbook.Ballot, bool) {
		return runbook.Ballot{Digest: "p1", Needed: 1, Expires: time.Now().Add(time.Hour), Made: []string{"alice@example.com"}}, r.Done("plan") && !r.Done("approve")
	}
	return []runbook.Book{
		{Name: runbook.Survey, Version: 1, Steps: []runbook.Step{survey}},
		{Name: book.Adopt, Version: 1, Ends: "adopted", Ballot: ballot, Steps: []runbook.Step{survey, plan, approve}},
	}
}

// TestSlackTakesEveryCard: none of the messages that there are is refused, as
// a new message or as an edit, nor when something was cut out of it.
func TestSlackTakesEveryCard(t *testing.T) {
	for name, redact := range map[string]func(string) string{
		"as it is":          nil,
		"with a secret cut": func(s string) string { return strings.ReplaceAll(s, "payments", "…") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, slacksim.Options{Limits: slacksim.LimitsOff})
			r.configure = func(c *Config) { c.Redact = redact }
			r.start()
			for i, named := range card.Gallery() {
				r.takes(i, named)
			}
			r.noFindings()
		})
	}
}

func (r *rig) takes(number int, named card.Named) {
	r.t.Helper()
	p := r.bot.outbox.post
	s, err := p.once(r.t.Context(), post{key: state.MessageKey(fmt.Sprint("card/", number)), room: "C0INC", message: named.Message})
	if err == nil {
		err = p.edit(r.t.Context(), "C0INC", s.ts, named.Message)
	}
	if err != nil {
		r.t.Errorf("%s: %v", named.Name, err)
		return
	}
	list := r.sim.Messages("inc-1234")
	m := list[len(list)-1]
	if len(m.Blocks) != len(named.Blocks) {
		r.t.Errorf("%s: Slack took %d of %d blocks", named.Name, len(m.Blocks), len(named.Blocks))
	}
	if p.redact != nil && strings.Contains(m.PlainText()+m.Text, "payments") {
		r.t.Errorf("%s: not everything was cut out: %s", named.Name, m.PlainText())
	}
}
