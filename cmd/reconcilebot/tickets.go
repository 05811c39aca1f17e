package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"reconcilebot/bot"
	"reconcilebot/cmd/reconcilebot/config"
	"reconcilebot/commands/card"
	"reconcilebot/commands/courier"
	"reconcilebot/runbook/ticket"
	"reconcilebot/state"
)

// ticketCall bounds one request to a ticket system.
const ticketCall = 30 * time.Second

// openTickets makes the clients of the ticket systems, without calling any.
func openTickets(list []config.Ticket) (desk []ticket.System, err error) {
	for _, t := range list {
		s, err := openTicket(t)
		if err != nil {
			return nil, fmt.Errorf("tickets: %w", err)
		}
		desk = append(desk, s)
	}
	return desk, nil
}

func openTicket(t config.Ticket) (ticket.System, error) {
	client, err := httpClient(t.CAFile)
	if err != nil {
		return nil, err
	}
	if client == nil {
		client = &http.Client{}
	}
	client.Timeout = ticketCall
	switch t.Kind {
	case config.TicketGitHub:
		return ticket.NewGitHub(ticket.GitHubConfig{Name: t.Name, URL: t.URL, API: t.API, Patterns: t.Patterns, Token: t.Token.Value, HTTPClient: client})
	case config.TicketJira:
		return ticket.NewJira(ticket.JiraConfig{
			Name: t.Name, URL: t.URL, API: t.API, Deployment: ticket.Deployment(t.Deployment), User: t.User,
			Patterns: t.Patterns, Token: t.Token.Value, HTTPClient: client,
		})
	case config.TicketPagerDuty:
		return ticket.NewPagerDuty(ticket.PagerDutyConfig{Name: t.Name, URL: t.URL, API: t.API, From: t.From, Patterns: t.Patterns, Token: t.Token.Value, HTTPClient: client})
	case config.TicketWebhook:
		return ticket.NewWebhook(ticket.WebhookConfig{Name: t.Name, URL: t.URL, Patterns: t.Patterns, Secret: t.Token.Value, HTTPClient: client})
	}
	return nil, fmt.Errorf("there is no kind %q", t.Kind)
}

// carrier builds what brings the records to the tickets.
func carrier(cfg *config.Config, db *state.DB, desk []ticket.System, log *slog.Logger) *courier.Courier {
	way := card.Links{Commit: links(cfg, db).Commit, Audit: cfg.Audit.Page}
	return courier.New(courier.Config{
		DB: db, Systems: desk, Redact: redact(cfg), Log: log,
		Draw: func(r state.Reconciliation) (ticket.Record, bool) {
			return card.Ticket(card.Facts{Run: r, Links: way}, bot.CardURL(db, r.ID))
		},
		Linked: func(id state.ReconciliationID) bool { return bot.CardURL(db, id) != "" },
	})
}
