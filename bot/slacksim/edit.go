package slacksim

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
	case room.Archived:
		return nil, nil, fail("is_inactive")
	}
	return room, m, nil
}

func updateMessage(s *Sim, c *call) (obj, *failure) {
	room, m, f := s.own(c, "cant_update_message")
	if f != nil {
		return nil, f
	}
	if len(c.args["text"]) > maxUpdateText {
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
	return obj{"channel": room.ID, "ts": m.TS, "text": m.Text, "message": s.wireMessage(m.Message, true)}, nil
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
	room.remove(m.TS)
	return obj{"channel": room.ID, "ts": m.TS}, nil
}
