package slacksim

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack/socketmode"
)

// wideManifest grants everything, so that every method answers.
const wideManifest = `
display_information: {name: Reconcile}
features:
  app_home: {home_tab_enabled: true, messages_tab_enabled: true}
  bot_user: {display_name: reconcile}
  slash_commands:
    - {command: /reconcile, description: Reconcile, usage_hint: "help", should_escape: true}
  shortcuts:
    - {name: Reconciliation status, type: message, callback_id: reconcile_status, description: Status}
    - {name: Find drift, type: global, callback_id: find_drift, description: Anywhere}
oauth_config:
  scopes:
    bot: [commands, chat:write, files:write, files:read, app_mentions:read, users:read, users:read.email, team:read,
          usergroups:read, usergroups:write, channels:read, groups:read, im:read, mpim:read, channels:history,
          groups:history, im:history, mpim:history, im:write, mpim:write, pins:write, pins:read, reactions:write, reactions:read,
          bookmarks:write, bookmarks:read, channels:join, channels:manage]
settings:
  event_subscriptions: {bot_events: [app_mention, channel_shared, channel_unshared, channel_archive, channel_unarchive,
    channel_rename, channel_id_changed, member_joined_channel, member_left_channel, subteam_members_changed, subteam_updated,
    subteam_created, message.channels, tokens_revoked, app_uninstalled, app_home_opened, reaction_added, reaction_removed]}
  interactivity: {is_enabled: true}
  socket_mode_enabled: true
`

// sentThing is an answer or a payload, and the name that Slack's libraries have
// for its type.
type sentThing struct {
	typ  string
	body obj
}

// everythingSent drives the workspace through every method and payload once.
// It returns what was sent.
func everythingSent(t *testing.T) map[string]sentThing {
	t.Helper()
	seed := testSeed()
	seed.Manifest = []byte(wideManifest)
	w := startSeed(t, seed, Options{Limits: LimitsOff, ShareDelay: time.Microsecond})
	w.run(t, offering)
	sent := map[string]sentThing{}
	call := func(name, method string, args map[string]string) obj {
		t.Helper()
		if method == "apps.connections.open" {
			args = map[string]string{"token": w.AppToken()}
		}
		o := w.call(t, method, args)
		if o["ok"] != true {
			t.Fatalf("%s answered %v", method, o)
		}
		sent[method+" "+name] = sentThing{answerType(method), o}
		return o
	}
	w.everyMethod(t, call)
	w.everyPayload(t)
	for _, e := range w.Envelopes() {
		name := e.Kind + " " + e.What
		if typ := payloadType(e); typ != "" {
			sent[name] = sentThing{typ, decode(e.Payload)}
		} else {
			t.Errorf("%s has no type of Slack's", name)
		}
	}
	return sent
}

const everyBlock = `[
 {"type":"header","text":{"type":"plain_text","text":"x"}},
 {"type":"section","text":{"type":"mrkdwn","text":"x"},"accessory":{"type":"overflow","action_id":"more","options":[{"text":{"type":"plain_text","text":"x"},"value":"x"}]}},
 {"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"x"}]}]},
 {"type":"context","elements":[{"type":"mrkdwn","text":"x"}]},
 {"type":"actions","elements":[
  {"type":"button","action_id":"go","value":"1","text":{"type":"plain_text","text":"Go"},"confirm":{"title":{"type":"plain_text","text":"x"},"text":{"type":"plain_text","text":"x"},"confirm":{"type":"plain_text","text":"x"},"deny":{"type":"plain_text","text":"x"}}},
  {"type":"static_select","action_id":"pick","options":[{"text":{"type":"plain_text","text":"One"},"value":"1"}]},
  {"type":"multi_static_select","action_id":"picks","options":[{"text":{"type":"plain_text","text":"One"},"value":"1"}]},
  {"type":"users_select","action_id":"who"},
  {"type":"checkboxes","action_id":"boxes","options":[{"text":{"type":"plain_text","text":"One"},"value":"1"}]},
  {"type":"radio_buttons","action_id":"radio","options":[{"text":{"type":"plain_text","text":"One"},"value":"1"}]},
  {"type":"datepicker","action_id":"day"},
  {"type":"timepicker","action_id":"hour"},
  {"type":"external_select","action_id":"seek"}]}]`

