package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const secret = "ghp_secret"

func clientOf(t *testing.T, address string) *GitHub {
	t.Helper()
	g, err := NewGitHub(Config{BaseURL: address + "/api/v3/", Token: func() (string, error) { return secret, nil }})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func serve(t *testing.T, f http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return server.URL
}

func TestTheTokenStaysAtItsHost(t *testing.T) {
	var asked atomic.Int32
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Errorf("another host got the token at %s", r.URL)
		}
		// The second request comes from this host itself.
		if asked.Add(1) == 1 {
			http.Redirect(w, r, "/again", http.StatusTemporaryRedirect)
			return
		}
		_, _ = fmt.Fprint(w, `{"login":"bot"}`)
	})
	own := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+secret {
			t.Errorf("the host got no token at %s", r.URL)
		}
		http.Redirect(w, r, other+"/user", http.StatusTemporaryRedirect)
	})
	if login, _, err := clientOf(t, own).Whoami(t.Context()); err != nil || login != "bot" || asked.Load() != 2 {
		t.Errorf("login %q, %v, %d requests", login, err, asked.Load())
	}
}

func TestWhatAnErrorMeans(t *testing.T) {
	respond := func(status int, body string, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			_, _ = fmt.Fprint(w, body)
		}
	}
	reset := time.Now().Add(20 * time.Minute).Unix()
	const limited, away, other = "limited", "away", "other"
	for _, c := range []struct {
		name string
		host http.HandlerFunc
		want string
		wait time.Duration
	}{
		{"the hour's requests are used up", respond(403, `{"message":"API rate limit exceeded"}`, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", fmt.Sprint(reset)), limited, 20 * time.Minute},
		{"too much at once", respond(403, `{"documentation_url":"https://docs.github.com/rest#about-secondary-rate-limits"}`, "Retry-After", "30"), limited, 30 * time.Second},
		{"too much at once, without a time", respond(403, `{"documentation_url":"https://docs.github.com/rest#about-secondary-rate-limits"}`), limited, time.Minute},
		{"a 429", respond(429, `{}`, "Retry-After", "7"), limited, 7 * time.Second},
		{"a proxy is down", respond(502, `<html>`), away, 0},
		{"in maintenance", respond(503, `{}`), away, 0},
		{"the connection breaks", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, away, 0},
		{"the answer breaks off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = fmt.Fprint(w, `{"login":`)
		}, away, 0},
		{"a token that is refused", respond(401, `{"message":"Bad credentials"}`), other, 0},
		{"a right that is missing", respond(403, `{"message":"Resource not accessible by personal access token"}`), other, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := clientOf(t, serve(t, c.host)).Whoami(t.Context())
			got := other
			if r, ok := errors.AsType[*RateLimited](err); ok {
				got = limited
				if off := time.Until(r.Until) - c.wait; off > 2*time.Second || off < -10*time.Second {
					t.Errorf("wait until %s, want %s from now", r.Until, c.wait)
				}
			} else if _, ok := errors.AsType[*Unavailable](err); ok {
				got = away
			}
			if err == nil || got != c.want {
				t.Errorf("%s: %v, want %s", got, err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("the error holds the token: %v", err)
			}
		})
	}
}

func TestNobodyThereAndNobodyWaiting(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	address := server.URL
	server.Close()
	if _, _, err := clientOf(t, address).Whoami(t.Context()); !isUnavailable(err) {
		t.Errorf("nobody there: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := clientOf(t, address).Whoami(ctx); isUnavailable(err) || !errors.Is(err, context.Canceled) {
		t.Errorf("the caller gave up: %v", err)
	}
	g, err := NewGitHub(Config{BaseURL: address, Token: func() (string, error) { return "", errors.New("no such file") }})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := g.Whoami(t.Context()); isUnavailable(err) || err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a token that can't be read: %v", err)
	}
}

func isUnavailable(err error) bool {
	_, ok := errors.AsType[*Unavailable](err)
	return ok
}

func TestTheTokenIsNotSentInTheClear(t *testing.T) {
	var sent atomic.Int32
	plain := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			sent.Add(1)
		}
		_, _ = fmt.Fprint(w, `{}`)
	})
	host := strings.TrimPrefix(plain, "http://")
	own := authorise{tokens: single(func() (string, error) { return secret, nil }), at: place{scheme: "https", host: host}, next: http.DefaultTransport}
	resp, err := (&http.Client{Transport: own}).Get(plain)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || sent.Load() != 0 {
		t.Errorf("a redirect from https to http carried the token: %v", err)
	}
}

// pollHost answers a pull request's reads with an ETag of their own content.
type pollHost struct {
	title      atomic.Value
	full, same atomic.Int32
}

func (h *pollHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := `[]`
	switch {
	case strings.HasSuffix(r.URL.Path, "/pulls/1"):
		body = fmt.Sprintf(`{"number":1,"state":"open","title":%q,"head":{"sha":"abc"},"base":{"ref":"main"}}`, h.title.Load())
	case strings.HasSuffix(r.URL.Path, "/status"), strings.HasSuffix(r.URL.Path, "/check-runs"), strings.HasSuffix(r.URL.Path, "gitops/branches/main"), strings.HasSuffix(r.URL.Path, "/acme/gitops"):
		body = `{}`
	}
	etag := fmt.Sprintf("%q", fmt.Sprint(len(body), h.title.Load()))
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		h.same.Add(1)
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.full.Add(1)
	_, _ = fmt.Fprint(w, body)
}

func TestAPollAsksOnlyForNews(t *testing.T) {
	host := &pollHost{}
	host.title.Store("before")
	g := clientOf(t, serve(t, host.ServeHTTP))
	repo := Repo{"acme", "gitops"}
	poll := func(changed bool, title string) {
		t.Helper()
		now, err := g.Progress(t.Context(), repo, 1)
		if err != nil || now.Changed != changed || now.PR.Title != title {
			t.Errorf("changed %v, title %q, %v; want %v, %q", now.Changed, now.PR.Title, err, changed, title)
		}
	}
	poll(true, "before")
	full := host.full.Load()
	poll(false, "before")
	if host.full.Load() != full || host.same.Load() == 0 {
		t.Errorf("an unchanged poll brought %d answers", host.full.Load()-full)
	}
	host.title.Store("after")
	// Another reader of the same address does not take the news away.
	if _, err := g.read(t.Context(), repo, 1); err != nil {
		t.Fatal(err)
	}
	poll(true, "after")
	poll(false, "after")
}

func TestAnErrorHidesTheTokenOfACloneURL(t *testing.T) {
	for _, clone := range []string{"https://x:" + secret + "@example.com/only", "https://" + secret + "@example.com", secret + "@example.com:only", "https://x:" + secret + "@exa mple.com/a/b/c", "://" + secret + "@x"} {
		if _, err := ParseRepo(clone); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("ParseRepo(%q) = %v", clone, err)
		}
	}
}
