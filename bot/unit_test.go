package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"reconcilebot/state"
)

func TestTroubleOf(t *testing.T) {
	word := func(code string) error { return fmt.Errorf("x: %w", slack.SlackErrorResponse{Err: code}) }
	refused := &url.Error{Op: "Post", URL: "https://hooks.slack.com/secret", Err: &net.OpError{Op: "dial", Err: errors.New("refused")}}
	cases := map[string]struct {
		err    error
		want   remedy
		unsure bool
	}{
		"a pause":                   {&slack.RateLimitedError{RetryAfter: time.Second}, later, false},
		"a pause without a length":  {slack.StatusCodeError{Code: 429}, later, false},
		"a server error":            {slack.StatusCodeError{Code: 502}, later, true},
		"a moved API":               {slack.StatusCodeError{Code: 302}, setup, false},
		"an unanswered call":        {errors.New("EOF"), later, true},
		"a refused connection":      {refused, later, false},
		"no timestamp":              {errEmpty, later, true},
		"unwell":                    {word("internal_error"), later, true},
		"a wrong token":             {word("not_allowed_token_type"), setup, false},
		"an unknown token":          {word("invalid_auth"), setup, false},
		"a scope":                   {word("missing_scope"), setup, false},
		"not a member":              {word("not_in_channel"), closedRoom, false},
		"deleted":                   {word("message_not_found"), replace, false},
		"too old":                   {word("edit_window_closed"), replace, false},
		"bad blocks":                {word("invalid_blocks"), unfit, false},
		"a code from the future":    {word("brand_new_error"), unfit, false},
		"a trigger of the guide":    {word("trigger_expired"), tooLate, false},
		"a trigger of the methods":  {word("exchanged_trigger_id"), tooLate, false},
		"a setup error of our own":  {&setupError{Say: "s"}, setup, false},
		"a context that ran out":    {context.DeadlineExceeded, later, true},
		"an address in an error":    {&url.Error{Op: "Post", URL: "https://x/secret", Err: errors.New("reset")}, later, true},
		"an answer that is no JSON": {&json.SyntaxError{}, later, true},
	}
	for name, c := range cases {
		got := troubleOf(c.err)
		if got.Remedy != c.want || got.Unsure != c.unsure {
			t.Errorf("%s: remedy %d unsure %t, want %d %t", name, got.Remedy, got.Unsure, c.want, c.unsure)
		}
		if strings.Contains(got.Err.Error(), "secret") {
			t.Errorf("%s: the address is repeated: %v", name, got.Err)
		}
	}
}

