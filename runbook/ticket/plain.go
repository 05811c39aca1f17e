package ticket

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

// plain draws the record as text without any formatting, for PagerDuty. The
// marker is its last line, and what is too long is cut before it.
func plain(r Record, marker string, most int) string {
	var b strings.Builder
	b.WriteString(flat(r.Title) + "\n" + flat(header(r)) + "\n")
	for _, l := range r.Lines {
		if text := drawLine(l, plainPart); text != "" {
			b.WriteString(flat(l.Label) + ": " + strings.ReplaceAll(text, "\n", "\n  ") + "\n")
		}
	}
	for _, l := range r.Links {
		if web(l.URL) {
			b.WriteString(flat(l.Label) + ": " + l.URL + "\n")
		}
	}
	return shorten(b.String(), most-len(marker)) + marker
}

func plainPart(p Part) string {
	text := flat(p.Text)
	if web(p.URL) && p.URL != text {
		return text + " (" + p.URL + ")"
	}
	return text
}

// textMarker is the line by which a comment is found where nothing is hidden.
func textMarker(id string) string { return "reconcilebot record " + id }

// hasLine tells whether a text has a line that is exactly this: the marker of
// r-1 must not be found in that of r-12, nor in what is indented, which people
// may have written.
func hasLine(text, line string) bool {
	for l := range strings.Lines(text) {
		if strings.TrimRight(l, " \r\n") == line {
			return true
		}
	}
	return false
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// sum tells whether two texts are the same.
func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:16])
}
