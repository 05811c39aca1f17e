package slacksim

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Click presses the button, or opens what else has that action id, of a
// message that the person can see.
func (p *Place) Click(ctx context.Context, messageTS, actionID string) (*Invocation, error) {
	return p.Act(ctx, messageTS, actionID, "")
}

// ClickButton presses a button by its text.
func (p *Place) ClickButton(ctx context.Context, messageTS, text string) (*Invocation, error) {
	return p.Act(ctx, messageTS, text, "")
}

// Act uses an interactive element of a message, found by action id or, for
// buttons, by text. Choice is an option's value or text, where one is chosen.
func (p *Place) Act(ctx context.Context, messageTS, element, choice string) (*Invocation, error) {
	return p.act(ctx, messageTS, element, choice, 0)
}

// ActOnVersion uses an element of an earlier version of a message, as a client
// does that has not yet seen the edit. Versions count from 1.
func (p *Place) ActOnVersion(ctx context.Context, messageTS string, version int, element string) (*Invocation, error) {
	return p.act(ctx, messageTS, element, "", version)
}

func (p *Place) act(ctx context.Context, ts, wanted, choice string, version int) (*Invocation, error) {
	s := p.sim
	s.mu.Lock()
	u, c, err := p.where()
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	m, err := c.shown(ts, u, version)
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	e, err := pick(placedElements(m.everyBlock()), wanted)
	if err != nil {
		s.mu.Unlock()
		return nil, fmt.Errorf("message %s in #%s: %w", ts, c.Name, err)
	}
	e = s.withOffers(u.ID, e)
	if !s.manifest.interactive() {
		s.mu.Unlock()
		return nil, fmt.Errorf("press %s: interactivity is off in the app's manifest", wanted)
	}
	action, err := s.action(e, choice)
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	inv := &Invocation{TriggerID: s.trigger(u.ID, "")}
	inv.ResponseURL = s.hook("actions", hook{user: u.ID, channel: c.ID, source: m.TS, ephemeral: m.Ephemeral})
	payload := s.actionPayload(u, inv.TriggerID, action)
	s.remember(u.ID, m.TS, e, action)
	s.addMessageContext(payload, messageContext{c, m, e.attachment, u.ID, inv.ResponseURL})
	s.mu.Unlock()
	return inv, s.invoke(ctx, inv, parcel{
		kind: kindInteractive, what: str(action["action_id"]), user: u.ID, channel: c.ID, payload: payload,
	})
}

// shown is the message as the person sees it.
func (c *channel) shown(ts string, u *User, version int) (Message, error) {
	m := c.any(ts)
	switch {
	case m == nil || m.Ephemeral && m.To != u.ID:
		return Message{}, fmt.Errorf("there is no message %s in #%s for %s", ts, c.Name, u.Name)
	case version > 0 && version <= len(m.old):
		return m.old[version-1], nil
	case version > m.Versions:
		return Message{}, fmt.Errorf("message %s in #%s has %d versions, not %d", ts, c.Name, m.Versions, version)
	}
	return m.Message, nil
}

// pick finds an element by action id or a button by its text.
func pick(elements []element, wanted string) (element, error) {
	var have []string
	for _, e := range elements {
		text := textOf(e.body["text"])
		if str(e.body["action_id"]) == wanted || e.body["type"] == "button" && text == wanted {
			return e, nil
		}
		if e.body["type"] == "button" {
			have = append(have, fmt.Sprintf("%q (%s)", text, str(e.body["action_id"])))
		}
	}
	if len(have) == 0 {
		return element{}, fmt.Errorf("there is nothing to press, so not %q", wanted)
	}
	return element{}, fmt.Errorf("there is no %q to press; there are %s", wanted, strings.Join(have, ", "))
}

// action is one entry of a payload's actions.
func (s *Sim) action(e element, choice string) (obj, error) {
	a := obj{
		"type": e.body["type"], "action_id": e.body["action_id"], "block_id": e.block,
		"action_ts": s.stamp(),
	}
	switch kind := str(e.body["type"]); kind {
	case "button":
		a["text"] = e.body["text"]
		for _, k := range []string{"value", "style", "url", "confirm"} {
			if e.body[k] != nil {
				a[k] = e.body[k]
			}
		}
	default:
		value, err := valueOf(e.body, choice)
		if err != nil {
			return nil, err
		}
		for k, v := range value {
			a[k] = v
		}
	}
	return a, nil
}

