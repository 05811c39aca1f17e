package scenario

import (
	"context"
	"fmt"
	"strings"

	"reconcilebot/bot/slacksim"
	"reconcilebot/cmd/lab/world"
	"reconcilebot/runbook/ticket/ticketsim"
)

// ticketScenarios are about the incident's ticket.
func ticketScenarios() []Scenario {
	return []Scenario{
		{Name: "ticket-follows-the-record", Does: "one comment in Jira grows to the record, two notes in PagerDuty begin and end it", play: ticketFollows},
		{Name: "ticket-forbidden", Does: "a ticket that refuses the bot is told with the cure; another one gets the record at once", play: ticketForbidden},
		{Name: "ticket-moved", Does: "a ticket that was moved is told, and the record follows only where a person says", play: ticketMoved},
		{Name: "ticket-down-for-the-whole-reconciliation", Does: "the ticket systems are away from the first card to the record, which waits for nothing", Alone: true, play: ticketDown},
		{Name: "ticket-comment-lost-answer-killed", Does: "the bot dies after a comment whose answer it never heard; there is one comment", Alone: true, play: ticketKilled},
	}
}

// number is the world's ticket, the same in both systems.
func (t *story) number() int { return t.rig.TicketNumber(t.world) }

// tickets binds the channel to the incident's tickets, as its commander does.
func (t *story) tickets(addresses ...string) {
	t.do("tickets named", func(ctx context.Context) error {
		if _, err := t.as(world.OnCall).Slash(ctx, "/reconcile incident "+t.world.Incident+" "+strings.Join(addresses, " ")); err != nil {
			return err
		}
		says := []string{"The records go to"}
		for _, a := range addresses {
			says = append(says, a[strings.LastIndexByte(a, '/')+1:])
		}
		_, err := t.see(ctx, "that the records go there", func(m slacksim.Message) bool { return has(m, says...) })
		return err
	})
}

func (t *story) both() (jira, pagerDuty string) {
	return t.rig.Tickets.Jira.Address(t.number()), t.rig.Tickets.PagerDuty.Address(t.number())
}

// onTicket waits until the bot's comments on a ticket are so many, and the last
// says all of these.
func (t *story) onTicket(sim *ticketsim.Sim, number, count int, says ...string) {
	t.do("on the ticket", func(ctx context.Context) error {
		err := sim.Wait(ctx, "the record on the ticket", func() bool {
			list := sim.Texts(number)
			return len(list) == count && contains(list[count-1], says)
		})
		if err != nil {
			return fmt.Errorf("%w; the ticket says %q, want %d comments with %q at the end", err, sim.Texts(number), count, says)
		}
		return nil
	})
}

func contains(text string, all []string) bool {
	for _, one := range all {
		if !strings.Contains(text, one) {
			return false
		}
	}
	return true
}

// whole is what the last word on a ticket says: the facts, and the ways to the
// rest.
func (t *story) whole() []string {
	return []string{
		t.world.App, "reconciled: adopted into Git", t.world.Incident, "alice@example.com", "bob", "carol", reason, "Synced", "Healthy",
		fmt.Sprintf("/pull/%d", t.pull), "Slack thread", t.rig.Page,
	}
}

// wellFormed checks that nothing was sent that the published schemas refuse.
func (t *story) wellFormed() {
	t.do("held to the published schemas", func(context.Context) error {
		found := append(t.rig.Tickets.Jira.Findings(), t.rig.Tickets.PagerDuty.Findings()...)
		if len(found) > 0 {
			return fmt.Errorf("the bot sent what the ticket systems don't publish: %q", found)
		}
		return nil
	})
}

// says waits for something in the thread.
func (t *story) says(stage string, texts ...string) {
	t.do(stage, func(ctx context.Context) error {
		_, err := t.see(ctx, strings.Join(texts, ", "), func(m slacksim.Message) bool {
			return m.ThreadTS != "" && m.ThreadTS != m.TS && has(m, texts...)
		})
		return err
	})
}

func ticketFollows(t *story) {
	jira, pagerDuty := t.both()
	t.tickets(jira, pagerDuty)
	t.scaled()
	t.drifts()
	t.asks()
	t.found()
	t.onTicket(t.rig.Tickets.Jira, t.number(), 1, "undecided", "spec.replicas 3 → 6", "Slack thread")
	t.onTicket(t.rig.Tickets.PagerDuty, t.number(), 1, "start")
	t.says("the thread leads to the ticket", "The record is on", fmt.Sprintf("OPS-%d", t.number()))
	t.adopts()
	t.onTicket(t.rig.Tickets.Jira, t.number(), 1, "waits for", reason)
	t.approves()
	t.proposed()
	t.reviewed()
	t.adopted()
	t.onTicket(t.rig.Tickets.Jira, t.number(), 1, t.whole()...)
	t.onTicket(t.rig.Tickets.PagerDuty, t.number(), 2, t.whole()...)
	t.wellFormed()
}

