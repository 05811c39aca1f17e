package bot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/slack-go/slack"
)

// A response URL can be used five times within half an hour,
// https://docs.slack.dev/interactivity/handling-user-interaction; a minute is
// kept in hand for clocks that differ.
const (
	hookLife = 29 * time.Minute
	hookUses = 5
)

// errHookSpent means that a response URL can't be used any more.
var errHookSpent = errors.New("the response URL is spent")

// hooks sends to response URLs. It is safe for concurrent use.
type hooks struct {
	http *http.Client
	api  *url.URL
	now  func() time.Time

	mu   sync.Mutex // guards what follows
	used map[string]*hookUse
}

type hookUse struct {
	uses int
	born time.Time
}

func newHooks(s *Slack, now func() time.Time) *hooks {
	return &hooks{http: s.http, api: s.api, now: now, used: map[string]*hookUse{}}
}

// hookBody is what a response URL takes. The three flags are always sent:
// their defaults differ between the kinds of interaction.
type hookBody struct {
	Type    string        `json:"response_type"`
	Replace bool          `json:"replace_original"`
	Delete  bool          `json:"delete_original"`
	Thread  string        `json:"thread_ts,omitempty"`
	Text    string        `json:"text"`
	Blocks  []slack.Block `json:"blocks,omitempty"`
}

// send says something to the person that the URL is of.
func (h *hooks) send(ctx context.Context, address string, born time.Time, body hookBody) error {
	u, err := url.Parse(address)
	if err != nil || !h.allowed(u) {
		// An address from elsewhere could make the bot call anything within
		// its network.
		return errors.New("answer by response URL: it is not at Slack")
	}
	if !h.use(address, born) {
		return errHookSpent
	}
	body.Type = "ephemeral"
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(raw))
	if err != nil {
		return errors.New("answer by response URL: it is no address")
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	resp, err := h.http.Do(req)
	if err != nil {
		return fmt.Errorf("answer by response URL: %w", plain(err))
	}
	defer resp.Body.Close()
	word, err := io.ReadAll(io.LimitReader(resp.Body, 200))
	switch {
	case resp.StatusCode == http.StatusOK && err == nil:
		return hookAnswer(word)
	case resp.StatusCode == http.StatusNotFound:
		return errHookSpent
	}
	return fmt.Errorf("answer by response URL: %s", resp.Status)
}

// hookAnswer reads what a response URL says: "ok", or JSON with ok in it.
func hookAnswer(word []byte) error {
	var answer struct {
		OK    *bool  `json:"ok"`
		Error string `json:"error"`
	}
	if json.Unmarshal(word, &answer) == nil && answer.OK != nil && !*answer.OK {
		return fmt.Errorf("answer by response URL: %s", cut(answer.Error, 80))
	}
	return nil
}

// allowed accepts Slack's own host for response URLs, and that of the API
// base if the bot was given another.
func (h *hooks) allowed(u *url.URL) bool {
	host := strings.ToLower(u.Host)
	if u.User != nil {
		return false
	}
	return u.Scheme == "https" && (host == "hooks.slack.com" || host == "hooks.slack-gov.com") ||
		u.Scheme == h.api.Scheme && strings.EqualFold(u.Host, h.api.Host)
}

// use counts one use of a URL, or says that none is left.
func (h *hooks) use(address string, born time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	for a, u := range h.used {
		if now.Sub(u.born) > hookLife {
			delete(h.used, a)
		}
	}
	if now.Sub(born) > hookLife {
		return false
	}
	u := h.used[address]
	if u == nil {
		u = &hookUse{born: born}
		h.used[address] = u
	}
	u.uses++
	return u.uses <= hookUses
}
