package ticketsim

import (
	"html/template"
	"net/http"
	"slices"
	"strings"
)

var pageText = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{{.Title}}</title>
<meta name="viewport" content="width=device-width">
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1d1c1d }
article { border: 1px solid #ddd; border-radius: 6px; margin: 1rem 0; padding: .5rem 1rem }
small { color: #616061 } pre { white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.5 ui-monospace, monospace; margin: .5rem 0 }
</style>
<h1>{{.Title}}</h1>
{{range .Tickets}}<h2><a href="{{.Address}}">{{.Address}}</a></h2><small>{{.Condition}}</small>
{{range .Comments}}<article id="{{.ID}}"><small>{{.By}}, {{.At}}{{if .Edited}}, edited {{.Edited}} {{if eq .Edited 1}}time{{else}}times{{end}}{{end}}</small><pre>{{.Text}}</pre></article>
{{else}}<p>Nothing has arrived yet.</p>{{end}}
{{else}}<p>There is no such ticket.</p>{{end}}
`))

type (
	shownComment struct {
		Comment
		At string
	}
	shownTicket struct {
		Address   string
		Condition Condition
		Comments  []shownComment
	}
)

// page shows one ticket, or at the root all of them, as text: what arrived.
func (s *Sim) page(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "this is a page to look at", http.StatusMethodNotAllowed)
		return
	}
	s.mu.Lock()
	shown := struct {
		Title   string
		Tickets []shownTicket
	}{Title: "Tickets (" + string(s.kind) + ")"}
	var numbers []int
	for n := range s.tickets {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		if path := strings.TrimRight(r.URL.Path, "/"); path != "" && path != s.path(n) {
			continue
		}
		t := shownTicket{Address: s.Address(n), Condition: s.tickets[n].condition}
		for _, c := range s.tickets[n].comments {
			c.Text = s.legible(c.Text)
			t.Comments = append(t.Comments, shownComment{c, stampOf(c.At)})
		}
		shown.Tickets = append(shown.Tickets, t)
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	if len(shown.Tickets) == 0 && r.URL.Path != "/" {
		w.WriteHeader(http.StatusNotFound)
	}
	_ = pageText.Execute(w, shown) // the other end may be gone
}
