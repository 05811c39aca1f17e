package slacksim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// What a person sees when the app does not answer.
var (
	// ErrOperationTimeout: the app did not acknowledge in time.
	ErrOperationTimeout = errors.New("operation_timeout: the app did not acknowledge within 3 seconds")
	// ErrDispatchFailed: the app has no socket open.
	ErrDispatchFailed = errors.New("dispatch_failed: the app has no connection")
)

// The kinds of envelopes.
const (
	kindCommand     = "slash_commands"
	kindInteractive = "interactive"
	kindEvent       = "events_api"
)

// Envelope is the record of one delivery to the app.
type Envelope struct {
	ID      string          `json:"envelope_id"`
	Kind    string          `json:"type"`
	What    string          `json:"what"` // command, action id or event type
	User    string          `json:"user,omitempty"`
	Channel string          `json:"channel,omitempty"`
	Socket  int             `json:"socket"` // 0 when there was none
	Attempt int             `json:"retry_attempt,omitempty"`
	Sent    time.Time       `json:"sent"`
	Latency time.Duration   `json:"latency,omitempty"`
	State   string          `json:"state"` // sent, acked, late, unacked, lost, dispatch_failed
	Payload json.RawMessage `json:"payload,omitempty"`
	Answer  json.RawMessage `json:"answer,omitempty"`
}

// delivery is an envelope under way.
type delivery struct {
	log    *Envelope
	socket *socket
	done   chan struct{} // closed at the first acknowledgement in time
	// spoiled means that no acknowledgement in time can be expected: Slack or
	// the network failed, or the app's process was killed. Guarded by Sim.mu.
	spoiled bool
}

// parcel is what is to be delivered.
type parcel struct {
	id, kind, what, user, channel string
	payload                       any
	attempt                       int
	again                         bool // the second of two deliveries of one thing
}

// deliver sends a parcel to exactly one socket and waits for its
// acknowledgement. A socket that can't be written to is passed over for the
// next, so that no envelope is lost here.
func (s *Sim) deliver(ctx context.Context, p parcel) (*Envelope, error) {
	for {
		d := s.dispatch(p)
		if d == nil {
			return s.undelivered(p), ErrDispatchFailed
		}
		if err := s.put(d, p); err != nil {
			s.forget(d)
			continue
		}
		e, err := s.await(ctx, d)
		s.ended(e)
		return e, err
	}
}

// ended notes in the transcript what became of an envelope.
func (s *Sim) ended(e *Envelope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	short := *e
	short.Payload = nil // it was written when it was sent
	s.record(Line{Kind: "ended", Envelope: &short})
}

// dispatch chooses a socket and notes the envelope as sent.
func (s *Sim) dispatch(p parcel) *delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.choose()
	if c == nil {
		return nil
	}
	c.count++
	d := &delivery{socket: c, done: make(chan struct{}), spoiled: c.doomed, log: &Envelope{
		ID: p.id, Kind: p.kind, What: p.what, User: p.user, Channel: p.channel, Socket: c.id,
		Attempt: p.attempt, Sent: s.clock.Now(), State: "sent", Payload: encode(p.payload),
	}}
	if d.log.ID == "" {
		d.log.ID = s.uuid()
	}
	if len(s.pending) >= maxPending {
		maps.DeleteFunc(s.pending, func(_ string, d *delivery) bool { return d.log.State != "sent" })
	}
	s.pending[d.log.ID] = d
	s.traffic = keep(s.traffic, d.log)
	s.stats.Envelopes++
	s.record(Line{Kind: "sent", Envelope: d.log})
	return d
}

// choose picks an open socket by the routing that was asked for.
func (s *Sim) choose() *socket {
	var open []*socket
	for _, c := range s.sockets {
		if c.ready {
			open = append(open, c)
		}
	}
	if len(open) == 0 {
		return nil
	}
	switch s.opts.Routing {
	case RouteSticky:
		return open[0]
	case RouteNewest:
		return open[len(open)-1]
	case RouteRoundRobin:
		s.turn++
		return open[s.turn%len(open)]
	}
	return open[s.rng.IntN(len(open))]
}

// put writes the envelope to its socket, unless a fault swallows it.
func (s *Sim) put(d *delivery, p parcel) error {
	rule := s.faultFor(trait{Envelope: p.kind, Channel: p.channel, User: p.user})
	s.mu.Lock()
	swallow := rule.swallows() || d.socket.silent || d.socket.mute
	d.spoiled = d.spoiled || swallow || rule.delays()
	if body, ok := p.payload.(obj); ok && rule.delays() {
		if t := s.triggers[str(body["trigger_id"])]; t != nil {
			t.late = true
		}
	}
	if rule.doubles() && !p.again {
		s.double(p)
	}
	s.mu.Unlock()
	rule.wait(s)
	if swallow {
		return nil
	}
	env := obj{
		"envelope_id": d.log.ID, "type": p.kind, "payload": p.payload,
		"accepts_response_payload": p.kind != kindEvent,
	}
	if p.kind == kindEvent {
		env["retry_attempt"], env["retry_reason"] = p.attempt, ""
		if p.attempt > 0 {
			env["retry_reason"] = "timeout"
		}
	}
	return d.socket.send(env)
}

