package card

import (
	"reconcilebot/runbook/book"
	"reconcilebot/state"
)

// ticketCards are what people see of the incident's tickets.
func ticketCards() []Named {
	const jira, github = "https://acme.atlassian.net/browse/OPS-991", "https://github.com/acme/incidents/issues/7"
	s := newSample(31).decided(book.Adopt).planned().approved().pushed().opened().merged().verified("9ab04f1c22").close("adopted", 31)
	in := state.Incident{ID: "INC-1234", Room: "C1", Ticket: jira, Also: []string{github}, Commander: person("carol"), Opened: s.at(0)}
	s.Filings = []state.Filing{
		{System: "jira", Ticket: jira, Comment: "10042", URL: jira + "?focusedCommentId=10042", Final: true},
		{System: "github", Ticket: github, Why: "forbidden", Trouble: "reconcilebot may not write on " + github + ". In GitHub it needs Issues: write on the repository. Or name another ticket with /reconcile incident."},
	}
	filed, _ := Notice(s.Facts, "ticketed")
	trouble, _ := Notice(s.Facts, "ticket-trouble")
	return []Named{
		{"incident with tickets", Opened(in, s.Now, Keeper{jira, []string{"jira"}}, Keeper{github, nil})},
		{"notice ticketed", filed},
		{"notice ticket-trouble", trouble},
		draw("adopted, with tickets", s),
	}
}