func TestResponseURLs(t *testing.T) {
	var hits int
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits++
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		case "/no":
			fmt.Fprint(w, `{"ok":false,"error":"bad"}`)
		default:
			fmt.Fprint(w, "ok")
		}
	}))
	defer srv.Close()
	s, err := NewSlack(SlackConfig{API: srv.URL + "/api", BotToken: give("xoxb-1"), AppToken: give("xapp-1")})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1e9, 0)
	path := filepath.Join(t.TempDir(), "state.db")
	open := func() *state.DB {
		db, err := state.Open(path, func() time.Time { return now })
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	db := open()
	h := newHooks(s, db, func() time.Time { return now })
	ask := func(address string, born time.Time, d state.Delivery) *question {
		d.Received = born
		return &question{act: act{Answer: address}, d: d}
	}
	for name, address := range map[string]string{
		"another host":             "https://evil.example/hooks",
		"a host that looks alike":  "https://hooks.slack.com.evil.example/x",
		"a host behind a user":     "https://hooks.slack.com@evil.example/x",
		"a user before the host":   "https://user@hooks.slack.com/x",
		"not encrypted":            "http://hooks.slack.com/x",
		"another port":             "http://127.0.0.1:1/x",
		"the metadata of a cloud":  "http://169.254.169.254/latest",
		"a file":                   "file:///etc/passwd",
		"no address":               "::",
		"a redirect is not taken":  srv.URL + "/away",
		"an answer that says no":   srv.URL + "/no",
		"one that is half an hour": "",
	} {
		born := now
		if address == "" {
			address, born = srv.URL+"/old", now.Add(-30*time.Minute)
		}
		err := h.send(t.Context(), ask(address, born, state.Delivery{}), hookBody{Text: "x"})
		if err == nil {
			t.Errorf("%s: sent", name)
		} else if strings.Contains(err.Error(), address) {
			t.Errorf("%s: the address is in the error: %v", name, err)
		}
	}
	if hits != 2 {
		t.Errorf("%d calls were made", hits)
	}
	for i := range 7 {
		err := h.send(t.Context(), ask(srv.URL+"/five", now, state.Delivery{}), hookBody{Text: "x"})
		if (i < hookUses) != (err == nil) {
			t.Errorf("use %d: %v", i+1, err)
		}
	}

	// A restart does not begin to count anew, nor does a try that was put off.
	if _, _, err := db.Receive(state.Delivery{ID: "d", Mint: "m", Received: now}); err != nil {
		t.Fatal(err)
	}
	given := 0
	for process, uses := range []int{2, 0, 2, 3} {
		d, err := db.Begin("d")
		if err != nil {
			t.Fatal(err)
		}
		q := ask(srv.URL+"/restarts", now, d)
		for range uses {
			err := h.send(t.Context(), q, hookBody{Text: "x"})
			if given++; (given <= hookUses) != (err == nil) {
				t.Errorf("process %d, use %d: %v", process, given, err)
			}
		}
		if uses == 0 {
			if err := db.Postpone("d", h.uses(q)); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		db = open()
		h = newHooks(s, db, func() time.Time { return now })
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestGates(t *testing.T) {
	now := time.Unix(1e9, 0)
	g := newGates(func() time.Time { return now }, 1)
	g.close("chat.update", trouble{After: 7 * time.Second})
	if d := g.closed("chat.update"); d != 7*time.Second {
		t.Errorf("closed for %s", d)
	}
	if d := g.closed("chat.postMessage"); d > 0 {
		t.Errorf("another method is closed for %s", d)
	}
	g.opened("chat.update", now)
	if d := g.closed("chat.update"); d != 7*time.Second {
		t.Errorf("closed for %s after a call that was on its way", d)
	}
	g.opened("chat.update", now.Add(time.Millisecond))
	if d := g.closed("chat.update"); d > 0 {
		t.Errorf("still closed for %s", d)
	}
}

// TestARestartIsNoWayRoundALimit: Slack goes on counting.
func TestARestartIsNoWayRoundALimit(t *testing.T) {
	now := time.Unix(1e9, 0)
	clock := func() time.Time { return now }
	path := filepath.Join(t.TempDir(), "state.db")
	begin := func() (*state.DB, *gates) {
		db, err := state.Open(path, clock)
		if err != nil {
			t.Fatal(err)
		}
		g := newGates(clock, 1)
		if err := g.outlive(db, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
		return db, g
	}
	db, g := begin()
	g.close("chat.update", trouble{Code: "ratelimited", After: 7 * time.Second})
	g.close("chat.postMessage", trouble{After: 7 * time.Second}) // an outage, not a limit
	for _, test := range []struct {
		passed, update time.Duration
	}{{2 * time.Second, 5 * time.Second}, {5 * time.Second, 0}} {
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		now = now.Add(test.passed)
		db, g = begin()
		if d := g.closed("chat.update"); d != test.update {
			t.Errorf("closed for %s, want %s", d, test.update)
		}
		if d := g.closed("chat.postMessage"); d > 0 {
			t.Errorf("an outage from before the restart still closes for %s", d)
		}
	}
	_ = db.Close()
}

func TestWithoutName(t *testing.T) {
	for text, want := range map[string]string{
		"<@U0APP> drift web":             "drift web",
		"<@U0APP|reconcile>  drift":      "drift",
		"hey <@U0APP>, drift web please": ", drift web please",
		"status <@U0APP>":                "status",
		"<@U0APP>":                       "",
		"no name":                        "no name",
		"<@U0APP":                        "",
	} {
		if got := withoutName(text, "U0APP"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	if got := cut("größe", 4); got != "grö" {
		t.Errorf("%q", got)
	}
	if got := cut("größe", 3); got != "gr" {
		t.Errorf("%q", got)
	}
}

func TestMetricsText(t *testing.T) {
	var b strings.Builder
	if err := (Metrics{LastFrame: time.Now()}).Write(&b); err != nil || !strings.Contains(b.String(), "reconcilebot_slack_sockets 0\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// FuzzPayloads: whatever arrives, it is an act within bounds or refused.
func FuzzPayloads(f *testing.F) {
	f.Add("slash_commands", fmt.Sprintf(slashJSON, "t"))
	f.Add("interactive", `{"type":"view_submission","user":{"id":"U1"},"view":{"id":"V","hash":"h","external_id":"m|C1|1.0","state":{"values":{"reason":{"text":{"type":"plain_text_input","value":"x"}}}}}}`)
	f.Add("interactive", `{"type":"block_actions","user":{"id":"U1"},"channel":{"id":"C"},"message":{"ts":"1","thread_ts":"2"},"actions":[{"type":"static_select","action_id":"a","block_id":"b","action_ts":"1","selected_option":{"value":"v"}}]}`)
	f.Add("events_api", `{"event":{"type":"app_mention","user":"U1","channel":{"id":"C"},"ts":"1","text":"<@U"}}`)
	f.Fuzz(func(t *testing.T, kind, payload string) {
		var a act
		var err error
		switch kind {
		case "slash_commands":
			a, _, err = readSlash(json.RawMessage(payload))
		case "interactive":
			a, _, err = readInteraction(json.RawMessage(payload))
		default:
			a, _, _, err = readEvent(json.RawMessage(payload), identity{User: "U"})
		}
		if err != nil {
			return
		}
		if a.User == "" || len(a.Once) == 0 || len(a.Text) > maxText || len(a.Room) > maxID || !utf8.ValidString(a.User) {
			t.Errorf("accepted: %+v", a)
		}
		if id := string(a.id()); len(id) > 60 {
			t.Errorf("id of %d bytes", len(id))
		}
	})
}
