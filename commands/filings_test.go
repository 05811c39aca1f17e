package commands

import (
	"strings"
	"testing"

	"reconcilebot/state"
)

// TestATicketThatWasReplacedIsNoTroubleAnyMore: the thread tells of what keeps
// the record from the incident's tickets, and of no others.
func TestATicketThatWasReplacedIsNoTroubleAnyMore(t *testing.T) {
	r := newRig(t)
	r.Tickets = func(string) []string { return []string{"jira"} }
	const first, second = "https://jira.example.com/browse/OPS-1", "https://jira.example.com/browse/OPS-2"
	if _, err := r.DB.OpenIncident(state.Incident{ID: "INC-1", Room: room, Ticket: first}); err != nil {
		t.Fatal(err)
	}
	rec, _, err := r.DB.Open(state.Reconciliation{ID: "r-1", Incident: "INC-1", Room: room, Target: target("payments-web").String(), Book: "survey", BookVersion: 1})
	if err != nil {
		t.Fatal(err)
	}
	trouble := state.Filing{Reconciliation: rec.ID, System: "jira", Ticket: first, Trouble: "OPS-1 is closed and takes no comments. Open it again.", Why: "locked"}
	if err := r.DB.SaveFiling(trouble); err != nil {
		t.Fatal(err)
	}
	m, said := r.Notice(t.Context(), rec, "ticket-trouble")
	if !said || !strings.Contains(m.Text, "Open it again") || !strings.Contains(m.Text, "The record is kept") {
		t.Errorf("said %v: %s", said, m.Text)
	}
	if _, err := r.DB.OpenIncident(state.Incident{ID: "INC-1", Room: room, Ticket: second}); err != nil {
		t.Fatal(err)
	}
	if m, said := r.Notice(t.Context(), rec, "ticket-trouble"); said {
		t.Errorf("still says: %s", m.Text)
	}
	filed := state.Filing{Reconciliation: rec.ID, System: "jira", Ticket: second, Comment: "7", URL: second + "?focusedCommentId=7", Final: true}
	if err := r.DB.SaveFiling(filed); err != nil {
		t.Fatal(err)
	}
	if m, said := r.Notice(t.Context(), rec, "ticketed"); !said || !strings.Contains(m.Text, "OPS-2") || strings.Contains(m.Text, "OPS-1") {
		t.Errorf("said %v: %s", said, m.Text)
	}
}

func TestBindingSaysWhereTheRecordsGo(t *testing.T) {
	r := newRig(t)
	r.Tickets = func(address string) []string {
		if strings.HasPrefix(address, "https://jira.example.com/") {
			return []string{"jira"}
		}
		return nil
	}
	reply, err := bind{"INC-1", "https://jira.example.com/browse/OPS-1 https://elsewhere.example.com/2"}.run(t.Context(), r.Commands, call{Request: Request{Room: room}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"The records go to <https://jira.example.com/browse/OPS-1|OPS-1> too", "|2> gets no records"} {
		if !strings.Contains(reply.Public.Text, want) {
			t.Errorf("does not say %q: %s", want, reply.Public.Text)
		}
	}
}
