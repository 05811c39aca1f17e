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

	"reconcilebot/state"
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

// hooks sends to response URLs. Each use is on disk before it is made, so that
// a restart does not begin to count anew. It is safe for concurrent use.
type hooks struct {
	http *http.Client
	api  *url.URL
	db   *state.DB
	now  func() time.Time

	mu   sync.Mutex // guards what follows
	used map[string]*hookUse
}

// hookUse is how often a URL was used, and of how many of these uses the disk
// knows.
type hookUse struct {
	uses, known int
	born        time.Time
}

func newHooks(s *Slack, db *state.DB, now func() time.Time) *hooks {
	return &hooks{http: s.http, api: s.api, db: db, now: now, used: map[string]*hookUse{}}
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

// send says something to whoever asked, by the URL that came with the act.
func (h *hooks) send(ctx context.Context, q *question, body hookBody) error {
	address := q.act.Answer
	u, err := url.Parse(address)
	if err != nil || !h.allowed(u) {
		// An address from elsewhere could make the bot call anything within
		// its network.
		return errors.New("answer by response URL: it is not at Slack")
	}
	if err := h.use(q); err != nil {
		return err
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

// use counts one more use of the URL of an act, or says that none is left.
func (h *hooks) use(q *question) error {
	n, known := h.count(q)
	switch {
	case n > hookUses:
		return errHookSpent
	case n <= known, q.d.Mint == "":
		// An act without a mint was not stored: a restart does not know of it,
		// and the disk may be what it was refused for.
		return nil
	}
	if err := h.db.Answered(q.d.ID, n); err != nil {
		return fmt.Errorf("count the uses of a response URL: %w", err)
	}
	return nil
}

func (h *hooks) count(q *question) (n, known int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	for a, u := range h.used {
		if now.Sub(u.born) > hookLife {
			delete(h.used, a)
		}
	}
	if now.Sub(q.d.Received) > hookLife {
		return hookUses + 1, 0
	}
	u := h.used[q.act.Answer]
	if u == nil {
		// Of those on disk the last is the one that this try is about to make.
		u = &hookUse{uses: max(q.d.Answers-1, 0), born: q.d.Received}
		h.used[q.act.Answer] = u
	}
	u.uses++
	n, known = u.uses, max(u.known, q.d.Answers)
	u.known = max(known, n)
	return n, known
}

// uses is how often the URL of an act was used by now.
func (h *hooks) uses(q *question) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if u := h.used[q.act.Answer]; u != nil {
		return u.uses
	}
	return max(q.d.Answers-1, 0)
}
