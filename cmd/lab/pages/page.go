// Package pages shows in a browser what has no page of its own in the lab:
// Argo CD's Applications, at the addresses that Argo CD's own pages have, and
// the events of the cluster's audit log.
//
// It must never change anything, and never show what a Secret holds. It says of
// itself that it is the lab's.
//
// Why it exists: Argo CD's pages are built by Node.js and are not in its Go
// module, and a bare API server has no page for its audit log, so that links to
// either would lead nowhere in the lab.
package pages

import (
	"context"
	"embed"
	"errors"
	"html/template"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"reconcilebot/runbook/argocd"
)

//go:embed html
var files embed.FS

var templates = template.Must(template.New("pages").Funcs(template.FuncMap{
	"short": func(revision string) string { return revision[:min(len(revision), 7)] },
	"when":  func(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04:05 UTC") },
	"lower": strings.ToLower,
	"commit": func(s argocd.Source, revision string) string {
		return strings.TrimSuffix(s.RepoURL, ".git") + "/commit/" + revision
	},
}).ParseFS(files, "html/*.html"))

// reader is the part of Argo CD's API that the pages need.
type reader interface {
	Apps(context.Context) ([]argocd.App, error)
	App(context.Context, argocd.Ref) (argocd.App, error)
	Managed(context.Context, argocd.Ref) ([]argocd.Managed, error)
}

// New serves the pages from what argo says, and what the API server has written
// to the file auditLog, at the time of the request.
func New(argo reader, auditLog string) http.Handler {
	p := &site{argo: argo, auditLog: auditLog}
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", http.RedirectHandler("/applications", http.StatusFound))
	mux.HandleFunc("GET /applications", p.list)
	mux.HandleFunc("GET /applications/{namespace}/{name}", p.application)
	mux.HandleFunc("GET /audit/{id}", p.event)
	mux.HandleFunc("GET /-/page.css", func(w http.ResponseWriter, req *http.Request) {
		http.ServeFileFS(w, req, files, "html/page.css")
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "There is no page here. Applications are at /applications.")
	})
	return local(mux)
}

// local refuses requests under a name that is not this machine's: a page
// elsewhere whose name was made to lead to 127.0.0.1 must not read these.
func local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		host, _, err := net.SplitHostPort(req.Host)
		if err != nil {
			host = req.Host
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			refuse(w, http.StatusForbidden, "Open this page by its loopback address.")
			return
		}
		next.ServeHTTP(w, req)
	})
}

type site struct {
	argo     reader
	auditLog string
}

func (s *site) list(w http.ResponseWriter, req *http.Request) {
	apps, err := s.argo.Apps(req.Context())
	if err != nil {
		failed(w, err)
		return
	}
	show(w, http.StatusOK, "list", view{Title: "Applications", Data: apps})
}

func (s *site) application(w http.ResponseWriter, req *http.Request) {
	ref := argocd.Ref{Namespace: req.PathValue("namespace"), Name: req.PathValue("name")}
	app, err := s.argo.App(req.Context(), ref)
	if err != nil {
		failed(w, err)
		return
	}
	data := struct {
		argocd.App
		Differences []difference
		NotCompared string // why there are none
	}{App: app}
	// An Application that can't be compared has no objects to tell about, and
	// its conditions say why: the rest of the page is of use then.
	if objects, err := s.argo.Managed(req.Context(), ref); err != nil {
		data.NotCompared = err.Error()
	} else {
		data.Differences = differences(objects)
	}
	show(w, http.StatusOK, "application", view{Title: app.Name, Data: data})
}

// view is what every page is made of.
type view struct {
	Title string
	Data  any
}

// show writes a page. No script runs on it and nothing is loaded from
// elsewhere: the texts on it are other people's.
func show(w http.ResponseWriter, status int, name string, v view) {
	var page strings.Builder
	if err := templates.ExecuteTemplate(&page, name, v); err != nil {
		slog.Error("page not shown", "page", name, "error", err)
		http.Error(w, "The page could not be made.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(page.String())) // nobody is left to be told
}

func refuse(w http.ResponseWriter, status int, text string) {
	show(w, status, "refused", view{Title: http.StatusText(status), Data: text})
}

func failed(w http.ResponseWriter, err error) {
	status := http.StatusBadGateway
	if _, ok := errors.AsType[*argocd.NotFound](err); ok {
		status = http.StatusNotFound
	} else if _, ok := errors.AsType[*argocd.Unavailable](err); ok {
		status = http.StatusServiceUnavailable
	}
	refuse(w, status, err.Error())
}
