package slacksim

import (
	"embed"
	"io/fs"
	"net/http"
	"strings"

	"reconcilebot/bot/slacksim/blockkit"
)

//go:embed page
var pageFiles embed.FS

// contentPolicy lets the page load nothing from elsewhere. Images of messages
// are not fetched: the page draws their place.
const contentPolicy = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

// page serves the client that people use.
func (s *Sim) page(mux *http.ServeMux) {
	files := assets()
	mux.Handle("GET /page/", http.StripPrefix("/page/", files))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { sendPage(w, "page/index.html") })
	mux.HandleFunc("GET /archives/{channel}/{message}", openMessage)
}

// assets serves the page's own files.
func assets() http.Handler {
	root, err := fs.Sub(pageFiles, "page")
	if err != nil {
		return http.NotFoundHandler() // the folder is compiled in
	}
	server := http.FileServerFS(root)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		server.ServeHTTP(w, r)
	})
}

func sendPage(w http.ResponseWriter, name string) {
	html, err := pageFiles.ReadFile(name)
	if err != nil {
		http.Error(w, "the page is missing from this build", http.StatusInternalServerError)
		return
	}
	headers(w)
	_, _ = w.Write(html) // a client that is gone needs no answer
}

func headers(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
}

// openMessage leads a permalink to the page with that message open.
func openMessage(w http.ResponseWriter, r *http.Request) {
	ts := strings.TrimPrefix(r.PathValue("message"), "p")
	if len(ts) > 6 {
		ts = ts[:len(ts)-6] + "." + ts[len(ts)-6:]
	}
	to := "/?channel=" + r.PathValue("channel") + "&message=" + ts
	if thread := r.FormValue("thread_ts"); thread != "" {
		to += "&thread=" + thread
	}
	http.Redirect(w, r, to, http.StatusFound)
}

// NamedCard is a message to be drawn without an app: its blocks as JSON, and
// its text when it has none.
type NamedCard struct {
	Name   string
	Text   string
	Blocks []byte
	Names  map[string]string // of the users, groups and channels it mentions, by id
}

// CardsPage draws cards one below the other, as the page draws messages.
func CardsPage(cards []NamedCard) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /page/", http.StripPrefix("/page/", assets()))
	mux.HandleFunc("GET /cards.json", func(w http.ResponseWriter, _ *http.Request) {
		out := []obj{}
		for _, c := range cards {
			var blocks any = []any{}
			if b := list(decodeAny(c.Blocks)); b != nil {
				blocks = b
			}
			out = append(out, obj{"name": c.Name, "text": c.Text, "blocks": blocks, "names": c.Names, "faults": cardFaults(c)})
		}
		writeJSON(w, http.StatusOK, out)
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { sendPage(w, "page/cards.html") })
	return mux
}

// cardFaults are what Slack would refuse about a card.
func cardFaults(c NamedCard) []string {
	faults := []string{}
	var bodies []obj
	for _, b := range list(decodeAny(c.Blocks)) {
		if o, ok := b.(obj); ok {
			bodies = append(bodies, o)
		}
	}
	for _, f := range blockkit.Check(bodies, blockkit.Message) {
		faults = append(faults, f.What+" at "+f.Pointer)
	}
	return faults
}
