package cluster

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
)

// defaultMaxBytes takes a full batch of the API server's (400 events) with
// bodies of 64 KiB.
const defaultMaxBytes = 32 << 20

// AuditConfig is what the audit listener needs.
type AuditConfig struct {
	// Token is what the API server must show as a bearer token. nil means
	// that a verified client certificate is asked for instead.
	Token func() (string, error)
	// Sink stores writes. It may be given one again, which it knows by its
	// AuditID, and returns only when they are stored.
	Sink func(context.Context, []Write) error
	// MaxBytes bounds a request; 0 means 32 MiB.
	MaxBytes int64
	Log      *slog.Logger
}

// AuditHandler takes the API server's audit webhook (audit.k8s.io/v1). It
// answers 200 only after Sink has stored what the request tells, so that the
// API server tells it again otherwise.
func AuditHandler(c AuditConfig) http.Handler {
	if c.MaxBytes == 0 {
		c.MaxBytes = defaultMaxBytes
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, text := c.take(w, r)
		if status == http.StatusOK {
			return
		}
		http.Error(w, text, status)
	})
}

// take handles one request and says how it went.
func (c AuditConfig) take(w http.ResponseWriter, r *http.Request) (status int, text string) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return http.StatusMethodNotAllowed, "POST audit.k8s.io/v1 event lists here"
	}
	known, err := c.known(r)
	if err != nil {
		c.Log.Warn("audit listener: read its token", "err", err)
		return http.StatusServiceUnavailable, "the listener's token can't be read"
	}
	if !known {
		return http.StatusUnauthorized, c.unknown(r)
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, c.MaxBytes))
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		c.Log.Warn("audit listener: a batch is too large and was dropped; lower --audit-webhook-batch-max-size", "limit", tooLarge.Limit)
		return http.StatusRequestEntityTooLarge, "the batch is too large; lower --audit-webhook-batch-max-size"
	}
	if err != nil {
		return http.StatusBadRequest, "the request ended early"
	}
	writes, err := DecodeEvents(raw)
	if err != nil {
		c.Log.Warn("audit listener: a request is no event list", "err", err)
		return http.StatusBadRequest, "this is no audit.k8s.io/v1 EventList in JSON"
	}
	if len(writes) == 0 {
		return http.StatusOK, ""
	}
	if err := c.Sink(r.Context(), writes); err != nil {
		c.Log.Warn("audit listener: store writes", "err", err)
		return http.StatusServiceUnavailable, "not stored; send it again"
	}
	return http.StatusOK, ""
}

// unknown says what a caller lacks. The usual mistake gets its cure: an API
// server leaves the token out of what it sends over plain HTTP, without a word
// (clientcmd reads credentials for https servers only).
func (c AuditConfig) unknown(r *http.Request) string {
	text := "show the bearer token or the client certificate of the audit webhook"
	if r.TLS == nil && r.Header.Get("Authorization") == "" {
		text = "no token came; an API server sends its token over https only, so give this listener a certificate"
	}
	c.Log.Warn("audit listener: a caller was turned away", "from", r.RemoteAddr, "why", text)
	return text
}

// known tells whether the caller is who he should be. Hashes are compared, so
// that the time taken tells neither the token nor its length.
func (c AuditConfig) known(r *http.Request) (bool, error) {
	if c.Token == nil {
		return r.TLS != nil && len(r.TLS.VerifiedChains) > 0, nil
	}
	want, err := c.Token()
	if err != nil {
		return false, err
	}
	got, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return ok && want != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1, nil
}