const everyInput = `{"type":"modal","callback_id":"m","notify_on_close":true,"title":{"type":"plain_text","text":"Title"},"submit":{"type":"plain_text","text":"Go"},"close":{"type":"plain_text","text":"No"},"blocks":[
 {"type":"input","block_id":"text","label":{"type":"plain_text","text":"x"},"element":{"type":"plain_text_input","action_id":"a"}},
 {"type":"input","block_id":"pick","optional":true,"label":{"type":"plain_text","text":"x"},"element":{"type":"static_select","action_id":"a","options":[{"text":{"type":"plain_text","text":"One"},"value":"1"}]}},
 {"type":"input","block_id":"boxes","optional":true,"label":{"type":"plain_text","text":"x"},"element":{"type":"checkboxes","action_id":"a","options":[{"text":{"type":"plain_text","text":"One"},"value":"1"}]}},
 {"type":"input","block_id":"who","optional":true,"label":{"type":"plain_text","text":"x"},"element":{"type":"multi_users_select","action_id":"a"}},
 {"type":"input","block_id":"room","optional":true,"label":{"type":"plain_text","text":"x"},"element":{"type":"conversations_select","action_id":"a","response_url_enabled":true}},
 {"type":"input","block_id":"day","optional":true,"label":{"type":"plain_text","text":"x"},"element":{"type":"datepicker","action_id":"a"}},
 {"type":"input","block_id":"when","optional":true,"label":{"type":"plain_text","text":"x"},"element":{"type":"datetimepicker","action_id":"a"}},
 {"type":"input","block_id":"number","optional":true,"label":{"type":"plain_text","text":"x"},"element":{"type":"number_input","is_decimal_allowed":false,"action_id":"a"}},
 {"type":"actions","elements":[{"type":"button","action_id":"check","text":{"type":"plain_text","text":"Check"}}]}]}`

// offering acknowledges everything, and what asks for options with one.
func offering(app *socketmode.Client, e socketmode.Event) {
	if e.Request == nil || e.Request.EnvelopeID == "" {
		return
	}
	if strings.Contains(string(e.Request.Payload), `"block_suggestion"`) {
		app.Ack(*e.Request, obj{"options": []obj{{"text": obj{"type": "plain_text", "text": "payments-web"}, "value": "payments-web"}}})
		return
	}
	app.Ack(*e.Request)
}

type answered func(name, method string, args map[string]string) obj

