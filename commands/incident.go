package commands

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"reconcilebot/commands/card"
	"reconcilebot/runbook/fault"
	"reconcilebot/state"
)

// bind binds a channel to an incident; unbind ends the channel's incident;
// bound says which one it is.
type (
	bind struct {
		id state.IncidentID
		// tickets are the addresses of its tickets, with spaces between them.
		tickets string
	}
	unbind struct{}
	bound  struct{}
)

// incidentID is what incident systems use, and what can stand in the name of
// a branch. A digit keeps a misspelt "close" from opening an incident.
var incidentID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

func parseIncident(w words) (act, error) {
	const example = "incident INC-1234"
	switch {
	case len(w.list) == 0:
		return bound{}, nil
	case len(w.list) == 1 && strings.EqualFold(w.list[0], "close"):
		return unbind{}, nil
	case len(w.list) > 1+maxTickets:
		return nil, usage("incident [INC-1234 [TICKET-URL …] | close]", example)
	}
	id := w.list[0]
	if len(id) > 40 || !incidentID.MatchString(id) || !strings.ContainsAny(id, "0123456789") {
		return nil, fault.New(fault.Invalid, fmt.Sprintf("%q is no incident's name: letters, digits, dots and dashes with at least one digit, for example INC-1234.", id))
	}
	b := bind{id: state.IncidentID(id)}
	for _, text := range w.list[1:] {
		address, err := parseTicket(text)
		if err != nil {
			return nil, err
		}
		b.tickets = strings.TrimSpace(b.tickets + " " + address)
	}
	return b, nil
}

// maxTickets is how many tickets one incident may have.
const maxTickets = 5

func parseTicket(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return "", fault.New(fault.Invalid, "The ticket has to be a web address without a password, for example https://tickets.example.com/OPS-991.")
	}
	return u.String(), nil
}

func (bind) about() string   { return "" }
func (unbind) about() string { return "" }
func (bound) about() string  { return "" }

func (b bind) run(_ context.Context, c *Commands, call call) (Reply, error) {
	in := state.Incident{ID: b.id, Room: call.Room, Commander: call.by.Person}
	if tickets := strings.Fields(b.tickets); len(tickets) > 0 {
		in.Ticket, in.Also = tickets[0], tickets[1:]
	}
	in, err := c.DB.OpenIncident(in)
	if errors.Is(err, state.ErrChanged) {
		return Reply{}, c.taken(call.Room, b.id, err)
	}
	if err != nil {
		return Reply{}, err
	}
	m := card.Opened(in, c.Now(), c.keepers(in)...)
	return Reply{Public: &m}, nil
}

// keepers tells which ticket systems keep the records of an incident.
func (c *Commands) keepers(in state.Incident) (list []card.Keeper) {
	for _, address := range in.Tickets() {
		k := card.Keeper{Ticket: address}
		if c.Tickets != nil {
			k.Systems = c.Tickets(address)
		}
		list = append(list, k)
	}
	return list
}

// taken says what stands in the way of binding.
func (c *Commands) taken(room state.Room, id state.IncidentID, err error) error {
	say := string(id) + " is open in another channel. Go on there, or end it there with /reconcile incident close."
	if in, lookup := c.DB.IncidentIn(room); lookup == nil {
		say = fmt.Sprintf("This channel is bound to %s. End it with /reconcile incident close, or use another channel.", in.ID)
	}
	return &fault.Error{Kind: fault.Conflict, Err: err, Say: say}
}

func (bound) run(_ context.Context, c *Commands, call call) (Reply, error) {
	in, err := c.incident(call.Room)
	if err != nil {
		return Reply{}, err
	}
	m := card.Opened(in, c.Now(), c.keepers(in)...)
	return Reply{Ephemeral: &m}, nil
}

func (unbind) run(_ context.Context, c *Commands, call call) (Reply, error) {
	in, err := c.incident(call.Room)
	if err != nil {
		return Reply{}, err
	}
	if in, err = c.DB.CloseIncident(in.ID, call.by.Person); err != nil {
		return Reply{}, err
	}
	runs, err := c.DB.OfIncident(in.ID)
	if err != nil {
		return Reply{}, err
	}
	m := card.Closed(in, runs, c.Now())
	return Reply{Public: &m}, nil
}

// incident finds the one that a channel is bound to.
func (c *Commands) incident(room state.Room) (state.Incident, error) {
	in, err := c.DB.IncidentIn(room)
	if errors.Is(err, state.ErrNotFound) {
		return in, &fault.Error{Kind: fault.Invalid, Err: err,
			Say: "No incident is bound to this channel. Bind it first: /reconcile incident INC-1234"}
	}
	return in, err
}
