package slacksim

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// views are the routes that only look.
func (s *Sim) views() map[string]func(*http.Request) any {
	return map[string]func(*http.Request) any{
		"screen":   func(r *http.Request) any { return s.screen(r.FormValue("user"), r.FormValue("channel")) },
		"state":    func(*http.Request) any { return s.state() },
		"messages": func(r *http.Request) any { return nonNil(s.Messages(r.FormValue("channel"))) },
		"thread":   func(r *http.Request) any { return nonNil(s.Thread(r.FormValue("channel"), r.FormValue("ts"))) },
		"versions": func(r *http.Request) any { return nonNil(s.Versions(r.FormValue("channel"), r.FormValue("ts"))) },
		"ephemerals": func(r *http.Request) any {
			return nonNil(s.Ephemerals(r.FormValue("user"), r.FormValue("channel")))
		},
		"view":        func(r *http.Request) any { return s.View(r.FormValue("user")) },
		"files":       func(*http.Request) any { return nonNil(s.Files()) },
		"transcript":  func(*http.Request) any { return obj{"envelopes": s.Envelopes(), "calls": nonNil(s.Calls())} },
		"findings":    func(*http.Request) any { return nonNil(s.Findings()) },
		"metrics":     func(*http.Request) any { return s.Metrics() },
		"connections": func(*http.Request) any { return s.Connections() },
		"demo":        func(*http.Request) any { return nonNil(s.opts.Demo) },
		"inspect":     func(*http.Request) any { return s.inspector() },
	}
}

// nonNil keeps an empty list from becoming null.
func nonNil[T any](l []T) []T { return append([]T{}, l...) }

func (s *Sim) state() obj {
	return obj{"team": s.team, "app": s.app, "users": s.Users(), "channels": s.Channels(), "faults": s.Faults()}
}

// Files are the files that were uploaded, in order, without their contents.
func (s *Sim) Files() []File {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []File
	for _, id := range s.fileIDs {
		if f := s.files[id]; f != nil {
			out = append(out, *f)
		}
	}
	return out
}

func (s *Sim) inspector() obj {
	return obj{
		"envelopes": tail(s.Envelopes(), 60), "calls": tail(s.Calls(), 60), "findings": nonNil(s.Findings()),
		"metrics": s.Metrics(), "connections": s.Connections(), "faults": s.Faults(),
	}
}

func tail[T any](l []T, n int) []T { return nonNil(l[max(0, len(l)-n):]) }

// screen is all that one person sees with a channel open.
func (s *Sim) screen(user, channel string) obj {
	s.mu.Lock()
	defer s.mu.Unlock()
	u, open := s.user(user), s.room(channel)
	o := obj{
		"version": s.version, "team": s.team, "app": s.app, "connections": s.openSockets(),
		"commands": s.manifest.Features.Commands, "shortcuts": s.manifest.Features.Shortcuts,
		"clock": s.clockState(), "demo": len(s.opts.Demo),
		"groups": s.allGroups(), "people": s.everyone(), "messages": []Message{}, "views": []View{}, "channels": []obj{},
	}
	if u == nil {
		return o
	}
	o["channels"] = s.sidebar(u)
	if open != nil && open.sees(u.ID) {
		o["messages"] = open.screen(u.ID)
	}
	views := []View{}
	for _, v := range s.modals[u.ID] {
		views = append(views, *v)
	}
	o["views"] = views
	return o
}

// clockState is the time in the workspace, and what a person can do about it.
func (s *Sim) clockState() obj {
	o := obj{"now": s.clock.Now().UnixMilli()}
	if _, ok := s.clock.(interface{ Advance(time.Duration) }); ok {
		o["moves"] = true
	}
	if c, ok := s.clock.(*ScaledClock); ok {
		o["speed"] = c.Speed()
	}
	return o
}

func (s *Sim) allGroups() []Group {
	out := []Group{}
	for _, g := range s.groups {
		out = append(out, *g)
	}
	return out
}

func (s *Sim) openSockets() int {
	n := 0
	for _, c := range s.sockets {
		if c.ready && !c.silent && !c.mute {
			n++
		}
	}
	return n
}

func (s *Sim) everyone() []User {
	out := []User{}
	for _, id := range s.people {
		out = append(out, *s.users[id])
	}
	return out
}

