package card

import "strings"

// line is one labelled line of the record, not tied to where it is shown.
type line struct {
	label  string
	pieces []piece
}

// piece is some words; nothing in it is escaped yet.
type piece struct {
	text, url string
	code      bool
	// newline begins a new line before it.
	newline bool
}

func (l line) draw(one func(piece) string) string {
	var b strings.Builder
	for i, p := range l.pieces {
		switch {
		case p.newline:
			b.WriteByte('\n')
		case i > 0:
			b.WriteByte(' ')
		}
		b.WriteString(one(p))
	}
	return b.String()
}

// mrkdwn draws it for Slack.
func (l line) mrkdwn() string {
	return l.draw(func(p piece) string {
		text := say(p.text, longPhrase)
		if p.code {
			text = code(p.text, longValue)
		}
		return link(p.url, text)
	})
}
