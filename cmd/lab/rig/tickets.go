package rig

import (
	"fmt"
	"slices"

	"reconcilebot/cmd/lab/world"
	"reconcilebot/runbook/ticket/ticketsim"
)

// Tickets are the lab's ticket systems: a Jira, whose comments grow, and a
// PagerDuty, whose notes can't. Every world has a ticket in both.
type Tickets struct {
	Jira, PagerDuty *ticketsim.Sim
	// JiraPage and PagerDutyPage are their addresses.
	JiraPage, PagerDutyPage string
}

// openTickets starts the ticket systems, with a ticket for each world and one
// to move to.
func (r *Rig) openTickets() (err error) {
	if r.Tickets.Jira, r.Tickets.JiraPage, err = r.ticketSystem(ticketsim.JiraCloud); err != nil {
		return err
	}
	r.Tickets.PagerDuty, r.Tickets.PagerDutyPage, err = r.ticketSystem(ticketsim.PagerDuty)
	return err
}

func (r *Rig) ticketSystem(kind ticketsim.Kind) (*ticketsim.Sim, string, error) {
	l, err := listen("127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	sim, err := ticketsim.New(kind, "http://"+l.Addr().String())
	if err != nil {
		return nil, "", fmt.Errorf("start the ticket system %s: %w", kind, err)
	}
	for _, w := range r.Worlds {
		sim.Open(r.TicketNumber(w))
		sim.Open(r.TicketNumber(w) + 1)
	}
	return sim, r.serve(l, sim.Handler()), nil
}

// TicketNumber is a world's ticket in each system; the next number is free for
// another ticket of the same world.
func (r *Rig) TicketNumber(w world.World) int {
	return 2*slices.IndexFunc(r.Worlds, func(o world.World) bool { return o.Incident == w.Incident }) + 1
}

// TicketAddress is a world's ticket, in the Jira; "" before that is up.
func (r *Rig) TicketAddress(w world.World) string {
	if r.Tickets.Jira == nil {
		return ""
	}
	return r.Tickets.Jira.Address(r.TicketNumber(w))
}

// ticketsYAML is the part of the bot's config about tickets.
func (r *Rig) ticketsYAML() string {
	return fmt.Sprintf(`tickets:
- kind: jira
  url: %[1]s
  deployment: cloud
  user: %[3]s
  match: ["%[1]s/browse/*"]
  tokenFile: tickets.token
- kind: pagerduty
  url: %[2]s
  api: %[4]s
  from: %[3]s
  match: ["%[2]s/incidents/*"]
  tokenFile: tickets.token
`, r.Tickets.JiraPage, r.Tickets.PagerDutyPage, ticketsim.Email, r.Tickets.PagerDuty.API())
}
