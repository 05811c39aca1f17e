package card

import (
	"fmt"
	"strings"
)

// RecordMarkdown is the record as text for the incident's ticket.
func RecordMarkdown(f Facts) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n", markdown(strings.Join(recordHead(f), " · ")))
	fmt.Fprintf(&b, "%s, %s → %s (%s)\n\n", markdown(string(f.Run.Incident)),
		f.Run.Opened.UTC().Format("2006-01-02 15:04 UTC"), f.Run.Closed.UTC().Format("2006-01-02 15:04 UTC"), span(f.Run.Closed.Sub(f.Run.Opened)))
	for _, l := range record(f) {
		if text := l.markdown(); text != "" {
			// Two spaces at the end of a line keep the next one below it.
			fmt.Fprintf(&b, "- **%s:** %s\n", l.label, strings.ReplaceAll(text, "\n", "  \n  "))
		}
	}
	fmt.Fprintf(&b, "\nReconciliation `%s`\n", f.Run.ID)
	return b.String()
}
