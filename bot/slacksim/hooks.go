package slacksim

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"reconcilebot/bot/slacksim/blockkit"
)

// A response URL lives half an hour and can be used five times,
// https://docs.slack.dev/interactivity/handling-user-interaction.
const (
	hookLife = 30 * time.Minute
	hookUses = 5
)

// hook is a response URL: where it leads and how much of it is left.
type hook struct {
	user, channel string
	source        string // ts of the message acted on; empty for commands
	ephemeral     bool   // the source is ephemeral
	issued        time.Time
	used          int
	last          time.Time
}

// hookSave is a response URL in a snapshot.
type hookSave struct {
	User, Channel, Source string
	Ephemeral             bool
	Issued, Last          time.Time
	Used                  int
}

func (h *hook) save() hookSave {
	return hookSave{h.user, h.channel, h.source, h.ephemeral, h.issued, h.last, h.used}
}

func (s hookSave) load() *hook {
	return &hook{user: s.User, channel: s.Channel, source: s.Source, ephemeral: s.Ephemeral, issued: s.Issued, last: s.Last, used: s.Used}
}

func (s *Sim) hook(kind string, h hook) string {
	h.issued = s.clock.Now()
	path := "/hooks/" + kind + "/" + s.team.ID + "/" + s.id("H") + "/" + s.secret(24)
	s.hooks[path] = &h
	return "http://" + s.host + path
}

// answerHook serves response URLs.
func (s *Sim) answerHook(w http.ResponseWriter, r *http.Request) {
	rule := s.faultFor(trait{Route: "hooks"})
	if rule.before(w, r) {
		return
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil || r.Method != http.MethodPost {
		http.Error(w, "invalid_payload", http.StatusBadRequest)
		return
	}
	status, text := s.useHook(r.URL.Path, raw)
	s.noteHook(status, text)
	if rule.after(w) {
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) // a client that is gone needs no answer
}

// hookBody is what an app may send to a response URL.
type hookBody struct {
	Text         string          `json:"text"`
	Blocks       json.RawMessage `json:"blocks"`
	ResponseType string          `json:"response_type"`
	Replace      bool            `json:"replace_original"`
	Delete       bool            `json:"delete_original"`
	Thread       string          `json:"thread_ts"`
}

func (s *Sim) useHook(path string, raw []byte) (int, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.hooks[path]
	now := s.clock.Now()
	switch {
	case h == nil:
		return http.StatusNotFound, "no_service"
	case h.used >= hookUses:
		s.find(RuleResponseURL, "a response URL was used more than %d times", hookUses)
		return http.StatusNotFound, "used_url"
	case now.Sub(h.issued) > hookLife:
		s.find(RuleResponseURL, "a response URL was used after %s", hookLife)
		return http.StatusNotFound, "expired_url"
	case s.opts.Limits == LimitsStrict && now.Sub(h.last) < time.Second:
		return http.StatusTooManyRequests, "rate_limited"
	}
	var body hookBody
	if err := json.Unmarshal(raw, &body); err != nil {
		return http.StatusBadRequest, "invalid_payload"
	}
	h.used++
	h.last = now
	if f := s.deliverHook(h, body); f != nil {
		return http.StatusBadRequest, f.code
	}
	s.bump()
	return http.StatusOK, "ok"
}

// deliverHook shows the answer. Membership is not needed: a response URL
// reaches also where the app could not post.
func (s *Sim) deliverHook(h *hook, body hookBody) *failure {
	room := s.channels[h.channel]
	if room == nil {
		return fail("channel_not_found")
	}
	source := room.any(h.source)
	if body.Delete {
		if source != nil {
			room.drop(source)
		}
		return nil
	}
	blocks, f := s.blocks(string(body.Blocks), blockkit.Message)
	if f != nil {
		return f
	}
	what := content{text: body.Text, blocks: blocks}
	if what.empty() {
		return fail("no_text")
	}
	s.watchHook(room, body.ResponseType, what)
	switch {
	case body.Replace && source != nil:
		s.edit(source, what, true, false)
	case body.ResponseType == "in_channel":
		m := Message{
			TS: s.ts(), ThreadTS: body.Thread, Channel: room.ID, User: s.app.UserID, BotID: s.app.BotID,
			Text: what.text, Blocks: what.blocks,
		}
		s.emitMessage(room.add(m).Message)
	default:
		s.ephemeral(room, h.user, body.Thread, what)
	}
	return nil
}

func (s *Sim) watchHook(room *channel, kind string, what content) {
	if strings.TrimSpace(what.text) == "" {
		s.find(RuleNoText, "response URL in #%s: no text for notifications and screen readers beside the blocks", room.Name)
	}
	if kind == "in_channel" && room.ExtShared {
		s.find(RuleExtShared, "response URL in #%s: the channel is shared with another organisation", room.Name)
	}
	s.inspectContent("response URL in #"+room.Name, what.text, what.blocks)
}

// any finds a message or an ephemeral one.
func (c *channel) any(ts string) *stored {
	if m := c.find(ts); m != nil {
		return m
	}
	for _, m := range c.ephemeral {
		if m.TS == ts {
			return m
		}
	}
	return nil
}

func (c *channel) drop(m *stored) {
	for i, e := range c.ephemeral {
		if e == m {
			c.ephemeral = append(c.ephemeral[:i], c.ephemeral[i+1:]...)
			return
		}
	}
	c.remove(m.TS)
}
