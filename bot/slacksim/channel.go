package slacksim

import (
	"fmt"
	"slices"
	"strings"
)

// channel is a conversation with what was said in it.
type channel struct {
	Channel
	messages  []*stored
	ephemeral []*stored
	pins      []string
	bookmarks []obj
}

// stored is a message with its earlier versions, the oldest first.
type stored struct {
	Message
	old []Message
}

func (s *Sim) addChannel(c Channel) *channel {
	c.Members = slices.Clone(c.Members)
	room := &channel{Channel: c}
	s.channels[c.ID] = room
	s.rooms = append(s.rooms, c.ID)
	return room
}

// AddChannel opens a channel in a running workspace. Without an ID it gets one.
func (s *Sim) AddChannel(c Channel) (Channel, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.ID == "" {
		c.ID = s.id("C")
	}
	if s.channels[c.ID] != nil || s.named(c.Name) != nil {
		return c, fmt.Errorf("add channel #%s: the id %s or the name is taken", c.Name, c.ID)
	}
	for _, m := range c.Members {
		if s.users[m] == nil {
			return c, fmt.Errorf("add channel #%s: %s is not a user", c.Name, m)
		}
	}
	s.addChannel(c)
	s.bump()
	return c, nil
}

// SetChannel changes a channel: archives it, shares it, renames it, changes
// who is in it. The events that Slack sends for it go out.
func (s *Sim) SetChannel(idOrName string, change func(*Channel)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.room(idOrName)
	if c == nil {
		return fmt.Errorf("change channel %s: no such channel", idOrName)
	}
	before := c.Channel
	c.Members = slices.Clone(c.Members) // readers may hold the old list
	change(&c.Channel)
	if c.ID != before.ID {
		s.move(c, before.ID)
	}
	s.announce(before, c.Channel)
	s.bump()
	return nil
}

// move gives a channel another id, as happens when sharing starts or ends.
func (s *Sim) move(c *channel, old string) {
	delete(s.channels, old)
	s.channels[c.ID] = c
	s.rooms[slices.Index(s.rooms, old)] = c.ID
	for _, m := range c.messages {
		m.Channel = c.ID
	}
	s.emit("channel_id_changed", c.ID, obj{"old_channel_id": old, "new_channel_id": c.ID})
}

func (s *Sim) announce(before, after Channel) {
	switch {
	case !before.ExtShared && after.ExtShared:
		s.emit("channel_shared", after.ID, obj{"connected_team_id": s.otherTeam(), "channel": after.ID})
	case before.ExtShared && !after.ExtShared:
		s.emit("channel_unshared", after.ID, obj{"previously_connected_team_id": s.otherTeam(), "channel": after.ID, "is_ext_shared": false})
	}
	if before.Archived != after.Archived {
		kind := "channel_unarchive"
		if after.Archived {
			kind = "channel_archive"
		}
		s.emit(kind, after.ID, obj{"channel": after.ID, "user": ""})
	}
	if before.Name != after.Name {
		s.emit("channel_rename", after.ID, obj{"channel": obj{
			"id": after.ID, "name": after.Name, "name_normalized": after.Name, "created": s.started.Unix(),
			"is_channel": !after.Private, "is_mpim": after.MPIM,
		}})
	}
	for _, m := range before.Members {
		if !slices.Contains(after.Members, m) {
			s.emit("member_left_channel", after.ID, memberEvent(s, after, m))
		}
	}
	for _, m := range after.Members {
		if !slices.Contains(before.Members, m) {
			s.emit("member_joined_channel", after.ID, memberEvent(s, after, m))
		}
	}
}

func memberEvent(s *Sim, c Channel, user string) obj {
	kind := "C"
	if c.Private {
		kind = "G"
	}
	return obj{"user": user, "channel": c.ID, "channel_type": kind, "team": s.team.ID}
}

// Channels are the workspace's conversations in the order they were opened.
func (s *Sim) Channels() []Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Channel, 0, len(s.rooms))
	for _, id := range s.rooms {
		c := s.channels[id].Channel
		c.Members = slices.Clone(c.Members)
		out = append(out, c)
	}
	return out
}

