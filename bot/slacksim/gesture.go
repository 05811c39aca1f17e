package slacksim

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Smart is what phones and desktops make of typed text: typographic quotes and
// dashes. A person who types a command through it is one on such a device.
func Smart(text string) string {
	var b strings.Builder
	before := ' '
	for _, r := range strings.ReplaceAll(text, "--", "—") {
		opens := before == ' ' || before == '('
		switch {
		case r == '"' && opens:
			r = '“'
		case r == '"':
			r = '”'
		case r == '\'' && opens:
			r = '‘'
		case r == '\'':
			r = '’'
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

// DoubleClick presses a button twice within 50 ms, as impatient people do: two
// payloads that differ only in their ids and times.
func (p *Place) DoubleClick(ctx context.Context, messageTS, element string) (first, second *Invocation, err error) {
	type result struct {
		inv *Invocation
		err error
	}
	done := make(chan result, 1)
	go func() {
		inv, err := p.Act(ctx, messageTS, element, "")
		done <- result{inv, err}
	}()
	pause(ctx.Done(), 50*time.Millisecond)
	second, err = p.Act(ctx, messageTS, element, "")
	one := <-done
	if one.err != nil {
		err = one.err
	}
	return one.inv, second, err
}

// React puts an emoji under a message.
// https://docs.slack.dev/reference/events/reaction_added
func (p *Place) React(messageTS, emoji string) error {
	return p.reaction(messageTS, emoji, "reaction_added")
}

// Unreact takes it away again.
func (p *Place) Unreact(messageTS, emoji string) error {
	return p.reaction(messageTS, emoji, "reaction_removed")
}

func (p *Place) reaction(ts, emoji, event string) error {
	s := p.sim
	s.mu.Lock()
	defer s.mu.Unlock()
	u, c, err := p.where()
	if err != nil {
		return err
	}
	m := c.find(ts)
	if m == nil {
		return fmt.Errorf("react in #%s: there is no message %s", c.Name, ts)
	}
	f := m.react(emoji, u.ID)
	if event == "reaction_removed" {
		f = m.unreact(emoji, u.ID)
	}
	if f != nil {
		return fmt.Errorf("react in #%s: %s", c.Name, f.code)
	}
	if c.has(s.app.UserID) {
		s.emit(event, c.ID, obj{
			"user": u.ID, "reaction": emoji, "item_user": m.User, "item": obj{"type": "message", "channel": c.ID, "ts": ts},
		})
	}
	s.bump()
	return nil
}

// OpenHome opens the app's home tab and returns the view that the app has
// published there, if any. https://docs.slack.dev/reference/events/app_home_opened
func (a *Actor) OpenHome() (*View, error) {
	s := a.sim
	s.mu.Lock()
	defer s.mu.Unlock()
	u, err := a.who()
	if err != nil {
		return nil, err
	}
	if !s.manifest.home() {
		return nil, fmt.Errorf("open the home tab: the app's manifest does not enable it")
	}
	event := obj{"user": u.ID, "channel": s.direct(u.ID).ID, "tab": "home"}
	home := s.homes[u.ID]
	if home != nil {
		event["view"] = s.wireView(home, obj{})
	}
	s.emit("app_home_opened", "", event)
	s.bump()
	if home == nil {
		return nil, nil
	}
	v := *home
	return &v, nil
}
