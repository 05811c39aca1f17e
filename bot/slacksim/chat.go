package slacksim

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"reconcilebot/bot/slacksim/blockkit"
)

// Limits of message texts, https://docs.slack.dev/reference/methods/chat.update
// and https://docs.slack.dev/changelog/2018-truncating-really-long-messages.
const (
	maxPostText     = 40_000 // characters; longer is cut, with a warning
	maxUpdateText   = 4_000  // bytes
	maxMarkdownText = 12_000
	maxMetadata     = 8_000 // not in the reference
)

// content is what a message can say.
type content struct {
	text     string
	blocks   []Block
	attach   json.RawMessage
	metadata *Metadata
	cut      bool
}

// content reads and checks the parts of a message from a call.
func (s *Sim) content(c *call) (content, *failure) {
	out := content{text: c.args["text"]}
	if md := c.args["markdown_text"]; md != "" {
		switch {
		case out.text != "" || c.args["blocks"] != "":
			return out, fail("markdown_text_conflict")
		case utf8.RuneCountInString(md) > maxMarkdownText:
			return out, fail("msg_too_long")
		}
		out.text = md
	}
	if utf8.RuneCountInString(out.text) > maxPostText {
		out.text, out.cut = string([]rune(out.text)[:maxPostText]), true
	}
	var f *failure
	if out.blocks, f = s.blocks(c.args["blocks"], blockkit.Message); f != nil {
		return out, f
	}
	if out.attach, f = s.attachments(c.args["attachments"]); f != nil {
		return out, f
	}
	out.metadata, f = metadata(c.args["metadata"])
	return out, f
}

func metadata(raw string) (*Metadata, *failure) {
	if raw == "" {
		return nil, nil
	}
	if len(raw) > maxMetadata {
		return nil, fail("metadata_too_large")
	}
	var m Metadata
	if json.Unmarshal([]byte(raw), &m) != nil {
		return nil, fail("invalid_metadata_format")
	}
	if m.EventType != "" && (len(m.EventPayload) == 0 || decode(m.EventPayload) == nil) {
		return nil, fail("invalid_metadata_schema")
	}
	return &m, nil
}

func (c content) empty() bool {
	return c.text == "" && len(c.blocks) == 0 && len(c.attach) <= len("[]")
}

func postMessage(s *Sim, c *call) (obj, *failure) {
	room, f := s.postable(c.args["channel"])
	if f != nil {
		return nil, f
	}
	what, f := s.content(c)
	if f != nil {
		return nil, f
	}
	if what.empty() {
		return nil, fail("no_text")
	}
	thread, f := room.thread(c.args["thread_ts"])
	if f != nil {
		return nil, f
	}
	m := Message{
		TS: s.ts(), ThreadTS: thread, Channel: room.ID, User: s.app.UserID, BotID: s.app.BotID,
		Text: what.text, Blocks: what.blocks, Attach: what.attach, Metadata: what.metadata,
		Broadcast: c.args.flag("reply_broadcast"),
	}
	if m.Metadata != nil && m.Metadata.EventType == "" {
		m.Metadata = nil
	}
	if m.Broadcast && thread != "" {
		m.Subtype = "thread_broadcast"
	}
	s.watch(room, "chat.postMessage", what)
	if what.cut {
		c.warning = "message_truncated"
	}
	kept := room.add(m)
	s.emitMessage(kept.Message)
	return obj{"channel": room.ID, "ts": m.TS, "message": s.wireMessage(kept.Message, true)}, nil
}

// watch notes what is allowed but harms people.
func (s *Sim) watch(room *channel, where string, what content) {
	where += " in #" + room.Name
	if what.text == "" {
		s.find(RuleNoText, "%s: no text for notifications and screen readers beside the blocks", where)
	}
	if room.ExtShared {
		s.find(RuleExtShared, "%s: the channel is shared with another organisation", where)
	}
	s.inspectContent(where, what.text, what.blocks)
	for _, a := range (Message{Attach: what.attach}).attachments() {
		s.inspectContent(where, a.words(), a.Blocks)
	}
}