// double delivers a thing once more, under other ids and without a mark, as
// was seen in incidents, https://github.com/slackapi/node-slack-sdk/issues/2141.
// The lock is held.
func (s *Sim) double(p parcel) {
	p.id, p.again = "", true
	if body, ok := p.payload.(obj); ok && p.kind == kindEvent {
		s.seq["Ev"]++
		body = maps.Clone(body)
		body["event_id"] = fmt.Sprintf("Ev0S%08X", s.seq["Ev"])
		p.payload = body
	}
	// Nobody waits for the second: what it comes to is in the record.
	s.background(func() { _, _ = s.deliver(context.Background(), p) })
}

// forget takes back an envelope that could not be written, and its socket.
func (s *Sim) forget(d *delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.socket.ready = false
	delete(s.pending, d.log.ID)
	s.stats.Envelopes-- // it never went out
	s.traffic = slices.DeleteFunc(s.traffic, func(e *Envelope) bool { return e == d.log })
	d.socket.reset()
}

func (s *Sim) undelivered(p parcel) *Envelope {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := &Envelope{
		ID: p.id, Kind: p.kind, What: p.what, User: p.user, Channel: p.channel, Attempt: p.attempt,
		Sent: s.clock.Now(), State: "dispatch_failed", Payload: encode(p.payload),
	}
	s.traffic = keep(s.traffic, e)
	s.record(Line{Kind: "sent", Envelope: e})
	s.bump()
	return e
}

// await waits for the acknowledgement or the end of the window.
func (s *Sim) await(ctx context.Context, d *delivery) (*Envelope, error) {
	late := make(chan struct{})
	// An envelope that a fault kept back has used its time up on the way.
	left := s.opts.AckWindow - s.clock.Now().Sub(d.log.Sent)
	stop := s.clock.AfterFunc(max(left, 0), func() { close(late) })
	defer stop()
	s.tell()
	select {
	case <-d.done:
		return s.logged(d), nil
	case <-late:
	case <-s.quit:
		return s.logged(d), ErrDispatchFailed
	case <-ctx.Done():
		return s.logged(d), context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case d.log.State == "sent" && d.spoiled:
		d.log.State = "lost"
		s.stats.Lost++
	case d.log.State == "sent":
		d.log.State = "unacked"
		s.stats.Unacked++
		s.find(RuleUnacked, "%s %s was not acknowledged within %s", d.log.Kind, d.log.What, s.opts.AckWindow)
	}
	s.bump()
	e := *d.log
	if e.State == "acked" {
		return &e, nil
	}
	return &e, ErrOperationTimeout
}

func (s *Sim) logged(d *delivery) *Envelope {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := *d.log
	return &e
}

// acked notes an acknowledgement. The lock is held.
func (s *Sim) acked(c *socket, id string, payload json.RawMessage) {
	d := s.pending[id]
	switch {
	case id == "":
		s.find(RuleEmptyAck, "an acknowledgement named no envelope")
		return
	case d == nil:
		s.find(RuleUnknownAck, "an acknowledgement named the unknown envelope %s", id)
		return
	case s.opts.RefuseCrossSocketAck && d.socket != c:
		return
	case d.log.State == "acked" || d.log.State == "late":
		s.find(RuleDoubleAck, "%s %s was acknowledged twice", d.log.Kind, d.log.What)
		return
	}
	d.log.Latency = s.clock.Now().Sub(d.log.Sent)
	d.log.Answer = payload
	if said := string(payload); said != "" && said != "{}" && said != "null" && !d.log.answerable() {
		s.find(RuleAckPayload, "%s %s was acknowledged with a payload, which nobody will see", d.log.Kind, d.log.What)
	}
	switch {
	case d.log.State == "sent" && d.spoiled && d.log.Latency > s.opts.AckWindow:
		s.stats.Lost++
		d.log.State = "late"
		return
	case d.log.State == "lost":
		d.log.State = "late"
		return
	case d.log.State == "unacked":
		d.log.State = "late"
		s.find(RuleLateAck, "%s %s was acknowledged after %s", d.log.Kind, d.log.What, d.log.Latency.Round(time.Millisecond))
		return
	}
	d.log.State = "acked"
	s.stats.ack(d.log.Latency)
	close(d.done)
}

// answerable tells whether the payload of an acknowledgement is looked at: that
// of a command, of a submitted modal, and of a select that asks for options.
// https://docs.slack.dev/interactivity/handling-user-interaction
func (e *Envelope) answerable() bool {
	switch e.Kind {
	case kindEvent:
		return false
	case kindInteractive:
		kind := decode(e.Payload)["type"]
		return kind == "view_submission" || kind == "block_suggestion"
	}
	return true
}

// maxPending is how many deliveries are remembered, so that a late or second
// acknowledgement is told from one of an unknown envelope.
const maxPending = 10_000

// keep appends to a log that holds the last thousand entries.
func keep[T any](log []T, e T) []T {
	if len(log) >= 1000 {
		log = slices.Delete(log, 0, 100)
	}
	return append(log, e)
}
