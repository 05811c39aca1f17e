package card

import (
	"html"
	"strings"

	"reconcilebot/runbook/book"
	tracker "reconcilebot/runbook/ticket"
)

// Ticket draws the record as it stands, for the incident's ticket; thread
// leads to the card in Slack, "" when that is not known. False means that
// nothing was found that a ticket should know of. Drawn again later it is the
// same, so that nothing is edited for nothing.
func Ticket(f Facts, thread string) (tracker.Record, bool) {
	// Times are told as on the day of the opening, not as of now.
	f.Now = f.Run.Opened
	seen, _ := book.SeenIn(f.Run)
	if len(seen.Drift.Changes) == 0 && seen.Drift.Refused == "" && !f.Run.Decided() {
		return tracker.Record{}, false
	}
	r := tracker.Record{ID: string(f.Run.ID), Incident: string(f.Run.Incident), Opened: f.Run.Opened, Closed: f.Run.Closed}
	if f.Run.IsClosed() {
		r.Title = strings.Join(recordHead(f), " · ")
	} else {
		r.Title = strings.Join(f.where(), " · ")
		r.State = html.UnescapeString(phase(f))
	}
	for _, l := range record(f) {
		if l.label == "Left open" && !f.Run.IsClosed() {
			continue // not known yet
		}
		if len(l.pieces) > 0 {
			r.Lines = append(r.Lines, l.ticket())
		}
	}
	if pr, ok := book.PRIn(f.Run); ok && pr.URL != "" {
		r.Links = append(r.Links, tracker.Link{Label: "Pull request", URL: pr.URL})
	}
	if thread != "" {
		r.Links = append(r.Links, tracker.Link{Label: "Slack thread", URL: thread})
	}
	return r, true
}

// ticket is the line for a ticket, which escapes it in its own way.
func (l line) ticket() tracker.Line {
	out := tracker.Line{Label: l.label}
	for _, p := range l.pieces {
		out.Parts = append(out.Parts, tracker.Part{Text: p.text, URL: p.url, Code: p.code, Break: p.newline})
	}
	return out
}
