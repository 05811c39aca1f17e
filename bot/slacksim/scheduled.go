package slacksim

import (
	"strconv"
	"time"
)

// Limits of https://docs.slack.dev/reference/methods/chat.scheduleMessage and
// chat.deleteScheduledMessage.
const (
	scheduleAhead = 120 * 24 * time.Hour
	scheduleSpan  = 5 * time.Minute
	scheduleMost  = 30 // messages to one channel within the span
	scheduleFirm  = time.Minute
)

// scheduled is a message that waits for its time.
type scheduled struct {
	id, channel, thread string
	at, created         time.Time
	broadcast           bool
	what                content
}

func scheduleMessage(s *Sim, c *call) (obj, *failure) {
	room, f := s.postable(c.args["channel"])
	if f != nil {
		return nil, f
	}
	seconds, err := strconv.ParseInt(c.args["post_at"], 10, 64)
	if err != nil {
		return nil, fail("invalid_time")
	}
	at, now := time.Unix(seconds, 0), s.clock.Now()
	switch {
	case !at.After(now):
		return nil, fail("time_in_past")
	case at.Sub(now) > scheduleAhead:
		return nil, fail("time_too_far")
	case s.scheduledNear(room.ID, at) >= scheduleMost:
		return nil, fail("restricted_too_many")
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
	s.watch(room, "chat.scheduleMessage", what)
	m := &scheduled{
		id: s.id("Q"), channel: room.ID, thread: thread, at: at, created: now, what: what, broadcast: c.args.flag("reply_broadcast"),
	}
	s.scheduled = append(s.scheduled, m)
	s.clock.AfterFunc(at.Sub(now), func() { s.postScheduled(m.id) })
	shown := s.wireMessage(Message{User: s.app.UserID, BotID: s.app.BotID, Text: what.text, Blocks: what.blocks, Attach: what.attach}, false)
	delete(shown, "ts")
	shown["type"], shown["subtype"] = "delayed_message", "bot_message"
	return obj{"channel": room.ID, "scheduled_message_id": m.id, "post_at": seconds, "message": shown}, nil
}

func (s *Sim) scheduledNear(channel string, at time.Time) int {
	n := 0
	for _, m := range s.scheduled {
		if m.channel == channel && m.at.Sub(at).Abs() < scheduleSpan {
			n++
		}
	}
	return n
}

// postScheduled posts a message whose time has come. Where the app may not
// post any more, nothing appears, and nobody is told.
func (s *Sim) postScheduled(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.unschedule(id)
	if m == nil || s.closed {
		return
	}
	room, f := s.postable(m.channel)
	if f != nil {
		return
	}
	kept := room.add(Message{
		TS: s.ts(), ThreadTS: m.thread, Channel: room.ID, User: s.app.UserID, BotID: s.app.BotID, Text: m.what.text,
		Blocks: m.what.blocks, Attach: m.what.attach, Metadata: m.what.metadata, Broadcast: m.broadcast,
	})
	s.emitMessage(kept.Message)
	s.bump()
}

// unschedule takes a message off the list.
func (s *Sim) unschedule(id string) *scheduled {
	for i, m := range s.scheduled {
		if m.id == id {
			s.scheduled = append(s.scheduled[:i], s.scheduled[i+1:]...)
			return m
		}
	}
	return nil
}

func deleteScheduled(s *Sim, c *call) (obj, *failure) {
	for _, m := range s.scheduled {
		if m.id != c.args["scheduled_message_id"] {
			continue
		}
		if m.channel != c.args["channel"] {
			return nil, fail("channel_not_found")
		}
		if m.at.Sub(s.clock.Now()) < scheduleFirm {
			break // within the last minute it can't be taken back
		}
		s.unschedule(m.id)
		return obj{}, nil
	}
	return nil, fail("invalid_scheduled_message_id")
}

func listScheduled(s *Sim, c *call) (obj, *failure) {
	if id := c.args["channel"]; id != "" && s.channels[id] == nil {
		return nil, fail("invalid_channel")
	}
	oldest, latest := c.args.number("oldest", 0), c.args.number("latest", 0)
	all := []obj{}
	for _, m := range s.scheduled {
		at := int(m.at.Unix())
		if id := c.args["channel"]; id != "" && id != m.channel || at < oldest || latest > 0 && at > latest {
			continue
		}
		all = append(all, obj{
			"id": m.id, "channel_id": m.channel, "post_at": m.at.Unix(), "date_created": m.created.Unix(), "text": m.what.text,
		})
	}
	some, next, f := page(all, c, 100)
	if f != nil {
		return nil, f
	}
	return obj{"scheduled_messages": append([]obj{}, some...), "response_metadata": obj{"next_cursor": next}}, nil
}