// postable finds a channel in which the app may post. A user id means the
// direct conversation with that user.
func (s *Sim) postable(id string) (*channel, *failure) {
	if id == "" {
		return nil, fail("channel_not_found")
	}
	if u := s.users[id]; u != nil {
		if u.Deleted || u.Bot {
			return nil, fail("cannot_dm_bot")
		}
		if !s.manifest.messages() {
			return nil, fail("messages_tab_disabled")
		}
		return s.direct(u.ID), nil
	}
	c := s.channels[id]
	if c == nil {
		c = s.named(strings.TrimPrefix(id, "#"))
	}
	switch {
	case c == nil || !c.sees(s.app.UserID):
		return nil, fail("channel_not_found")
	case c.Archived:
		return nil, fail("is_archived")
	case !c.has(s.app.UserID) && !(s.manifest.granted("chat:write.public") && !s.manifest.open):
		return nil, fail("not_in_channel")
	case c.ReadOnly:
		return nil, fail("restricted_action_read_only_channel")
	}
	return c, nil
}

// thread resolves thread_ts. A reply to a parent that is gone is posted to the
// channel, as Slack does; a reply's own ts is no parent.
func (c *channel) thread(ts string) (string, *failure) {
	if ts == "" {
		return "", nil
	}
	parent := c.find(ts)
	switch {
	case parent == nil:
		return "", nil
	case parent.ThreadTS != "" && parent.ThreadTS != parent.TS:
		return "", fail("cannot_reply_to_message")
	}
	return ts, nil
}

func postEphemeral(s *Sim, c *call) (obj, *failure) {
	room, f := s.postable(c.args["channel"])
	if f != nil {
		return nil, f
	}
	u := s.users[c.args["user"]]
	if u == nil || !room.has(u.ID) {
		return nil, fail("user_not_in_channel")
	}
	what, f := s.content(c)
	if f != nil {
		return nil, f
	}
	if what.empty() {
		return nil, fail("no_text")
	}
	for _, a := range (Message{Attach: what.attach}).attachments() {
		if len(a.Blocks) > 0 {
			return nil, fail("invalid_attachments")
		}
	}
	thread, f := room.thread(c.args["thread_ts"])
	if f != nil {
		return nil, f
	}
	s.watch(room, "chat.postEphemeral", what)
	if c.lose {
		return obj{"message_ts": s.ts()}, nil
	}
	m := s.ephemeral(room, u.ID, thread, what)
	return obj{"message_ts": m.TS}, nil
}

// ephemeral shows a message to one person. It is in no history.
func (s *Sim) ephemeral(room *channel, user, thread string, what content) *stored {
	m := &stored{Message: Message{
		TS: s.ts(), ThreadTS: thread, Channel: room.ID, User: s.app.UserID, BotID: s.app.BotID,
		Text: what.text, Blocks: what.blocks, Attach: what.attach, Ephemeral: true, To: user, Versions: 1,
	}}
	room.ephemeral = append(room.ephemeral, m)
	return m
}

func permalink(s *Sim, c *call) (obj, *failure) {
	room := s.channels[c.args["channel"]]
	if room == nil || !room.sees(s.app.UserID) {
		return nil, fail("channel_not_found")
	}
	m := room.find(c.args["message_ts"])
	if m == nil {
		return nil, fail("message_not_found")
	}
	return obj{"channel": room.ID, "permalink": s.permalink(c.base, m.Message)}, nil
}

// permalink opens the message on the page, since there is no slack.com here.
func (s *Sim) permalink(base string, m Message) string {
	link := base + "/archives/" + m.Channel + "/p" + strings.Replace(m.TS, ".", "", 1)
	if m.ThreadTS != "" {
		link += "?thread_ts=" + m.ThreadTS + "&cid=" + m.Channel
	}
	return link
}