func (w workspace) everyMethod(t *testing.T, call answered) {
	type args = map[string]string
	posted := str(call("plain", "chat.postMessage", args{"channel": "C0INC", "text": "x", "metadata": `{"event_type":"a","event_payload":{"k":"v"}}`})["ts"])
	card := str(call("blocks", "chat.postMessage", args{"channel": "C0INC", "text": "x", "blocks": everyBlock})["ts"])
	call("reply", "chat.postMessage", args{"channel": "C0INC", "text": "x", "thread_ts": posted})
	call("attachments", "chat.postMessage", args{"channel": "C0INC", "text": "x", "attachments": `[{"color":"#ff0000","text":"x","blocks":[{"type":"divider"}]},{"text":"y"}]`})
	call("", "chat.update", args{"channel": "C0INC", "ts": posted, "text": "y"})
	call("", "chat.postEphemeral", args{"channel": "C0INC", "user": "U0ALICE", "text": "x"})
	call("", "chat.getPermalink", args{"channel": "C0INC", "message_ts": posted})
	for _, method := range []string{"auth.test", "team.info", "bots.info", "apps.connections.open", "usergroups.list", "users.list", "conversations.list", "users.conversations"} {
		call("", method, nil)
	}
	for _, u := range []string{"U0ALICE", "U0GWEN", "U0EXT", "U0BOT"} {
		call(u, "users.info", args{"user": u})
	}
	call("", "users.lookupByEmail", args{"email": "alice@example.com"})
	call("", "usergroups.users.list", args{"usergroup": "S0OWN"})
	group, _ := call("", "usergroups.create", args{"name": "On call", "handle": "on-call"})["usergroup"].(obj)
	call("", "usergroups.update", args{"usergroup": str(group["id"]), "name": "On duty"})
	call("", "usergroups.users.update", args{"usergroup": str(group["id"]), "users": "U0BOB"})
	call("", "usergroups.disable", args{"usergroup": str(group["id"])})
	call("", "usergroups.enable", args{"usergroup": str(group["id"])})
	later := call("", "chat.scheduleMessage", args{"channel": "C0INC", "text": "x", "post_at": strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)})
	call("", "chat.scheduledMessages.list", nil)
	call("", "chat.deleteScheduledMessage", args{"channel": "C0INC", "scheduled_message_id": str(later["scheduled_message_id"])})
	call("", "blocks.validate", args{"blocks": everyBlock})
	call("", "api.test", nil)
	call("", "usergroups.list", args{"include_users": "true"})
	for _, c := range []string{"C0INC", "C0PUB", "C0OLD"} {
		call(c, "conversations.info", args{"channel": c})
	}
	call("", "conversations.members", args{"channel": "C0INC"})
	dm, _ := call("", "conversations.open", args{"users": "U0BOB"})["channel"].(obj)
	call("dm", "conversations.info", args{"channel": str(dm["id"])})
	call("", "conversations.join", args{"channel": "C0PUB"})
	call("", "reactions.add", args{"channel": "C0INC", "timestamp": posted, "name": "eyes"})
	call("", "pins.add", args{"channel": "C0INC", "timestamp": posted})
	call("", "pins.list", args{"channel": "C0INC"})
	call("", "bookmarks.add", args{"channel_id": "C0INC", "title": "x", "type": "link", "link": "https://e.example"})
	call("", "bookmarks.list", args{"channel_id": "C0INC"})
	call("", "conversations.setTopic", args{"channel": "C0INC", "topic": "x"})
	up := call("", "files.getUploadURLExternal", args{"filename": "plan.diff", "length": "1", "snippet_type": "diff"})
	w.upload(t, str(up["upload_url"]), "x")
	call("", "files.completeUploadExternal", args{"files": `[{"id":"` + str(up["file_id"]) + `","title":"Plan"}]`, "channel_id": "C0INC", "thread_ts": posted})
	w.must(t, "the file", func() bool { return len(w.Thread("C0INC", posted)) == 3 })
	call("", "files.info", args{"file": str(up["file_id"])})
	call("", "conversations.history", args{"channel": "C0INC", "include_all_metadata": "true"})
	call("", "conversations.replies", args{"channel": "C0INC", "ts": posted})
	call("", "files.delete", args{"file": str(up["file_id"])})
	call("", "reactions.remove", args{"channel": "C0INC", "timestamp": posted, "name": "eyes"})
	call("", "pins.remove", args{"channel": "C0INC", "timestamp": posted})
	inv, err := w.As("alice").In("C0INC").Click(t.Context(), card, "go")
	if err != nil {
		t.Fatal(err)
	}
	view, _ := call("", "views.open", args{"trigger_id": inv.TriggerID, "view": everyInput})["view"].(obj)
	call("", "views.update", args{"view_id": str(view["id"]), "view": everyInput})
	inside, err := w.As("alice").ActInView(t.Context(), "", "check", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	call("", "views.push", args{"trigger_id": inside.TriggerID, "view": everyInput})
	if _, err := w.As("alice").CloseView(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	call("", "views.publish", args{"user_id": "U0ALICE", "view": `{"type":"home","blocks":[{"type":"divider"}]}`})
	call("", "chat.delete", args{"channel": "C0INC", "ts": posted})
}

func (w workspace) everyPayload(t *testing.T) {
	t.Helper()
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	alice := w.As("alice").In("C0INC")
	must(alice.Slash(t.Context(), "/reconcile drift"))
	must(alice.Mention(t.Context(), "@reconcile status"))
	card := w.Messages("C0INC")[0].TS
	for element, choice := range map[string]string{"more": "x", "pick": "1", "picks": "1", "who": "U0BOB", "boxes": "1", "radio": "1", "day": "2026-01-02", "hour": "10:00"} {
		must(alice.Act(t.Context(), card, element, choice))
	}
	must(alice.Suggest(t.Context(), card, "seek", "pay"))
	must(alice.Act(t.Context(), card, "seek", "payments-web"))
	must(alice.GlobalShortcut(t.Context(), "find_drift"))
	must(alice.MessageShortcut(t.Context(), card, "reconcile_status"))
	must(alice.Submit(t.Context(), "", map[string]string{
		"text": "x", "pick": "1", "boxes": "1", "who": "U0BOB", "room": "C0INC", "day": "2026-01-02", "when": "1800000000", "number": "5",
	}))
	set := func(change func(*Channel)) { must(nil, w.SetChannel("C0PUB", change)) }
	set(func(c *Channel) { c.ExtShared = true })
	set(func(c *Channel) { c.ExtShared = false })
	set(func(c *Channel) { c.Name = "everyone" })
	set(func(c *Channel) { c.ID = "C0NEW" })
	must(nil, w.As("bob").In("everyone").Invite("bob"))
	must(nil, w.As("bob").In("everyone").Leave())
	must(nil, w.SetChannel("everyone", func(c *Channel) { c.Archived = true }))
	w.SetGroup(Group{ID: "S0OWN", Handle: "owners", Name: "Owners", Members: []string{"U0ALICE"}})
	w.Revoke("bot", true)
	settled := func() bool {
		e := w.Envelopes()
		for _, one := range e {
			if one.State == "sent" {
				return false
			}
		}
		return len(e) > 25
	}
	w.must(t, "every payload", settled)
}

// upload sends a file's bytes to the address that an upload was given.
func (w workspace) upload(t *testing.T, address, content string) {
	t.Helper()
	answer, err := http.Post(address, "application/octet-stream", strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if got := body(t, answer); answer.StatusCode != http.StatusOK {
		t.Fatalf("upload answered %s: %s", answer.Status, got)
	}
}