// room finds a channel by id or name, with or without #.
func (s *Sim) room(idOrName string) *channel {
	if c := s.channels[idOrName]; c != nil {
		return c
	}
	return s.named(strings.TrimPrefix(idOrName, "#"))
}

func (s *Sim) named(name string) *channel {
	for _, id := range s.rooms {
		if c := s.channels[id]; c.Name == name && name != "" {
			return c
		}
	}
	return nil
}

// direct finds or opens the direct conversation between the app and people.
func (s *Sim) direct(users ...string) *channel {
	want := append([]string{s.app.UserID}, users...)
	slices.Sort(want)
	for _, id := range s.rooms {
		c := s.channels[id]
		have := slices.Clone(c.Members)
		slices.Sort(have)
		if (c.IM || c.MPIM) && slices.Equal(have, want) {
			return c
		}
	}
	return s.addChannel(Channel{
		ID: s.id("D"), Private: true, IM: len(users) == 1, MPIM: len(users) > 1, Members: want,
	})
}

// sees tells whether a member may see the channel at all.
func (c *channel) sees(user string) bool { return !c.Private || c.has(user) }

func (c *channel) find(ts string) *stored {
	for _, m := range c.messages {
		if m.TS == ts {
			return m
		}
	}
	return nil
}

// add appends a message and keeps the parent's count of replies.
func (c *channel) add(m Message) *stored {
	m.Versions = 1
	kept := &stored{Message: m}
	c.messages = append(c.messages, kept)
	if parent := c.find(m.ThreadTS); parent != nil && m.ThreadTS != m.TS {
		parent.Replies++
		parent.Latest = m.TS
	}
	return kept
}

func (c *channel) remove(ts string) {
	gone := c.find(ts)
	c.messages = slices.DeleteFunc(c.messages, func(m *stored) bool { return m == gone })
	if parent := c.find(gone.ThreadTS); parent != nil {
		parent.Replies--
	}
}

// wire is a channel as conversations.info shows it.
func (c *channel) wire(s *Sim) obj {
	if c.IM {
		other := ""
		for _, m := range c.Members {
			if m != s.app.UserID {
				other = m
			}
		}
		return obj{"id": c.ID, "created": s.started.Unix(), "is_im": true, "is_org_shared": false, "user": other, "is_archived": false}
	}
	o := obj{
		"id": c.ID, "name": c.Name, "name_normalized": c.Name, "created": s.started.Unix(), "creator": "",
		"is_channel": !c.Private, "is_group": c.Private && !c.MPIM, "is_im": false, "is_mpim": c.MPIM,
		"is_private": c.Private, "is_archived": c.Archived, "is_general": false,
		"is_shared": c.ExtShared || c.OrgShared, "is_ext_shared": c.ExtShared, "is_org_shared": c.OrgShared,
		"is_pending_ext_shared": c.PendingExtShared, "is_member": c.has(s.app.UserID),
		"context_team_id": s.team.ID, "unlinked": 0,
		"topic":   obj{"value": c.Topic, "creator": "", "last_set": 0},
		"purpose": obj{"value": "", "creator": "", "last_set": 0},
	}
	if c.ExtShared {
		o["connected_team_ids"] = []string{s.otherTeam()}
		o["shared_team_ids"] = []string{s.team.ID, s.otherTeam()}
	}
	return o
}

// otherTeam is the organisation that channels are shared with: that of the
// first person from elsewhere.
func (s *Sim) otherTeam() string {
	for _, id := range s.people {
		if team := s.users[id].TeamID; team != s.team.ID {
			return team
		}
	}
	return "T0EXT"
}

// kindScope is the middle of the scope that guards a conversation:
// channels, groups, im or mpim.
func (c *channel) kindScope() string {
	switch {
	case c.IM:
		return "im"
	case c.MPIM:
		return "mpim"
	case c.Private:
		return "groups"
	}
	return "channels"
}