func (s *Sim) actionPayload(u *User, trigger string, action obj) obj {
	return obj{
		"type": "block_actions", "user": wireActor(u), "api_app_id": s.app.ID, "token": "sim",
		"trigger_id": trigger, "team": s.installedTeam(),
		"enterprise": s.enterprise(), "is_enterprise_install": s.opts.OrgInstall,
		"actions": []obj{action},
	}
}

// installedTeam is the workspace that the app is installed in: null when an
// organisation installed it.
func (s *Sim) installedTeam() any {
	if s.opts.OrgInstall {
		return nil
	}
	return obj{"id": s.team.ID, "domain": s.team.Domain}
}

// enterprise is the organisation that the workspace belongs to, or null.
func (s *Sim) enterprise() any {
	if s.team.EnterpriseID == "" {
		return nil
	}
	return obj{"id": s.team.EnterpriseID, "name": s.team.Name}
}

func wireActor(u *User) obj {
	return obj{"id": u.ID, "username": u.Name, "name": u.Name, "team_id": u.TeamID}
}

// messageContext is where in a message something was done.
type messageContext struct {
	room        *channel
	message     Message
	attachment  int // 0 is the message itself
	user        string
	responseURL string
}

// addMessageContext says which message was acted on. An ephemeral one is named
// but not shown to the app.
func (s *Sim) addMessageContext(payload obj, at messageContext) {
	m, c := at.message, at.room
	container := obj{"type": "message", "message_ts": m.TS, "channel_id": c.ID, "is_ephemeral": m.Ephemeral}
	if at.attachment > 0 {
		container["type"], container["attachment_id"], container["is_app_unfurl"] = "message_attachment", at.attachment, false
	}
	if m.ThreadTS != "" {
		container["thread_ts"] = m.ThreadTS
	}
	payload["container"] = container
	payload["channel"] = obj{"id": c.ID, "name": s.channelName(c)}
	payload["response_url"] = at.responseURL
	payload["state"] = obj{"values": s.messageState(at.user, m)}
	if !m.Ephemeral {
		payload["message"] = s.wireMessage(m, true)
	}
}

// ActInView uses an element of a modal that the person has open. Values are
// what stands in its inputs at that moment, named as for Submit.
func (a *Actor) ActInView(ctx context.Context, viewID, element, choice string, values map[string]string) (*Invocation, error) {
	s := a.sim
	s.mu.Lock()
	u, v, err := a.viewing(viewID)
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	e, err := pick(elements(v.Blocks), element)
	if err != nil {
		s.mu.Unlock()
		return nil, fmt.Errorf("view %s: %w", v.Title, err)
	}
	e = s.withOffers(u.ID, e)
	state, _, err := s.fill(v, values)
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	action, err := s.action(e, choice)
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	inv := &Invocation{TriggerID: s.trigger(u.ID, v.ID)}
	payload := s.actionPayload(u, inv.TriggerID, action)
	payload["container"] = obj{"type": "view", "view_id": v.ID}
	payload["view"] = s.wireView(v, state)
	s.mu.Unlock()
	return inv, s.invoke(ctx, inv, parcel{kind: kindInteractive, what: str(action["action_id"]), user: u.ID, payload: payload})
}

// viewing finds a view that the person has open; without an id the topmost.
func (a *Actor) viewing(id string) (*User, *View, error) {
	u, err := a.who()
	if err != nil {
		return nil, nil, err
	}
	stack := a.sim.modals[u.ID]
	if id == "" && len(stack) > 0 {
		return u, stack[len(stack)-1], nil
	}
	i := slices.IndexFunc(stack, func(v *View) bool { return v.ID == id })
	if i < 0 {
		return nil, nil, fmt.Errorf("%s has no view %s open", u.Name, id)
	}
	return u, stack[i], nil
}
