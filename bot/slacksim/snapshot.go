package slacksim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// snapshot is a workspace at rest, as JSON. Sockets, triggers, logs, findings,
// faults and scheduled messages are not in it: they belong to a run.
type snapshot struct {
	Format    int                 `json:"format"`
	Seq       map[string]int      `json:"seq"`
	LastTS    int64               `json:"last_ts"`
	Issued    []string            `json:"issued"`
	Users     []User              `json:"users"`
	Channels  []savedChannel      `json:"channels"`
	Groups    []Group             `json:"groups"`
	Modals    map[string][]string `json:"modals"` // by user, ids of Views
	Homes     map[string]string   `json:"homes"`
	Views     []savedView         `json:"views"`
	Files     []savedFile         `json:"files"`
	Hooks     map[string]hookSave `json:"hooks"`
	Inactive  bool                `json:"inactive,omitempty"`
	SocketOff bool                `json:"socket_mode_off,omitempty"`
}

type savedChannel struct {
	Channel   Channel        `json:"channel"`
	Messages  []savedMessage `json:"messages"`
	Ephemeral []savedMessage `json:"ephemeral"`
	Pins      []string       `json:"pins"`
	Bookmarks []obj          `json:"bookmarks"`
}

type savedMessage struct {
	Message Message   `json:"message"`
	Old     []Message `json:"old,omitempty"`
}

type savedView struct {
	View   View `json:"view"`
	Body   obj  `json:"body"`
	Notify bool `json:"notify"`
	Clears bool `json:"clears"`
}

type savedFile struct {
	File    File     `json:"file"`
	Content []byte   `json:"content"`
	Private []string `json:"private"`
}

// snapshotFormat changes when an older snapshot can no longer be read.
const snapshotFormat = 1

// Snapshot is the workspace with all that was said in it, to be restored later
// or elsewhere.
func (s *Sim) Snapshot() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := snapshot{
		Format: snapshotFormat, Seq: s.seq, LastTS: s.lastTS, Issued: slices.Sorted(maps.Keys(s.issued)), Groups: s.allGroups(),
		Users: s.everyone(), Modals: map[string][]string{}, Homes: map[string]string{}, Hooks: map[string]hookSave{},
		Inactive: s.inactive, SocketOff: s.linkOff,
	}
	for _, id := range s.rooms {
		c := s.channels[id]
		w.Channels = append(w.Channels, savedChannel{c.Channel, save(c.messages), save(c.ephemeral), c.pins, c.bookmarks})
	}
	for user, stack := range s.modals {
		for _, v := range stack {
			w.Modals[user] = append(w.Modals[user], v.ID)
			w.Views = append(w.Views, savedView{*v, v.body, v.notify, v.clears})
		}
	}
	for user, v := range s.homes {
		w.Homes[user] = v.ID
		w.Views = append(w.Views, savedView{*v, v.body, v.notify, v.clears})
	}
	for _, id := range s.fileIDs {
		if f := s.files[id]; f != nil {
			w.Files = append(w.Files, savedFile{*f, f.Content, f.private})
		}
	}
	for path, h := range s.hooks {
		w.Hooks[path] = h.save()
	}
	raw, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("save the workspace: %w", err)
	}
	return raw, nil
}

func save(messages []*stored) []savedMessage {
	out := []savedMessage{}
	for _, m := range messages {
		out = append(out, savedMessage{m.Message, m.old})
	}
	return out
}

// Restore puts the workspace back to a snapshot. Open sockets stay open; what
// was under way is not answered.
func (s *Sim) Restore(raw []byte) error {
	var w snapshot
	if err := json.Unmarshal(raw, &w); err != nil {
		return fmt.Errorf("restore the workspace: %w", err)
	}
	if w.Format != snapshotFormat {
		return fmt.Errorf("restore the workspace: the snapshot has format %d, this program reads %d", w.Format, snapshotFormat)
	}
	s.Reset()
	s.mu.Lock()
	defer s.mu.Unlock()
	for kind, n := range w.Seq {
		s.seq[kind] = max(s.seq[kind], n) // ids never come again
	}
	s.lastTS = max(s.lastTS, w.LastTS)
	for _, ts := range w.Issued {
		s.issued[ts] = true
	}
	s.users, s.people, s.channels, s.rooms, s.groups = map[string]*User{}, nil, map[string]*channel{}, nil, nil
	for _, u := range w.Users {
		s.addUser(u)
	}
	for _, c := range w.Channels {
		room := s.addChannel(c.Channel)
		room.messages, room.ephemeral, room.pins, room.bookmarks = load(c.Messages), load(c.Ephemeral), c.Pins, c.Bookmarks
	}
	for _, g := range w.Groups {
		s.groups = append(s.groups, &g)
	}
	s.restoreViews(w)
	for _, f := range w.Files {
		file := f.File
		file.Content, file.private = f.Content, f.Private
		s.files[file.ID] = &file
		s.fileIDs = append(s.fileIDs, file.ID)
	}
	for path, h := range w.Hooks {
		s.hooks[path] = h.load()
	}
	s.inactive, s.linkOff = w.Inactive, w.SocketOff
	s.bump()
	return nil
}

func (s *Sim) restoreViews(w snapshot) {
	views := map[string]*View{}
	for _, v := range w.Views {
		view := v.View
		view.body, view.notify, view.clears = v.Body, v.Notify, v.Clears
		views[view.ID] = &view
	}
	for user, ids := range w.Modals {
		for _, id := range ids {
			s.modals[user] = append(s.modals[user], views[id])
		}
	}
	for user, id := range w.Homes {
		s.homes[user] = views[id]
	}
}

func load(messages []savedMessage) []*stored {
	var out []*stored
	for _, m := range messages {
		out = append(out, &stored{Message: m.Message, old: m.Old})
	}
	return out
}
