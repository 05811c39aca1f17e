package slacksim

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Say writes a message and returns its ts. A mention of the app makes an
// app_mention event where the app is a member.
func (p *Place) Say(ctx context.Context, text string) (string, error) {
	inv, err := p.Mention(ctx, text)
	if inv == nil {
		return "", err
	}
	return inv.TS, err
}

// Mention writes a message in which @name of the app stands for a mention of
// it. It does not wait for the app: an event is acknowledged or sent again on
// its own, and Envelopes tells how it went.
func (p *Place) Mention(_ context.Context, text string) (*Invocation, error) {
	s := p.sim
	s.mu.Lock()
	defer s.mu.Unlock()
	u, c, err := p.where()
	if err != nil {
		return nil, err
	}
	switch {
	case c.Archived:
		return nil, fmt.Errorf("write in #%s: it is archived", c.Name)
	case c.IM && c.has(s.app.UserID) && (s.manifest.Features.Home.ReadOnly || !s.manifest.messages()):
		return nil, fmt.Errorf("write to %s: sending messages to this app has been turned off", s.app.Name)
	case !c.has(u.ID):
		return nil, fmt.Errorf("write in #%s: %s is not a member", c.Name, u.Name)
	}
	text = s.written(text)
	m := Message{TS: s.ts(), ThreadTS: p.thread, Channel: c.ID, User: u.ID, Text: text}
	c.add(m)
	inv := &Invocation{TS: m.TS}
	if strings.Contains(text, "<@"+s.app.UserID+">") && c.has(s.app.UserID) {
		event := s.wireMessage(m, true)
		event["channel"] = c.ID
		event["type"] = "app_mention"
		inv.EventID = s.emit("app_mention", c.ID, event)
	}
	s.emitMessage(m)
	s.bump()
	return inv, nil
}

// Invite brings someone, or the app, into the channel.
func (p *Place) Invite(user string) error {
	p.sim.mu.Lock()
	u := p.sim.user(strings.TrimPrefix(user, "@"))
	p.sim.mu.Unlock()
	if u == nil {
		return fmt.Errorf("invite %s to %s: no such person", user, p.channel)
	}
	return p.sim.SetChannel(p.channel, func(c *Channel) {
		if !slices.Contains(c.Members, u.ID) {
			c.Members = append(c.Members, u.ID)
		}
	})
}

// Leave takes the person out of the channel.
func (p *Place) Leave() error {
	p.sim.mu.Lock()
	u := p.sim.user(p.user)
	p.sim.mu.Unlock()
	if u == nil {
		return fmt.Errorf("leave %s: %s is no one in the workspace", p.channel, p.user)
	}
	return p.sim.SetChannel(p.channel, func(c *Channel) {
		c.Members = slices.DeleteFunc(c.Members, func(m string) bool { return m == u.ID })
	})
}

// Messages are a channel's messages without the replies in threads, the
// oldest first.
func (s *Sim) Messages(channel string) []Message {
	return s.read(channel, func(m Message) bool { return m.ThreadTS == "" || m.Broadcast || m.ThreadTS == m.TS })
}

// Thread is a message and the replies to it, the oldest first.
func (s *Sim) Thread(channel, ts string) []Message {
	return s.read(channel, func(m Message) bool { return m.TS == ts || m.ThreadTS == ts })
}

func (s *Sim) read(channel string, wanted func(Message) bool) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.room(channel)
	if c == nil {
		return nil
	}
	var out []Message
	for _, m := range c.messages {
		if wanted(m.Message) {
			out = append(out, m.Message)
		}
	}
	return out
}

// Ephemerals are the messages in a channel that only this person sees.
func (s *Sim) Ephemerals(user, channel string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	u, c := s.user(user), s.room(channel)
	if u == nil || c == nil {
		return nil
	}
	var out []Message
	for _, m := range c.ephemeral {
		if m.To == u.ID {
			out = append(out, m.Message)
		}
	}
	return out
}

// Versions are a message's contents from the first to the present one.
func (s *Sim) Versions(channel, ts string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.room(channel)
	if c == nil || c.any(ts) == nil {
		return nil
	}
	m := c.any(ts)
	return append(slices.Clone(m.old), m.Message)
}

// Reload is what a person does to their client: what only they saw is gone.
func (a *Actor) Reload() {
	s := a.sim
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.user(a.user)
	if u == nil {
		return
	}
	for _, c := range s.channels {
		c.ephemeral = slices.DeleteFunc(c.ephemeral, func(m *stored) bool { return m.To == u.ID })
	}
	s.bump()
}