// sidebar lists the channels a person sees, each with the ts of its last
// message, by which the page marks it unread.
func (s *Sim) sidebar(u *User) []obj {
	rooms := []obj{}
	for _, id := range s.rooms {
		c := s.channels[id]
		if !c.sees(u.ID) {
			continue
		}
		rooms = append(rooms, obj{"channel": c.Channel, "last": c.last(u.ID), "member": c.has(u.ID), "app": c.has(s.app.UserID)})
	}
	return rooms
}

// last is the ts of the newest message that a person sees in the channel.
func (c *channel) last(user string) string {
	ts := ""
	for _, m := range c.messages {
		ts = max(ts, m.TS)
	}
	for _, m := range c.ephemeral {
		if m.To == user {
			ts = max(ts, m.TS)
		}
	}
	return ts
}

// screen is a channel's messages, threads and ephemeral ones included.
func (c *channel) screen(user string) []Message {
	out := []Message{}
	for _, m := range c.messages {
		out = append(out, m.Message)
	}
	for _, m := range c.ephemeral {
		if m.To == user {
			out = append(out, m.Message)
		}
	}
	return out
}

// stream tells the page that something changed, by server-sent events. Changes
// that come close together are told once.
func (s *Sim) stream(w http.ResponseWriter, r *http.Request) {
	flush := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	for {
		s.mu.Lock()
		version, changed := s.version, s.changed
		s.mu.Unlock()
		if _, err := fmt.Fprintf(w, "data: %d\n\n", version); err != nil || flush.Flush() != nil {
			return
		}
		select {
		case <-changed:
			pause(r.Context().Done(), 20*time.Millisecond)
		case <-s.quit:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// waitFor holds a request until a condition is true, so that tests outside the
// process need no sleeps:
//
//	what=message|thread|ephemeral|view|no-view|sockets|finding
//	channel, user, ts, contains, count, timeout (10s)
func (s *Sim) waitFor(w http.ResponseWriter, r *http.Request) {
	timeout, err := time.ParseDuration(r.FormValue("timeout"))
	if err != nil {
		timeout = 10 * time.Second
	}
	cond, err := s.condition(r)
	if err != nil {
		writeJSON(w, http.StatusBadRequest, obj{"ok": false, "error": err.Error()})
		return
	}
	ctx, stop := context.WithTimeout(r.Context(), timeout)
	defer stop()
	var found any
	err = s.Wait(ctx, r.URL.RawQuery, func() bool {
		var ok bool
		found, ok = cond()
		return ok
	})
	answerOrder(w, found, err)
}

func (s *Sim) condition(r *http.Request) (func() (any, bool), error) {
	channel, user, text := r.FormValue("channel"), r.FormValue("user"), r.FormValue("contains")
	count, err := strconv.Atoi(r.FormValue("count"))
	if err != nil {
		count = 1
	}
	switch what := r.FormValue("what"); what {
	case "message":
		return func() (any, bool) { return last(s.Messages(channel), text, count) }, nil
	case "thread":
		return func() (any, bool) { return last(s.Thread(channel, r.FormValue("ts")), text, count) }, nil
	case "ephemeral":
		return func() (any, bool) { return last(s.Ephemerals(user, channel), text, count) }, nil
	case "view":
		return func() (any, bool) {
			v := s.View(user)
			return v, v != nil && strings.Contains(v.PlainText(), text)
		}, nil
	case "no-view":
		return func() (any, bool) { return nil, s.View(user) == nil }, nil
	case "sockets":
		return func() (any, bool) { n := len(s.Connections()); return n, n >= count }, nil
	case "finding":
		return func() (any, bool) { f := s.Findings(); return f, len(f) >= count }, nil
	default:
		return nil, fmt.Errorf("wait for %q: want message, thread, ephemeral, view, no-view, sockets or finding", what)
	}
}

// last finds the newest of at least count messages that contain the text.
func last(messages []Message, text string, count int) (any, bool) {
	var found []Message
	for _, m := range messages {
		if strings.Contains(m.Text, text) || strings.Contains(m.PlainText(), text) {
			found = append(found, m)
		}
	}
	if len(found) < count {
		return nil, false
	}
	return found[len(found)-1], true
}
