package slacksim

import (
	"context"
	"fmt"
)

// emit sends an event to the app if its manifest subscribes to it, and again
// as Slack does while it is not acknowledged. The lock is held.
func (s *Sim) emit(kind, channel string, event obj) string {
	if !s.manifest.subscribed(kind) {
		return ""
	}
	s.seq["Ev"]++
	id := fmt.Sprintf("Ev0S%08X", s.seq["Ev"])
	now := s.clock.Now()
	body := obj{"type": kind}
	if kind != "tokens_revoked" && kind != "app_uninstalled" { // these two say only what happened
		body["event_ts"] = s.stamp()
	}
	for k, v := range event {
		body[k] = v
	}
	shared := false
	if c := s.channels[channel]; c != nil {
		shared = c.ExtShared
	}
	p := parcel{kind: kindEvent, what: kind, channel: channel, payload: obj{
		"token": "sim", "team_id": s.team.ID, "api_app_id": s.app.ID, "event": body, "type": "event_callback",
		"event_id": id, "event_time": now.Unix(), "is_ext_shared_channel": shared,
		"authorizations": []obj{{
			"enterprise_id": nilIfEmpty(s.team.EnterpriseID), "team_id": s.team.ID, "user_id": s.app.UserID,
			"is_bot": true, "is_enterprise_install": false,
		}},
	}}
	if s.opts.SameEnvelopeOnRetry {
		p.id = s.uuid()
	}
	s.background(func() { s.attempt(p) })
	return id
}

// Emit sends an event of a test's own making, if the manifest subscribes to
// it: one that Slack documents but nothing here causes (app_uninstalled), one
// that comes again under another id, or one with fields of the wrong type.
func (s *Sim) Emit(kind, channel string, event map[string]any) (eventID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.emit(kind, channel, event)
}

// SendEnvelope delivers an envelope of any type with any payload and waits for
// its acknowledgement, as for a type that Slack may add.
func (s *Sim) SendEnvelope(ctx context.Context, kind string, payload any) (*Envelope, error) {
	return s.deliver(ctx, parcel{kind: kind, what: kind, payload: payload})
}

// attempt delivers an event and, without an acknowledgement, plans the next
// attempt.
func (s *Sim) attempt(p parcel) {
	if _, err := s.deliver(context.Background(), p); err == nil {
		return
	}
	if p.attempt >= len(s.opts.RetryAfter) {
		return
	}
	pause := s.opts.RetryAfter[p.attempt]
	p.attempt++
	s.clock.AfterFunc(pause, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.background(func() { s.attempt(p) })
	})
	s.tell()
}

// emitMessage announces a new message. The app's own come too when it is
// subscribed: an app must not answer itself.
func (s *Sim) emitMessage(m Message) {
	room := s.channels[m.Channel]
	if room == nil || !room.has(s.app.UserID) {
		return
	}
	event := s.wireMessage(m, true)
	event["channel"] = m.Channel
	event["channel_type"] = channelType(room)
	s.emitAs("message."+room.kindScope(), "message", m.Channel, event)
}

func (s *Sim) emitChanged(m Message) {
	room := s.channels[m.Channel]
	if room == nil || !room.has(s.app.UserID) {
		return
	}
	s.emitAs("message."+room.kindScope(), "message", m.Channel, obj{
		"subtype": "message_changed", "channel": m.Channel, "channel_type": channelType(room),
		"ts": m.TS, "hidden": true, "message": s.wireMessage(m, true),
	})
}

func (s *Sim) emitDeleted(m Message) {
	room := s.channels[m.Channel]
	if room == nil || !room.has(s.app.UserID) {
		return
	}
	s.emitAs("message."+room.kindScope(), "message", m.Channel, obj{
		"subtype": "message_deleted", "channel": m.Channel, "channel_type": channelType(room), "hidden": true,
		"ts": s.stamp(), "deleted_ts": m.TS, "previous_message": s.wireMessage(m, true),
	})
}

// emitAs sends an event whose type is not the name of its subscription.
func (s *Sim) emitAs(subscription, kind, channel string, event obj) {
	event["type"] = kind
	s.emit(subscription, channel, event)
}

func channelType(c *channel) string {
	switch c.kindScope() {
	case "im", "mpim":
		return c.kindScope()
	case "groups":
		return "group"
	}
	return "channel"
}
