package slacksim

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// conversation finds a channel the app may look at with its scopes.
func (s *Sim) conversation(id, access string) (*channel, *failure) {
	c := s.channels[id]
	if c == nil || !c.sees(s.app.UserID) {
		return nil, fail("channel_not_found")
	}
	if f := s.scope(c.kindScope() + ":" + access); f != nil {
		return nil, f
	}
	return c, nil
}

func conversationsInfo(s *Sim, c *call) (obj, *failure) {
	room, f := s.conversation(c.args["channel"], "read")
	if f != nil {
		return nil, f
	}
	o := room.wire(s)
	if !room.IM {
		o["is_read_only"] = room.ReadOnly
	}
	if c.args.flag("include_num_members") {
		o["num_members"] = len(room.Members)
	}
	return obj{"channel": o}, nil
}

func conversationsList(s *Sim, c *call) (obj, *failure) {
	answer, f := s.listRooms(c, func(room *channel) bool { return room.sees(s.app.UserID) })
	if f == nil {
		for _, o := range answer["channels"].([]obj) {
			o["num_members"] = len(s.channels[str(o["id"])].Members)
		}
	}
	return answer, f
}

func usersConversations(s *Sim, c *call) (obj, *failure) {
	who := c.args["user"]
	if who == "" {
		who = s.app.UserID
	}
	answer, f := s.listRooms(c, func(room *channel) bool { return room.has(who) && room.sees(s.app.UserID) })
	if f == nil {
		for _, o := range answer["channels"].([]obj) {
			delete(o, "is_member") // it would always be true
		}
	}
	return answer, f
}

func (s *Sim) listRooms(c *call, shown func(*channel) bool) (obj, *failure) {
	kinds := []string{"public_channel"}
	if t := c.args["types"]; t != "" {
		kinds = strings.Split(t, ",")
	}
	names := map[string]string{"channels": "public_channel", "groups": "private_channel", "im": "im", "mpim": "mpim"}
	var all []obj
	for _, id := range s.rooms {
		room := s.channels[id]
		if slices.Contains(kinds, names[room.kindScope()]) && shown(room) && !(room.Archived && c.args.flag("exclude_archived")) {
			all = append(all, room.wire(s))
		}
	}
	some, next, f := page(all, c, 100)
	if f != nil {
		return nil, f
	}
	return obj{"channels": append([]obj{}, some...), "response_metadata": obj{"next_cursor": next}}, nil
}

func conversationsMembers(s *Sim, c *call) (obj, *failure) {
	room, f := s.conversation(c.args["channel"], "read")
	if f != nil {
		return nil, f
	}
	ids, next, f := page(room.Members, c, 100)
	if f != nil {
		return nil, f
	}
	return obj{"members": append([]string{}, ids...), "response_metadata": obj{"next_cursor": next}}, nil
}

func conversationsOpen(s *Sim, c *call) (obj, *failure) {
	if id := c.args["channel"]; id != "" {
		room := s.channels[id]
		if room == nil || !room.IM && !room.MPIM || !room.sees(s.app.UserID) {
			return nil, fail("channel_not_found")
		}
		return opened(s, c, room), nil
	}
	users := strings.FieldsFunc(c.args["users"], func(r rune) bool { return r == ',' })
	switch {
	case len(users) == 0:
		return nil, fail("users_list_not_supplied")
	case len(users) > maxDirect:
		return nil, fail("too_many_users")
	}
	for _, id := range users {
		u, f := s.visible(id)
		switch {
		case f != nil:
			return nil, f
		case u.Deleted:
			return nil, fail("user_disabled")
		}
	}
	return opened(s, c, s.direct(users...)), nil
}

// maxDirect is how many people a direct conversation may have beside the app.
const maxDirect = 8

func opened(s *Sim, c *call, room *channel) obj {
	if c.args.flag("return_im") {
		return obj{"channel": room.wire(s)}
	}
	return obj{"channel": obj{"id": room.ID}}
}

func conversationsJoin(s *Sim, c *call) (obj, *failure) {
	room := s.channels[c.args["channel"]]
	switch {
	case room == nil || room.Private:
		return nil, fail("channel_not_found")
	case room.Archived:
		return nil, fail("is_archived")
	case !room.has(s.app.UserID):
		room.Members = append(room.Members, s.app.UserID)
	}
	return obj{"channel": room.wire(s)}, nil
}

func conversationsHistory(s *Sim, c *call) (obj, *failure) {
	room, f := s.readable(c.args["channel"])
	if f != nil {
		return nil, f
	}
	var shown []Message
	for _, m := range slices.Backward(room.messages) {
		if (m.ThreadTS == "" || m.Broadcast) && c.within(m.TS) {
			shown = append(shown, m.Message)
		}
	}
	return s.messagePage(c, shown)
}

func conversationsReplies(s *Sim, c *call) (obj, *failure) {
	room, f := s.readable(c.args["channel"])
	if f != nil {
		return nil, f
	}
	parent := room.find(c.args["ts"])
	if parent == nil {
		return nil, fail("thread_not_found")
	}
	shown := []Message{parent.Message}
	for _, m := range room.messages {
		if m.ThreadTS == parent.TS && m != parent && c.within(m.TS) {
			shown = append(shown, m.Message)
		}
	}
	return s.messagePage(c, shown)
}

// readable finds a channel whose messages the app may read: it must be in it.
func (s *Sim) readable(id string) (*channel, *failure) {
	room, f := s.conversation(id, "history")
	if f != nil {
		return nil, f
	}
	if !room.has(s.app.UserID) {
		return nil, fail("not_in_channel")
	}
	return room, nil
}

// within tells whether a ts lies between oldest and latest. Timestamps of one
// length compare as text.
func (c *call) within(ts string) bool {
	oldest, latest, both := c.args["oldest"], c.args["latest"], c.args.flag("inclusive")
	if ts == oldest || ts == latest {
		return both
	}
	return (oldest == "" || oldest == "0" || ts > oldest) && (latest == "" || ts < latest)
}

func (s *Sim) messagePage(c *call, shown []Message) (obj, *failure) {
	some, next, f := page(shown, c, 100)
	if f != nil {
		return nil, f
	}
	messages := []obj{}
	for _, m := range some {
		messages = append(messages, s.wireMessage(m, c.args.flag("include_all_metadata")))
	}
	return obj{"messages": messages, "has_more": next != "", "response_metadata": obj{"next_cursor": next}}, nil
}

// maxTopic is from https://docs.slack.dev/reference/methods/conversations.setTopic.
const maxTopic = 250

func conversationsSetTopic(s *Sim, c *call) (obj, *failure) {
	room, f := s.postable(c.args["channel"])
	if f != nil {
		if strings.HasPrefix(f.code, "restricted_action") {
			f.code = "user_is_restricted"
		}
		return nil, f
	}
	if utf8.RuneCountInString(c.args["topic"]) > maxTopic {
		return nil, fail("too_long")
	}
	room.Topic = c.args["topic"]
	room.add(Message{
		TS: s.ts(), Channel: room.ID, User: s.app.UserID, Subtype: "channel_topic",
		Text: "set the channel topic: " + room.Topic,
	})
	return obj{"channel": room.wire(s)}, nil
}