func ticketForbidden(t *story) {
	jira, _ := t.both()
	t.do("the ticket refuses the bot", func(context.Context) error {
		t.rig.Tickets.Jira.Set(t.number(), ticketsim.Forbidden)
		return nil
	})
	t.tickets(jira)
	t.scaled()
	t.drifts()
	t.asks()
	t.found()
	t.says("the thread says what to do", "may not write on", "Add Comments", "The record is kept")
	t.adopts()
	t.approves()
	t.proposed()
	t.reviewed()
	t.adopted() // nothing waited
	t.tickets(t.rig.Tickets.Jira.Address(t.number() + 1))
	t.onTicket(t.rig.Tickets.Jira, t.number()+1, 1, t.whole()...)
	t.says("the thread leads to the other ticket", "The record is on", fmt.Sprintf("OPS-%d", t.number()+1), "complete")
	t.nothingOn(t.rig.Tickets.Jira, t.number())
	t.wellFormed()
}

func (t *story) nothingOn(sim *ticketsim.Sim, number int) {
	t.do("nothing on the first ticket", func(context.Context) error {
		if list := sim.Texts(number); len(list) > 0 {
			return fmt.Errorf("the ticket says %q", list)
		}
		return nil
	})
}

func ticketMoved(t *story) {
	jira, _ := t.both()
	t.do("the ticket is moved", func(context.Context) error {
		t.rig.Tickets.Jira.Set(t.number(), ticketsim.Moved)
		return nil
	})
	t.tickets(jira)
	t.scaled()
	t.drifts()
	t.asks()
	t.found()
	t.says("the thread says where to", "was moved to", fmt.Sprintf("OPS-%d", t.number()+1), "/reconcile incident")
	t.nothingOn(t.rig.Tickets.Jira, t.number()+1)
	t.tickets(t.rig.Tickets.Jira.Address(t.number() + 1))
	t.onTicket(t.rig.Tickets.Jira, t.number()+1, 1, "undecided")
	t.reverts()
	t.approves()
	t.recorded("reverted to Git")
	t.onTicket(t.rig.Tickets.Jira, t.number()+1, 1, "reconciled: reverted to Git")
	t.wellFormed()
}

func (t *story) away(away bool) {
	stage := "the ticket systems stop"
	if !away {
		stage = "the ticket systems start"
	}
	t.do(stage, func(context.Context) error {
		t.rig.Tickets.Jira.Down(away)
		t.rig.Tickets.PagerDuty.Down(away)
		return nil
	})
}

func ticketDown(t *story) {
	jira, pagerDuty := t.both()
	t.away(true)
	defer func() { t.rig.Tickets.Jira.Down(false); t.rig.Tickets.PagerDuty.Down(false) }()
	t.tickets(jira, pagerDuty)
	t.scaled()
	t.drifts()
	t.asks()
	t.found()
	t.adopts()
	t.approves()
	t.proposed()
	t.reviewed()
	t.adopted()
	t.nothingOn(t.rig.Tickets.Jira, t.number())
	t.away(false)
	t.onTicket(t.rig.Tickets.Jira, t.number(), 1, t.whole()...)
	t.onTicket(t.rig.Tickets.PagerDuty, t.number(), 1, t.whole()...)
	t.says("the thread leads to the ticket", "The record is on", fmt.Sprintf("OPS-%d", t.number()), "complete")
	t.wellFormed()
}

func ticketKilled(t *story) {
	jira, _ := t.both()
	t.tickets(jira)
	t.do("the next comment's answer is lost", func(context.Context) error {
		t.rig.Tickets.Jira.Fail(ticketsim.Fault{Writes: true, Drop: true})
		return nil
	})
	t.scaled()
	t.drifts()
	t.asks()
	t.found()
	t.onTicket(t.rig.Tickets.Jira, t.number(), 1, "undecided")
	t.do("kill -9", func(context.Context) error { t.rig.KillBot(); return nil })
	t.do("start again", t.rig.Bot.Start)
	t.adopts()
	t.approves()
	t.proposed()
	t.reviewed()
	t.adopted()
	t.onTicket(t.rig.Tickets.Jira, t.number(), 1, t.whole()...)
	t.wellFormed()
}
