package card

import (
	"net/url"
	"strings"

	"reconcilebot/state"
)

// filed says on which tickets the record is.
func filed(list []state.Filing) string {
	var lines []string
	for _, f := range list {
		if f.Comment == "" || f.Trouble != "" {
			continue
		}
		text := "The record is on " + link(f.URL, name(ticketName(f.Ticket))) + " and follows there."
		switch {
		case f.Final:
			text = "The record is on " + link(f.URL, name(ticketName(f.Ticket))) + ", complete."
		case f.Closed:
			text = "The record is on " + link(f.URL, name(ticketName(f.Ticket))) + ", which is closed, and follows there."
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, "\n")
}

// untaken says which tickets the record does not reach, and what to do.
func untaken(list []state.Filing) string {
	var lines []string
	for _, f := range list {
		if f.Trouble != "" {
			lines = append(lines, paragraphs(f.Trouble, 1500))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\nThe record is kept, and goes there as soon as it can. Nothing else waits for it."
}

// onTickets leads to the record's comments.
func onTickets(list []state.Filing) (pieces []piece) {
	for _, f := range list {
		switch {
		case f.Comment != "" && f.Trouble == "":
			pieces = append(pieces, piece{text: ticketName(f.Ticket), url: f.URL, newline: len(pieces) > 0})
		default:
			pieces = append(pieces, piece{text: ticketName(f.Ticket), url: f.Ticket, newline: len(pieces) > 0}, piece{text: "(not there yet; kept)"})
		}
	}
	return pieces
}

// ticketName is what people call a ticket: OPS-991, or ops#7.
func ticketName(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	last := parts[len(parts)-1]
	switch {
	case last == "":
		return u.Host
	case len(parts) >= 3 && parts[len(parts)-2] == "issues":
		return parts[len(parts)-3] + "#" + last
	}
	return last
}
