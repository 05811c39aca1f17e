package slacksim

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"reconcilebot/bot/slacksim/blockkit"
)

// Actor is a person who uses Slack.
type Actor struct {
	sim  *Sim
	user string // id or name
}

// Place is a person in a channel, or in a thread of it.
type Place struct {
	Actor
	channel string // id or name
	thread  string
}

// As takes the part of a person, by id or name.
func (s *Sim) As(user string) *Actor { return &Actor{s, user} }

// In goes to a channel, by id or name with or without #.
func (a *Actor) In(channel string) *Place { return &Place{*a, channel, ""} }

// InThread opens the thread of a message.
func (p *Place) InThread(ts string) *Place { return &Place{p.Actor, p.channel, ts} }

// Invocation is one thing a person did and how the app answered.
type Invocation struct {
	EnvelopeID  string        `json:"envelope_id,omitempty"`
	TriggerID   string        `json:"trigger_id,omitempty"`
	ResponseURL string        `json:"response_url,omitempty"`
	EventID     string        `json:"event_id,omitempty"`
	TS          string        `json:"ts,omitempty"` // of the message the person wrote
	AckLatency  time.Duration `json:"ack_latency"`
	// Text is what the acknowledgement said to the person.
	Text string `json:"text,omitempty"`
	// Message is the message that the acknowledgement made.
	Message *Message `json:"message,omitempty"`
	// Errors are a modal's, by block id, from the app or from Slack's own
	// checks of required and length.
	Errors map[string]string `json:"errors,omitempty"`
	// Answer is the acknowledgement's payload.
	Answer json.RawMessage `json:"answer,omitempty"`
}

// who finds the person. Those who can no longer sign in can do nothing.
func (a *Actor) who() (*User, error) {
	u := a.sim.user(a.user)
	switch {
	case u == nil:
		return nil, fmt.Errorf("act as %s: no such person in the workspace", a.user)
	case u.Deleted:
		return nil, fmt.Errorf("act as %s: the account is deactivated", a.user)
	}
	return u, nil
}

// where finds the channel, which the person must be able to see.
func (p *Place) where() (*User, *channel, error) {
	u, err := p.who()
	if err != nil {
		return nil, nil, err
	}
	c := p.sim.room(p.channel)
	if c == nil || !c.sees(u.ID) {
		return nil, nil, fmt.Errorf("act as %s in %s: there is no such channel for %s", u.Name, p.channel, u.Name)
	}
	return u, c, nil
}

// Slash types a slash command and waits for its acknowledgement. The error is
// what the person would see: ErrOperationTimeout, ErrDispatchFailed, or why
// Slack does not send the command at all.
func (p *Place) Slash(ctx context.Context, text string) (*Invocation, error) {
	s := p.sim
	s.mu.Lock()
	u, c, err := p.where()
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	name, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	command, known := s.manifest.command(name)
	if err := p.mayCommand(u, c, name, known); err != nil {
		s.mu.Unlock()
		return nil, err
	}
	rest = strings.TrimSpace(rest)
	if command.Escape {
		rest = s.escape(rest)
	}
	inv := &Invocation{TriggerID: s.trigger(u.ID, "")}
	inv.ResponseURL = s.hook("commands", hook{user: u.ID, channel: c.ID})
	payload := s.commandPayload(u, c, name, rest, inv)
	s.mu.Unlock()

	err = s.invoke(ctx, inv, parcel{kind: kindCommand, what: name + " " + rest, user: u.ID, channel: c.ID, payload: payload})
	if err == nil {
		err = s.commandAnswer(inv, u, c, text)
	}
	return inv, err
}

func (p *Place) mayCommand(u *User, c *channel, name string, known bool) error {
	switch {
	case !known:
		return fmt.Errorf("%s is not a valid command: the app's manifest does not register it", name)
	case p.thread != "":
		return fmt.Errorf("%s is not supported in threads", name)
	case u.TeamID != p.sim.team.ID || u.Stranger:
		return fmt.Errorf("%s is not a valid command for %s, who belongs to another workspace", name, u.Name)
	case c.Archived:
		return fmt.Errorf("%s: #%s is archived", name, c.Name)
	}
	return nil
}

func (s *Sim) commandPayload(u *User, c *channel, name, text string, inv *Invocation) obj {
	o := obj{
		"token": "sim", "team_id": s.team.ID, "team_domain": s.team.Domain, "channel_id": c.ID,
		"channel_name": s.channelName(c), "user_id": u.ID, "user_name": u.Name, "command": name, "text": text,
		"api_app_id":   s.app.ID,
		"response_url": inv.ResponseURL, "trigger_id": inv.TriggerID,
	}
	switch s.opts.CommandInstallForm {
	case "":
		o["is_enterprise_install"] = strconv.FormatBool(s.opts.OrgInstall)
	case "bool":
		o["is_enterprise_install"] = s.opts.OrgInstall
	case "null":
		o["is_enterprise_install"] = nil
	}
	if s.team.EnterpriseID != "" {
		o["enterprise_id"], o["enterprise_name"] = s.team.EnterpriseID, s.team.Name
	}
	return o
}

// channelName is what payloads call a channel.
func (s *Sim) channelName(c *channel) string {
	switch {
	case c.IM:
		return "directmessage"
	case c.Private:
		return "privategroup"
	}
	return c.Name
}

// invoke delivers what a person did and fills in how it was answered.
func (s *Sim) invoke(ctx context.Context, inv *Invocation, p parcel) error {
	e, err := s.deliver(ctx, p)
	inv.EnvelopeID, inv.AckLatency, inv.Answer = e.ID, e.Latency, e.Answer
	if err != nil {
		return fmt.Errorf("%s: %w", strings.TrimSpace(p.what), err)
	}
	return nil
}

// commandAnswer shows the message that an acknowledgement carries, and the
// typed command when the answer is for the whole channel.
func (s *Sim) commandAnswer(inv *Invocation, u *User, c *channel, typed string) error {
	if len(inv.Answer) == 0 || string(inv.Answer) == "null" || string(inv.Answer) == "{}" {
		return nil
	}
	var body hookBody
	if err := json.Unmarshal(inv.Answer, &body); err != nil {
		return fmt.Errorf("read the answer to %s: %w", typed, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.bump()
	blocks, f := s.blocks(string(body.Blocks), blockkit.Message)
	if f != nil {
		s.find(RuleAckPayload, "the answer to %s: %s %v", typed, f.code, f.more["errors"])
		return fmt.Errorf("answer to %s: %s", typed, f.code)
	}
	what := content{text: body.Text, blocks: blocks}
	if what.empty() {
		return nil
	}
	s.watchHook(c, body.ResponseType, what)
	inv.Text = what.text
	if body.ResponseType != "in_channel" {
		m := s.ephemeral(c, u.ID, "", what).Message
		inv.Message = &m
		return nil
	}
	c.add(Message{TS: s.ts(), Channel: c.ID, User: u.ID, Text: typed})
	m := c.add(Message{
		TS: s.ts(), Channel: c.ID, User: s.app.UserID, BotID: s.app.BotID, Text: what.text, Blocks: what.blocks,
	}).Message
	inv.Message = &m
	return nil
}
