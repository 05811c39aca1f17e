package forge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
)

// tokens gives the token for what an owner has: a person or an organisation.
// The owner is "" where a request does not belong to any.
type tokens interface {
	Token(ctx context.Context, owner string) (string, error)
	// refused says that the server does not know the token any more, and tells
	// whether asking again may give another one.
	refused(owner, token string) bool
}

// single is one token for everything.
type single func() (string, error)

func (s single) Token(context.Context, string) (string, error) { return s() }
func (single) refused(string, string) bool                     { return false }

// authorise adds the token to each request for the one host that it is meant
// for. A redirect to another host, or from https to http, goes there without
// it.
type authorise struct {
	tokens tokens
	at     place
	next   http.RoundTripper
}

// tokenError says that our own token could not be had: nothing was sent.
type tokenError struct{ err error }

func (e *tokenError) Error() string { return "get the GitHub token: " + e.err.Error() }
func (e *tokenError) Unwrap() error { return e.err }

func (a authorise) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != a.at.host || r.URL.Scheme != a.at.scheme {
		return a.next.RoundTrip(r)
	}
	owner := a.at.owner(r)
	resp, token, err := a.send(r, owner)
	// A token can be taken back before it expires. One more try with a new
	// one, if the request can be sent twice: what was refused had no effect.
	if err != nil || resp.StatusCode != http.StatusUnauthorized || r.Body != nil && r.GetBody == nil || !a.tokens.refused(owner, token) {
		return resp, err
	}
	_ = resp.Body.Close() // it says no more than its status
	if r.GetBody != nil {
		r = r.Clone(r.Context())
		if r.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
	}
	resp, _, err = a.send(r, owner)
	return resp, err
}

func (a authorise) send(r *http.Request, owner string) (*http.Response, string, error) {
	token, err := a.tokens.Token(r.Context(), owner)
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // RoundTrip must close it; nothing was read
		}
		return nil, "", &tokenError{err}
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := a.next.RoundTrip(r)
	return resp, token, err
}

// owner is whose a request is: what follows repos/, orgs/ or users/ in the
// address. After a redirect, as GitHub answers for
// a repository that was renamed, it is the one of the first request.
func (p place) owner(r *http.Request) string {
	for r.Response != nil && r.Response.Request != nil {
		r = r.Response.Request
	}
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, p.prefix), "/")
	if len(parts) > 1 && (parts[0] == "repos" || parts[0] == "orgs" || parts[0] == "users") {
		return parts[1]
	}
	return ""
}

// unreadable is an answer that broke off.
type unreadable struct{ err error }

func (e *unreadable) Error() string { return "read answer: " + e.err.Error() }
func (e *unreadable) Unwrap() error { return e.err }

func isNetwork(err error) bool {
	if _, ok := errors.AsType[*url.Error](err); ok {
		return true
	}
	_, ok := errors.AsType[net.Error](err)
	return ok || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded)
}

// Limits of the memory of answers: a poll of one pull request is four to six
// answers, so this holds some hundreds of pull requests.
const (
	maxAnswers    = 2048
	maxAnswerSize = 1 << 20 // bytes
)

// memory answers conditional requests from what was read before. It works
// only for requests whose context carries a watch.
type memory struct {
	next http.RoundTripper

	mu      sync.Mutex
	answers map[string]answer
	order   []string // oldest first
}

type answer struct {
	header http.Header
	body   []byte
}

func newMemory(next http.RoundTripper) *memory {
	return &memory{next: next, answers: map[string]answer{}}
}

// watch marks the requests of one poll, and counts the answers that brought
// something new. Its scope keeps one pull request's polls apart from every
// other reader of the same addresses: otherwise a reader in between would
// take the news away.
type watch struct {
	scope string
	fresh atomic.Int32
}

type watchKey struct{}

func watching(ctx context.Context, scope string) (context.Context, *watch) {
	w := &watch{scope: scope}
	return context.WithValue(ctx, watchKey{}, w), w
}

func (m *memory) RoundTrip(r *http.Request) (*http.Response, error) {
	w, ok := r.Context().Value(watchKey{}).(*watch)
	if !ok || r.Method != http.MethodGet {
		return m.next.RoundTrip(r)
	}
	key := w.scope + " " + r.URL.String()
	known, seen := m.get(key)
	if etag := known.header.Get("ETag"); etag != "" {
		r = r.Clone(r.Context())
		r.Header.Set("If-None-Match", etag)
	}
	resp, err := m.next.RoundTrip(r)
	if err != nil {
		w.fresh.Add(1)
		return nil, err
	}
	if resp.StatusCode == http.StatusNotModified && seen {
		return again(resp, known), nil
	}
	return m.learn(w, key, known, resp)
}

// again answers with the remembered body under the new answer's rate limit.
func again(resp *http.Response, known answer) *http.Response {
	_ = resp.Body.Close() // a 304 has none
	header := known.header.Clone()
	for k, v := range resp.Header {
		header[k] = v
	}
	resp.StatusCode, resp.Status = http.StatusOK, "200 OK"
	resp.Header = header
	resp.Body = io.NopCloser(bytes.NewReader(known.body))
	resp.ContentLength = int64(len(known.body))
	return resp
}

func (m *memory) learn(w *watch, key string, known answer, resp *http.Response) (*http.Response, error) {
	if resp.StatusCode != http.StatusOK {
		w.fresh.Add(1)
		return resp, nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerSize+1))
	if err != nil {
		_ = resp.Body.Close()
		return nil, &unreadable{err}
	}
	if len(body) > maxAnswerSize { // too large to keep
		w.fresh.Add(1)
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), resp.Body), resp.Body}
		return resp, nil
	}
	_ = resp.Body.Close() // read to its end
	// A new token changes the ETag of an unchanged answer.
	if !bytes.Equal(body, known.body) {
		w.fresh.Add(1)
	}
	m.put(key, answer{header: resp.Header.Clone(), body: body})
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

func (m *memory) get(key string) (answer, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, ok := m.answers[key]
	return a, ok
}

func (m *memory) put(key string, a answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.answers[key]; !ok {
		m.order = append(m.order, key)
	}
	m.answers[key] = a
	if len(m.order) > maxAnswers {
		delete(m.answers, m.order[0])
		m.order = m.order[1:]
	}
}

// scopeOf names the polls of one pull request.
func scopeOf(repo Repo, number int) string { return fmt.Sprintf("%s#%d", repo, number) }
