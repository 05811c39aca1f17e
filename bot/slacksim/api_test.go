package slacksim

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// call uses the Web API without a client library, to see the bare answer.
func (w workspace) call(t *testing.T, method string, form map[string]string) obj {
	t.Helper()
	body := url.Values{"token": {w.BotToken()}}
	for k, v := range form {
		body.Set(k, v)
	}
	answer, err := http.PostForm(w.url+"/api/"+method, body)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var o obj
	if err := json.NewDecoder(answer.Body).Decode(&o); err != nil {
		t.Fatal(err)
	}
	if retry := answer.Header.Get("Retry-After"); retry != "" {
		o["retry_after"] = retry
	}
	w.checkRefusal(t, method, o)
	return o
}

func (w workspace) post(t *testing.T, channel, text string) string {
	t.Helper()
	o := w.call(t, "chat.postMessage", map[string]string{"channel": channel, "text": text})
	if o["ok"] != true {
		t.Fatalf("post in %s: %v", channel, o)
	}
	return str(o["ts"])
}

type refusal struct {
	method string
	args   map[string]string
	want   string
}

func TestCallsThatSlackRefuses(t *testing.T) {
	w := start(t, Options{Limits: LimitsOff})
	posted := w.post(t, "C0INC", "a card")
	reply := str(w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": "a reply", "thread_ts": posted})["ts"])
	human, err := w.As("alice").In("inc-1234").Say(t.Context(), "hello")
	if err != nil {
		t.Fatal(err)
	}
	type args = map[string]string
	for name, c := range map[string]refusal{
		"a method that does not exist":            {"chat.shout", nil, "unknown_method"},
		"a wrong token":                           {"auth.test", args{"token": "xoxb-other"}, "invalid_auth"},
		"no token":                                {"auth.test", args{"token": ""}, "not_authed"},
		"the app token for the Web API":           {"auth.test", args{"token": w.AppToken()}, "not_allowed_token_type"},
		"the bot token for a socket":              {"apps.connections.open", nil, "not_allowed_token_type"},
		"a scope the manifest does not have":      {"bookmarks.add", args{"channel_id": "C0INC"}, "missing_scope"},
		"a private channel without the app":       {"chat.postMessage", args{"channel": "G0PRIV", "text": "x"}, "channel_not_found"},
		"a public channel without the app":        {"chat.postMessage", args{"channel": "C0PUB", "text": "x"}, "not_in_channel"},
		"an archived channel":                     {"chat.postMessage", args{"channel": "C0OLD", "text": "x"}, "is_archived"},
		"a read-only channel":                     {"chat.postMessage", args{"channel": "C0READ", "text": "x"}, "restricted_action_read_only_channel"},
		"a message that says nothing":             {"chat.postMessage", args{"channel": "C0INC"}, "no_text"},
		"blocks that are not JSON":                {"chat.postMessage", args{"channel": "C0INC", "blocks": "{"}, "invalid_blocks_format"},
		"a reply to a reply":                      {"chat.postMessage", args{"channel": "C0INC", "text": "x", "thread_ts": reply}, "cannot_reply_to_message"},
		"metadata without a payload":              {"chat.postMessage", args{"channel": "C0INC", "text": "x", "metadata": `{"event_type":"a"}`}, "invalid_metadata_schema"},
		"text and markdown_text together":         {"chat.postMessage", args{"channel": "C0INC", "text": "x", "markdown_text": "y"}, "markdown_text_conflict"},
		"more text in blocks than fits":           {"chat.postMessage", args{"channel": "C0INC", "text": "x", "blocks": manySections(5, 2900)}, "msg_blocks_too_long"},
		"an ephemeral to someone who is not here": {"chat.postEphemeral", args{"channel": "C0INC", "user": "U0GONE", "text": "x"}, "user_not_in_channel"},
		"an update of someone else's message":     {"chat.update", args{"channel": "C0INC", "ts": human, "text": "x"}, "cant_update_message"},
		"an update of a message that is gone":     {"chat.update", args{"channel": "C0INC", "ts": "1.000001", "text": "x"}, "message_not_found"},
		"an update that is too long":              {"chat.update", args{"channel": "C0INC", "ts": posted, "text": strings.Repeat("ü", 2001)}, "msg_too_long"},
		"a modal with a made-up trigger":          {"views.open", args{"trigger_id": "1.2.x", "view": smallView}, "invalid_trigger_id"},
		"a title that is too long":                {"views.open", args{"trigger_id": "1.2.x", "view": strings.Replace(smallView, "Title", strings.Repeat("t", 25), 1)}, "invalid_arguments"},
		"a view that was never opened":            {"views.update", args{"view_id": "V1", "view": smallView}, "not_found"},
		"a user that does not exist":              {"users.info", args{"user": "U0NONE"}, "user_not_found"},
		"an email of nobody":                      {"users.lookupByEmail", args{"email": "no@example.com"}, "users_not_found"},
		"a group that does not exist":             {"usergroups.users.list", args{"usergroup": "S0NONE"}, "no_such_subteam"},
		"a channel the app can't see":             {"conversations.info", args{"channel": "G0PRIV"}, "channel_not_found"},
		"history without membership":              {"conversations.history", args{"channel": "C0PUB"}, "not_in_channel"},
		"a thread that does not exist":            {"conversations.replies", args{"channel": "C0INC", "ts": "1.000001"}, "thread_not_found"},
		"a cursor of another list":                {"conversations.history", args{"channel": "C0INC", "cursor": "bm9uZQ=="}, "invalid_cursor"},
		"a snippet over a megabyte":               {"files.getUploadURLExternal", args{"filename": "a", "length": "1048577", "snippet_type": "diff"}, "snippet_too_large"},
		"an upload of nothing":                    {"files.getUploadURLExternal", args{"filename": "a", "length": "0"}, "missing_argument"},
	} {
		t.Run(name, func(t *testing.T) {
			if o := w.call(t, c.method, c.args); o["ok"] != false || o["error"] != c.want {
				t.Errorf("%s answered %v, want %s", c.method, o, c.want)
			}
		})
	}
}

const smallView = `{"type":"modal","title":{"type":"plain_text","text":"Title"},"blocks":[]}`

func manySections(n, size int) string {
	var blocks []obj
	for range n {
		blocks = append(blocks, obj{"type": "section", "text": obj{"type": "mrkdwn", "text": strings.Repeat("a", size)}})
	}
	return string(encode(blocks))
}

func TestAMissingScopeIsNamed(t *testing.T) {
	w := start(t, Options{})
	o := w.call(t, "bookmarks.list", map[string]string{"channel_id": "C0INC"})
	if o["needed"] != "bookmarks:read" || !strings.Contains(str(o["provided"]), "chat:write") {
		t.Errorf("answered %v", o)
	}
	if f := w.Findings(); len(f) != 1 || f[0].Rule != RuleScope {
		t.Errorf("findings %v", f)
	}
}

func TestPostingIsOncePerSecondAndChannel(t *testing.T) {
	clock := NewManualClock(time.Unix(1_800_000_000, 0))
	w := start(t, Options{Clock: clock})
	for range 3 {
		w.post(t, "C0INC", "burst")
	}
	form := map[string]string{"channel": "C0INC", "text": "one too many"}
	if o := w.call(t, "chat.postMessage", form); o["error"] != "ratelimited" || o["retry_after"] != "1" {
		t.Errorf("the fourth post answered %v", o)
	}
	clock.Advance(time.Second)
	w.post(t, "C0INC", "after waiting")
	if o := w.call(t, "chat.postMessage", form); o["error"] != "ratelimited" {
		t.Errorf("at once after that answered %v", o)
	}
	clock.Advance(10 * onItsWay) // by now the app has read that answer
	if o := w.call(t, "chat.postMessage", form); o["error"] != "ratelimited" {
		t.Errorf("again answered %v", o)
	}
	rules := map[string]bool{}
	for _, f := range w.Findings() {
		rules[f.Rule] = true
	}
	if !rules[RulePostRate] || !rules[RuleRetryAfter] {
		t.Errorf("findings %v", w.Findings())
	}
}

func TestATierIsKeptPerMethod(t *testing.T) {
	clock := NewManualClock(time.Unix(1_800_000_000, 0))
	w := start(t, Options{Clock: clock})
	for range tier2 {
		if o := w.call(t, "usergroups.list", nil); o["ok"] != true {
			t.Fatal(o)
		}
	}
	if o := w.call(t, "usergroups.list", nil); o["error"] != "ratelimited" || o["retry_after"] != "3" {
		t.Errorf("call 21 answered %v", o)
	}
	if o := w.call(t, "users.info", map[string]string{"user": "U0BOB"}); o["ok"] != true {
		t.Errorf("another method answered %v", o)
	}
}

func TestMetadataStaysUntilItIsReplaced(t *testing.T) {
	w := start(t, Options{})
	o := w.call(t, "chat.postMessage", map[string]string{
		"channel": "C0INC", "text": "card", "metadata": `{"event_type":"reconcile","event_payload":{"key":"r-1"}}`,
	})
	ts := str(o["ts"])
	w.call(t, "chat.update", map[string]string{"channel": "C0INC", "ts": ts, "text": "card 2"})
	history := w.call(t, "conversations.history", map[string]string{"channel": "C0INC", "include_all_metadata": "true"})
	m := list(history["messages"])[0].(obj)
	if meta, _ := m["metadata"].(obj); meta["event_type"] != "reconcile" || m["text"] != "card 2" {
		t.Errorf("history has %v", m)
	}
	if plain := w.call(t, "conversations.history", map[string]string{"channel": "C0INC"}); list(plain["messages"])[0].(obj)["metadata"] != nil {
		t.Error("metadata came without being asked for")
	}
	w.call(t, "chat.update", map[string]string{"channel": "C0INC", "ts": ts, "text": "card 3", "metadata": "{}"})
	if got := w.Messages("C0INC")[0].Metadata; got != nil {
		t.Errorf("empty metadata left %v", got)
	}
}

func TestAThreadIsReadInPages(t *testing.T) {
	w := start(t, Options{Limits: LimitsOff})
	parent := w.post(t, "C0INC", "card")
	for _, text := range []string{"one", "two", "three"} {
		w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": text, "thread_ts": parent})
	}
	var got []string
	cursor := ""
	for range 3 {
		o := w.call(t, "conversations.replies", map[string]string{"channel": "C0INC", "ts": parent, "limit": "3", "cursor": cursor})
		for _, m := range list(o["messages"]) {
			got = append(got, str(m.(obj)["text"]))
		}
		next, _ := o["response_metadata"].(obj)
		if cursor = str(next["next_cursor"]); cursor == "" {
			break
		}
	}
	if strings.Join(got, " ") != "card one two three" {
		t.Errorf("read %v", got)
	}
	if m := w.Messages("C0INC"); len(m) != 1 || m[0].Replies != 3 {
		t.Errorf("the channel shows %+v", m)
	}
}

func TestAReplyToADeletedParentGoesToTheChannel(t *testing.T) {
	w := start(t, Options{})
	parent := w.post(t, "C0INC", "card")
	w.call(t, "chat.delete", map[string]string{"channel": "C0INC", "ts": parent})
	o := w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": "reply", "thread_ts": parent})
	if m, _ := o["message"].(obj); o["ok"] != true || m["thread_ts"] != nil {
		t.Errorf("answered %v", o)
	}
}

func TestEmailsAndStrangers(t *testing.T) {
	w := start(t, Options{Limits: LimitsOff})
	alice := w.call(t, "users.lookupByEmail", map[string]string{"email": "ALICE@example.com"})
	if u, _ := alice["user"].(obj); u["id"] != "U0ALICE" {
		t.Errorf("lookup answered %v", alice)
	}
	eve, _ := w.call(t, "users.info", map[string]string{"user": "U0EXT"})["user"].(obj)
	if eve["is_stranger"] != true || eve["team_id"] != "T0EXT" {
		t.Errorf("the stranger is %v", eve)
	}
	gwen, _ := w.call(t, "users.info", map[string]string{"user": "U0GWEN"})["user"].(obj)
	if gwen["is_restricted"] != true || gwen["is_ultra_restricted"] != false {
		t.Errorf("the guest is %v", gwen)
	}
	if err := w.SetChannel("C0INC", func(c *Channel) { c.Members = []string{"U0BOT", "U0ALICE"} }); err != nil {
		t.Fatal(err)
	}
	if o := w.call(t, "users.info", map[string]string{"user": "U0EXT"}); o["error"] != "user_not_visible" {
		t.Errorf("a stranger out of sight answered %v", o)
	}
}

func TestRichTextAndOtherBlocks(t *testing.T) {
	rich := `[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"x"}]}]}]`
	for refuse, want := range map[bool]string{false: "", true: "block_mismatch"} {
		w := start(t, Options{RefuseBlockMismatch: refuse})
		ts := str(w.call(t, "chat.postMessage", map[string]string{"channel": "C0INC", "text": "x", "blocks": rich})["ts"])
		o := w.call(t, "chat.update", map[string]string{"channel": "C0INC", "ts": ts, "text": "x", "blocks": `[{"type":"divider"}]`})
		if str(o["error"]) != want {
			t.Errorf("refuse %v answered %v", refuse, o)
		}
	}
}
