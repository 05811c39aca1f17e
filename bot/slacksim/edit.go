package slacksim

import (
	"strconv"
	"strings"
	"time"
)

// own finds a message of the app that it may change.
func (s *Sim) own(c *call, denied string) (*channel, *stored, *failure) {
	room := s.channels[c.args["channel"]]
	if room == nil || !room.sees(s.app.UserID) {
		return nil, nil, fail("channel_not_found")
	}
	m := room.find(c.args["ts"])
	switch {
	case m == nil:
		return nil, nil, fail("message_not_found")
	case m.BotID != s.app.BotID:
		return nil, nil, fail(denied)
	}
	return room, m, nil
}

// late tells whether the workspace's settings forbid to change the message by
// now. A ts begins with the second it was given out in.
func (s *Sim) late(m *stored) bool {
	seconds, _, _ := strings.Cut(m.TS, ".")
	posted, err := strconv.ParseInt(seconds, 10, 64)
	return err == nil && s.opts.EditWindow > 0 && s.clock.Now().Sub(time.Unix(posted, 0)) > s.opts.EditWindow
}

func updateMessage(s *Sim, c *call) (obj, *failure) {
	room, m, f := s.own(c, "cant_update_message")
	if f != nil {
		return nil, f
	}
	switch {
	case room.Archived:
		return nil, fail("is_inactive")
	case s.late(m):
		return nil, fail("edit_window_closed")
	case len(c.args["text"]) > maxUpdateText:
		return nil, fail("msg_too_long")
	}
	what, f := s.content(c)
	if f != nil {
		return nil, f
	}
	if what.empty() && !c.args.has("blocks") {
		return nil, fail("no_text")
	}
	if s.opts.RefuseBlockMismatch && hasRich(m.Blocks) && len(what.blocks) > 0 && !hasRich(what.blocks) {
		return nil, fail("block_mismatch")
	}
	s.watch(room, "chat.update", what)
	s.edit(m, what, c.args.has("blocks"), c.args.has("metadata"))
	s.emitChanged(m.Message)
	shown := s.wireMessage(m.Message, true)
	if m.ThreadTS == "" {
		for _, k := range []string{"thread_ts", "reply_count", "latest_reply"} {
			delete(shown, k) // a parent's counts are not told here
		}
	}
	return obj{"channel": room.ID, "ts": m.TS, "text": m.Text, "message": shown}, nil
}

// edit replaces what a message says and keeps what it said before. Text alone
// drops the blocks, as chat.update does; omitted attachments and metadata stay.
func (s *Sim) edit(m *stored, what content, blocks, meta bool) {
	m.old = append(m.old, m.Message)
	m.Versions++
	m.Edited = true
	if what.text != "" || blocks {
		m.Blocks = what.blocks
		m.Text = what.text
	}
	if what.attach != nil {
		m.Attach = what.attach
		if string(what.attach) == "[]" {
			m.Attach = nil
		}
	}
	if meta {
		m.Metadata = what.metadata
		if m.Metadata != nil && m.Metadata.EventType == "" {
			m.Metadata = nil
		}
	}
}

func hasRich(blocks []Block) bool {
	for _, b := range blocks {
		if b.Type == "rich_text" {
			return true
		}
	}
	return false
}

func deleteMessage(s *Sim, c *call) (obj, *failure) {
	room, m, f := s.own(c, "cant_delete_message")
	if f != nil {
		return nil, f
	}
	if room.Archived {
		return nil, fail("cant_delete_message")
	}
	room.remove(m.TS)
	s.emitDeleted(m.Message)
	return obj{"channel": room.ID, "ts": m.TS}, nil
}
