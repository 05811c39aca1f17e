package ticketsim

import (
	"encoding/json"
	"net/http"
	"strings"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// webhook takes records as a receiver does that follows WEBHOOK.md. Signatures
// are verified by the reference library, not by our own code.
func (s *Sim) webhook(c call) reply {
	if c.Method == http.MethodHead {
		return reply{status: http.StatusMethodNotAllowed}
	}
	key, err := standardwebhooks.NewWebhook(Secret)
	if err == nil {
		err = key.Verify(c.body, c.Header)
	}
	if err != nil {
		return reply{status: http.StatusUnauthorized, body: object{"message": err.Error()}}
	}
	var sent struct {
		Data struct{ Reconciliation, Ticket, Markdown string }
	}
	if err := json.Unmarshal(c.body, &sent); err != nil {
		return reply{status: http.StatusBadRequest}
	}
	t := s.tickets[number(strings.TrimPrefix(sent.Data.Ticket, s.url+"/tickets/"))]
	switch {
	case t == nil, t.condition == Hidden:
		return reply{status: http.StatusNotFound}
	case t.condition == Deleted:
		return reply{status: http.StatusGone}
	case t.condition == Moved:
		return reply{status: http.StatusPermanentRedirect, header: map[string]string{"Location": s.Address(t.number + 1)}}
	case t.condition == Locked:
		return reply{status: http.StatusLocked}
	case t.condition == Forbidden:
		return reply{status: http.StatusForbidden}
	}
	s.keep(t, c.Header.Get("Webhook-Id"), sent.Data.Reconciliation, sent.Data.Markdown)
	return reply{status: http.StatusOK, body: object{"url": s.Address(t.number) + "#" + sent.Data.Reconciliation, "closed": t.condition == Closed}}
}

// keep writes or edits the comment of a reconciliation. What was seen before
// is not taken twice.
func (s *Sim) keep(t *ticket, id, reconciliation, text string) {
	if s.seen[id] {
		return
	}
	s.seen[id] = true
	for i := range t.comments {
		if t.comments[i].By == Me && strings.Contains(t.comments[i].Text, "record "+reconciliation+" -->") {
			t.comments[i].Text, t.comments[i].Edited = text, t.comments[i].Edited+1
			return
		}
	}
	s.add(t, Me, text)
}
