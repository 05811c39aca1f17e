package githubsim

import (
	"embed"
	"errors"
	"html/template"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

//go:embed pages
var pageFiles embed.FS

// newPages parses the pages' templates.
func newPages() (*template.Template, error) {
	return template.New("pages").Funcs(template.FuncMap{
		"short":  short,
		"number": func(index int) int { return index + 1 },
		"when":   func(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04 UTC") },
		"states": func(state string) string { return strings.ToLower(strings.ReplaceAll(state, "_", " ")) },
	}).ParseFS(pageFiles, "pages/*.html")
}

func short(sha string) string { return sha[:min(len(sha), 7)] }

// view is what every page is made of.
type view struct {
	Title string
	// As is who looks, for links to keep; "" when nobody was chosen.
	As string
	// Repo is the full name of the repository that the page belongs to.
	Repo string
	Data any
}

// Query keeps who looks in a link.
func (v view) Query() template.URL {
	if v.As == "" {
		return ""
	}
	return template.URL("?" + url.Values{"as": {v.As}}.Encode())
}

// show writes a page. Nothing on it may load from, post to or be framed by
// another place, and no script runs: the texts on it are other people's.
func (s *Sim) show(w http.ResponseWriter, status int, name string, v view) {
	var page strings.Builder
	if err := s.templates.ExecuteTemplate(&page, name, v); err != nil {
		slog.Error("page not shown", "page", name, "error", err)
		http.Error(w, "The page could not be made.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(page.String()))
}

// refuse shows an error in words.
func (s *Sim) refuse(w http.ResponseWriter, as string, err error) {
	status := http.StatusInternalServerError
	if f, ok := errors.AsType[*failure](err); ok {
		status = f.status
	}
	text := err.Error()
	if status == http.StatusNotFound {
		text = "There is nothing here, or it is not for you to see."
	}
	s.show(w, status, "refused", view{Title: http.StatusText(status), As: as, Data: text})
}

func serveStyle(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeFileFS(w, req, pageFiles, "pages/page.css")
}

// visible finds the repository of a page. Nobody signs in here: this host
// stands on one machine, for one person who plays several. Somebody who is
// named still sees only what GitHub would show them.
func (s *Sim) visible(req *http.Request, as string) (*repo, error) {
	r, err := s.repo(req.PathValue("owner") + "/" + req.PathValue("repo"))
	if err != nil || as != "" && r.may(as) < Read {
		return nil, notFound()
	}
	return r, nil
}

func (s *Sim) homePage(w http.ResponseWriter, req *http.Request) {
	as := req.URL.Query().Get("as")
	if req.URL.Path != "/" {
		s.refuse(w, as, notFound())
		return
	}
	type line struct {
		Name string
		Open int
	}
	var list []line
	s.mu.Lock()
	for name, r := range s.repos {
		if as == "" || r.may(as) >= Read {
			list = append(list, line{name, len(r.openPulls())})
		}
	}
	s.mu.Unlock()
	slices.SortFunc(list, func(a, b line) int { return strings.Compare(a.Name, b.Name) })
	s.show(w, http.StatusOK, "home", view{Title: "Repositories", As: as, Data: list})
}

// openPulls are the open pull requests, newest first.
func (r *repo) openPulls() []*pull {
	var list []*pull
	for _, p := range slices.Backward(r.pulls) {
		r.follow(p)
		if p.closed.IsZero() {
			list = append(list, p)
		}
	}
	return list
}

// foreign tells whether a form was posted from another site. A browser names
// the site that a form is on; a name that somebody else's DNS points at this
// machine is refused too.
func (s *Sim) foreign(req *http.Request) bool {
	if http.NewCrossOriginProtection().Check(req) != nil {
		return true
	}
	host := req.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if own, err := url.Parse(s.url); err == nil && own.Hostname() == host {
		return false
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host != "localhost" && (ip == nil || !ip.IsLoopback())
}
