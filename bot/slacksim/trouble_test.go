package slacksim

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	defer r.Body.Close()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestFaultsHappenAsOftenAsTheyShould(t *testing.T) {
	for name, c := range map[string]struct {
		rule Rule
		want string // a letter per call: x for a fault
	}{
		"always":        {Rule{Error: "internal_error"}, "xxxxxx"},
		"twice":         {Rule{Error: "internal_error", Times: 2}, "xx...."},
		"the third":     {Rule{Error: "internal_error", Nth: 3}, "..x..."},
		"every second":  {Rule{Error: "internal_error", Every: 2}, ".x.x.x"},
		"of one method": {Rule{Error: "internal_error", Method: "chat.update"}, "......"},
		"for a while":   {Rule{Error: "internal_error", Until: time.Unix(1, 0)}, "......"},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, Options{})
			w.Fault(c.rule)
			got := ""
			for range 6 {
				if w.call(t, "auth.test", nil)["error"] == "internal_error" {
					got += "x"
				} else {
					got += "."
				}
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestAPostCanHappenAndItsAnswerBeLost(t *testing.T) {
	w := start(t, Options{})
	for what, c := range map[string]struct {
		rule Rule
		left int
	}{
		"before": {Rule{Method: "chat.postMessage", Reset: true, Times: 1}, 0},
		"after":  {Rule{Method: "chat.postMessage", DropAnswer: true, Times: 1}, 1},
	} {
		w.ClearFaults()
		w.Fault(c.rule)
		before := len(w.Messages("C0INC"))
		answer, err := http.PostForm(w.url+"/api/chat.postMessage", url.Values{"token": {w.BotToken()}, "channel": {"C0INC"}, "text": {"x"}})
		if err == nil {
			_ = answer.Body.Close()
			t.Errorf("%s: there was an answer", what)
		}
		if got := len(w.Messages("C0INC")) - before; got != c.left {
			t.Errorf("%s: %d messages were posted, want %d", what, got, c.left)
		}
	}
}

func TestRefusedWithRetryAfter(t *testing.T) {
	w := start(t, Options{})
	w.Fault(Rule{Method: "auth.test", Status: 429, RetryAfter: 7})
	answer, err := http.PostForm(w.url+"/api/auth.test", url.Values{"token": {w.BotToken()}})
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != 429 || answer.Header.Get("Retry-After") != "7" {
		t.Errorf("answered %s, %v", answer.Status, answer.Header)
	}
}

func TestWhatIsFound(t *testing.T) {
	section := func(text string) string {
		return string(encode([]obj{{"type": "section", "text": obj{"type": "mrkdwn", "text": text}}}))
	}
	for name, c := range map[string]struct {
		method string
		args   map[string]string
		want   string
	}{
		"a secret in a block":         {"chat.postMessage", map[string]string{"channel": "C0INC", "text": "x", "blocks": section("token hunter2")}, RuleCanary},
		"a secret in the metadata":    {"chat.postMessage", map[string]string{"channel": "C0INC", "text": "x", "metadata": `{"event_type":"a","event_payload":{"p":"hunter2"}}`}, RuleCanary},
		"everyone called in the text": {"chat.postMessage", map[string]string{"channel": "C0INC", "text": "<!channel> look"}, RuleBroadcast},
		"everyone called in a block":  {"chat.postMessage", map[string]string{"channel": "C0INC", "text": "x", "blocks": section("<!here> look")}, RuleBroadcast},
		"outside text as it came":     {"chat.postMessage", map[string]string{"channel": "C0INC", "text": "x", "blocks": section("app <b>evil</b>")}, RuleTainted},
		"blocks without a text":       {"chat.postMessage", map[string]string{"channel": "C0INC", "blocks": section("x")}, RuleNoText},
		"an argument Slack ignores":   {"chat.postMessage", map[string]string{"channel": "C0INC", "text": "x", "thread": "1"}, RuleUnknownArg},
		"a ts that was made up":       {"chat.update", map[string]string{"channel": "C0INC", "ts": "1700000000.1", "text": "x"}, RuleTS},
		"a method that is none":       {"chat.shout", nil, RuleUnknownMethod},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, Options{Canaries: []string{"hunter2"}, Tainted: []string{"<b>evil</b>"}})
			w.call(t, c.method, c.args)
			found := slices.ContainsFunc(w.Findings(), func(f Finding) bool { return f.Rule == c.want })
			if !found {
				t.Errorf("found %v, want %s", w.Findings(), c.want)
			}
		})
	}
}

func TestEscapedTextIsNotFound(t *testing.T) {
	w := start(t, Options{Tainted: []string{"<b>evil</b>"}})
	w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": "&lt;b&gt;evil&lt;/b&gt; and &lt;!channel&gt;"})
	w.ExpectNoFindings(t)
}

func TestASharedChannelIsFoundAndTold(t *testing.T) {
	w := start(t, Options{})
	w.run(t, acking)
	if err := w.SetChannel("inc-1234", func(c *Channel) { c.ExtShared = true }); err != nil {
		t.Fatal(err)
	}
	w.must(t, "the event", func() bool { e := w.Envelopes(); return len(e) == 1 && e[0].What == "channel_shared" })
	w.post(t, "C0INC", "a plan")
	if f := w.Findings(); len(f) != 1 || f[0].Rule != RuleExtShared {
		t.Errorf("findings %v", f)
	}
}

func TestARevokedTokenIsRefused(t *testing.T) {
	w := start(t, Options{})
	w.Revoke("bot", true)
	if o := w.call(t, "auth.test", nil); o["error"] != "token_revoked" {
		t.Errorf("answered %v", o)
	}
	w.Revoke("bot", false)
	if o := w.call(t, "auth.test", nil); o["ok"] != true {
		t.Errorf("answered %v", o)
	}
}

func TestTheSameSeedGivesTheSameIDs(t *testing.T) {
	run := func() string {
		w := start(t, Options{Seed: 7, Clock: NewManualClock(time.Unix(1_800_000_000, 0))})
		w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": "x", "blocks": `[{"type":"divider"}]`})
		m := w.Messages("C0INC")[0]
		return m.TS + m.Blocks[0].ID
	}
	if a, b := run(), run(); a != b {
		t.Errorf("%s and %s", a, b)
	}
}

func TestSeedsThatAreWrong(t *testing.T) {
	for name, c := range map[string]struct {
		seed Seed
		want string
	}{
		"a name for an id":      {Seed{Users: []User{{ID: "alice"}}}, `user id "alice"`},
		"an id twice":           {Seed{Users: []User{{ID: "U1"}, {ID: "U1"}}}, "used twice"},
		"a member who is none":  {Seed{Channels: []Channel{{ID: "C1", Members: []string{"U9"}}}}, "lists U9"},
		"a manifest not YAML":   {Seed{Manifest: []byte("\t{")}, "app manifest"},
		"a command without /":   {Seed{Manifest: []byte("display_information: {name: a}\nfeatures: {slash_commands: [{command: a, description: b}]}")}, "leading /"},
		"an app without a name": {Seed{Manifest: []byte("features: {}")}, "display_information.name"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := New(c.seed, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
