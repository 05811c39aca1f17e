package slacksim

import "slices"

// marked finds the message that a pin or reaction is for.
func (s *Sim) marked(c *call) (*channel, *stored, *failure) {
	room := s.channels[c.args["channel"]]
	if room == nil || !room.sees(s.app.UserID) {
		return nil, nil, fail("channel_not_found")
	}
	if !room.has(s.app.UserID) {
		return nil, nil, fail("not_in_channel")
	}
	if c.args["timestamp"] == "" {
		return nil, nil, fail("no_item_specified")
	}
	m := room.find(c.args["timestamp"])
	if m == nil {
		return nil, nil, fail("message_not_found")
	}
	return room, m, nil
}

const maxPins = 100

func pinsAdd(s *Sim, c *call) (obj, *failure) {
	room, m, f := s.marked(c)
	switch {
	case f != nil:
		return nil, f
	case slices.Contains(room.pins, m.TS):
		return nil, fail("already_pinned")
	case len(room.pins) >= maxPins:
		return nil, fail("too_many_pins")
	}
	room.pins = append(room.pins, m.TS)
	return obj{}, nil
}

func pinsRemove(s *Sim, c *call) (obj, *failure) {
	room, m, f := s.marked(c)
	if f != nil {
		return nil, f
	}
	i := slices.Index(room.pins, m.TS)
	if i < 0 {
		return nil, fail("no_pin")
	}
	room.pins = slices.Delete(room.pins, i, i+1)
	return obj{}, nil
}

func pinsList(s *Sim, c *call) (obj, *failure) {
	room, f := s.conversation(c.args["channel"], "read")
	if f != nil {
		return nil, f
	}
	items := []obj{}
	for _, ts := range room.pins {
		if m := room.find(ts); m != nil {
			items = append(items, obj{"type": "message", "channel": room.ID, "message": s.wireMessage(m.Message, false)})
		}
	}
	return obj{"items": items}, nil
}

const maxBookmarks = 100

func bookmarksAdd(s *Sim, c *call) (obj, *failure) {
	room := s.channels[c.args["channel_id"]]
	switch {
	case room == nil || !room.has(s.app.UserID):
		return nil, fail("channel_not_found")
	case room.ExtShared:
		return nil, fail("cannot_bookmark_from_external_org")
	case len(room.bookmarks) >= maxBookmarks:
		return nil, fail("too_many_bookmarks")
	case c.args["type"] == "link" && c.args["link"] == "":
		return nil, fail("invalid_link")
	}
	b := obj{
		"id": s.id("Bk"), "channel_id": room.ID, "title": c.args["title"], "link": c.args["link"],
		"emoji": c.args["emoji"], "type": c.args["type"], "date_created": s.clock.Now().Unix(),
	}
	room.bookmarks = append(room.bookmarks, b)
	return obj{"bookmark": b}, nil
}

func bookmarksList(s *Sim, c *call) (obj, *failure) {
	room := s.channels[c.args["channel_id"]]
	if room == nil || !room.sees(s.app.UserID) {
		return nil, fail("channel_not_found")
	}
	return obj{"bookmarks": append([]obj{}, room.bookmarks...)}, nil
}

func reactionsAdd(s *Sim, c *call) (obj, *failure) {
	room, m, f := s.marked(c)
	switch {
	case f != nil:
		return nil, f
	case room.Archived:
		return nil, fail("is_archived")
	}
	return obj{}, m.react(c.args["name"], s.app.UserID)
}

func (m *stored) react(name, user string) *failure {
	if name == "" {
		return fail("invalid_name")
	}
	for i := range m.Reactions {
		r := &m.Reactions[i]
		if r.Name != name {
			continue
		}
		if slices.Contains(r.Users, user) {
			return fail("already_reacted")
		}
		r.Users = append(slices.Clone(r.Users), user)
		return nil
	}
	m.Reactions = append(slices.Clone(m.Reactions), Reaction{name, []string{user}})
	return nil
}

func reactionsRemove(s *Sim, c *call) (obj, *failure) {
	_, m, f := s.marked(c)
	if f != nil {
		return nil, f
	}
	return obj{}, m.unreact(c.args["name"], s.app.UserID)
}

func (m *stored) unreact(name, user string) *failure {
	reactions := []Reaction{}
	found := false
	for _, r := range m.Reactions {
		if r.Name == name && slices.Contains(r.Users, user) {
			found = true
			r.Users = slices.DeleteFunc(slices.Clone(r.Users), func(u string) bool { return u == user })
		}
		if len(r.Users) > 0 {
			reactions = append(reactions, r)
		}
	}
	if !found {
		return fail("no_reaction")
	}
	m.Reactions = reactions
	return nil
}
