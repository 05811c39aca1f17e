package slacksim

import (
	"context"
	"fmt"
	"slices"
)

// known tells whether the manifest has such a shortcut.
func (m *manifest) shortcut(kind, callbackID string) error {
	if m.open || slices.ContainsFunc(m.Features.Shortcuts, func(s shortcut) bool { return s.Type == kind && s.CallbackID == callbackID }) {
		return nil
	}
	return fmt.Errorf("the app's manifest has no %s shortcut %s", kind, callbackID)
}

// MessageShortcut uses a message shortcut on a message.
func (p *Place) MessageShortcut(ctx context.Context, messageTS, callbackID string) (*Invocation, error) {
	s := p.sim
	s.mu.Lock()
	u, c, err := p.where()
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	m, err := c.shown(messageTS, u, 0)
	if err == nil {
		err = s.mayShortcut(u, "message", callbackID)
	}
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	inv := &Invocation{TriggerID: s.trigger(u.ID, "")}
	inv.ResponseURL = s.hook("app", hook{user: u.ID, channel: c.ID, source: m.TS})
	payload := obj{
		"type": "message_action", "token": "sim", "action_ts": s.stamp(),
		"team": s.installedTeam(), "user": wireActor(u), "is_enterprise_install": s.opts.OrgInstall,
		"enterprise": s.enterprise(), "channel": obj{"id": c.ID, "name": s.channelName(c)},
		"callback_id": callbackID, "trigger_id": inv.TriggerID, "response_url": inv.ResponseURL,
		"message_ts": m.TS, "message": s.wireMessage(m, true),
	}
	s.mu.Unlock()
	return inv, s.invoke(ctx, inv, parcel{kind: kindInteractive, what: callbackID, user: u.ID, channel: c.ID, payload: payload})
}

// GlobalShortcut uses a global shortcut, which belongs to no channel. It has a
// trigger and no response URL.
// https://docs.slack.dev/reference/interaction-payloads/shortcuts-interaction-payload
func (a *Actor) GlobalShortcut(ctx context.Context, callbackID string) (*Invocation, error) {
	s := a.sim
	s.mu.Lock()
	u, err := a.who()
	if err == nil {
		err = s.mayShortcut(u, "global", callbackID)
	}
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	inv := &Invocation{TriggerID: s.trigger(u.ID, "")}
	payload := obj{
		"type": "shortcut", "token": "sim", "action_ts": s.stamp(), "team": s.installedTeam(),
		"user":                  obj{"id": u.ID, "username": u.Name, "team_id": u.TeamID},
		"is_enterprise_install": s.opts.OrgInstall, "enterprise": s.enterprise(),
		"callback_id": callbackID, "trigger_id": inv.TriggerID,
	}
	s.mu.Unlock()
	return inv, s.invoke(ctx, inv, parcel{kind: kindInteractive, what: callbackID, user: u.ID, payload: payload})
}

// mayShortcut refuses shortcuts that Slack does not offer. People of other
// workspaces have none, https://docs.slack.dev/apis/slack-connect.
func (s *Sim) mayShortcut(u *User, kind, callbackID string) error {
	switch {
	case !s.manifest.interactive():
		return fmt.Errorf("use the shortcut %s: interactivity is off in the app's manifest", callbackID)
	case u.TeamID != s.team.ID || u.Stranger:
		return fmt.Errorf("use the shortcut %s: %s belongs to another workspace", callbackID, u.Name)
	}
	return s.manifest.shortcut(kind, callbackID)
}
