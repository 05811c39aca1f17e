package ticketsim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// pagerDutyID makes an incident's id of a number, in PagerDuty's form.
func pagerDutyID(number int) string { return fmt.Sprintf("Q0TICKET%d", number) }

// pagerDuty answers as PagerDuty's REST API v2 does. Notes are never edited:
// there is no such operation.
// https://developer.pagerduty.com/api-reference/a1ac30885eb7a-create-a-note-on-an-incident
func (s *Sim) pagerDuty(c call) reply {
	if c.Header.Get("Authorization") != "Token token="+Token {
		return pagerDutySaid(http.StatusUnauthorized, "Unauthorized")
	}
	if !strings.HasPrefix(c.Header.Get("Accept"), "application/vnd.pagerduty+json;version=2") {
		s.find("%s %s: the header Accept should name version 2", c.Method, c.op.Path)
	}
	if c.op.Path == "/users" {
		list := []object{}
		if strings.EqualFold(c.URL.Query().Get("query"), Email) {
			list = append(list, object{"id": "PBOT0001", "name": Me, "email": Email})
		}
		return reply{status: http.StatusOK, body: object{"users": list}}
	}
	var t *ticket
	for n, one := range s.tickets {
		if pagerDutyID(n) == c.names["id"] {
			t = one
		}
	}
	if t == nil || t.condition == Hidden || t.condition == Deleted {
		return pagerDutySaid(http.StatusNotFound, "Incident Not Found")
	}
	if c.Method != http.MethodPost {
		return s.pagerDutyRead(c, t)
	}
	if c.Header.Get("From") != Email {
		s.find("POST %s: the header From should be a user's address", c.op.Path)
		return pagerDutySaid(http.StatusBadRequest, "Requester User Not Found")
	}
	if t.condition == Forbidden {
		return pagerDutySaid(http.StatusForbidden, "Access Denied")
	}
	var sent struct{ Note struct{ Content string } }
	if err := json.Unmarshal(c.body, &sent); err != nil {
		return pagerDutySaid(http.StatusBadRequest, "Invalid Input Provided")
	}
	return reply{status: http.StatusOK, body: object{"note": s.pagerDutyNote(*s.add(t, Me, sent.Note.Content))}}
}

func (s *Sim) pagerDutyRead(c call, t *ticket) reply {
	if strings.HasSuffix(c.op.Path, "/notes") {
		notes := []object{}
		for _, one := range t.comments {
			notes = append(notes, s.pagerDutyNote(one))
		}
		return reply{status: http.StatusOK, body: object{"notes": notes}}
	}
	status, why := "acknowledged", any(nil)
	switch t.condition {
	case Closed:
		status = "resolved"
	case Moved:
		status, why = "resolved", object{"type": "merge_resolve_reason", "incident": object{"id": pagerDutyID(t.number + 1), "type": "incident_reference"}}
	}
	return reply{status: http.StatusOK, body: object{"incident": object{
		"id": pagerDutyID(t.number), "type": "incident", "status": status, "html_url": s.Address(t.number), "resolve_reason": why,
	}}}
}

func (s *Sim) pagerDutyNote(c Comment) object {
	return object{
		"id": "PNOTE" + strconv.Itoa(c.ID), "content": c.Text, "created_at": c.At.UTC().Format(time.RFC3339),
		"user": object{"id": "PBOT0001", "type": "user_reference", "summary": c.By},
	}
}

func pagerDutySaid(status int, message string) reply {
	return reply{status: status, body: object{"error": object{"message": message, "code": 2000 + status}}}
}
