package lookout

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"reconcilebot/runbook"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/drift"
	"reconcilebot/state"
)

var noon = time.Date(2026, 3, 14, 14, 2, 0, 0, time.UTC)

// world is a cluster with some targets, of which the lookout speaks into one
// channel.
type world struct {
	t       *testing.T
	db      *state.DB
	now     time.Time
	targets []drift.TargetInfo
	found   drift.Drift
	looks   int
	again   int
	mu      sync.Mutex
	*Lookout
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, now: noon}
	w.targets = []drift.TargetInfo{{Target: target("web"), Sync: "OutOfSync"}}
	w.found = drift.Drift{Digest: "d1", Changes: []drift.Change{{UID: "u"}}}
	w.reopen(filepath.Join(t.TempDir(), "state.db"))
	return w
}

// reopen starts over with what is on disk, as after a restart.
func (w *world) reopen(path string) {
	w.t.Helper()
	db, err := state.Open(path, func() time.Time { return w.now })
	if err != nil {
		w.t.Fatal(err)
	}
	w.db = db
	w.t.Cleanup(func() { _ = db.Close() })
	if _, err := db.OpenIncident(state.Incident{ID: "INC-1", Room: "C1"}); err != nil {
		w.t.Fatal(err)
	}
	w.Lookout = New(Config{
		DB: db, Engine: w, Sites: map[string]site{"eu": w}, Now: func() time.Time { return w.now },
		Channel: func(t drift.Target) state.Room {
			if t.Name == "elsewhere" {
				return ""
			}
			return "C1"
		},
		Look: func(context.Context, string) (book.Seen, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.looks++
			return book.Seen{Drift: w.found}, nil
		},
	})
}

func target(name string) drift.Target {
	return drift.Target{Cluster: "eu", Kind: drift.Application, Namespace: "argocd", Name: name}
}

func (w *world) Owners(_ context.Context, write cluster.Write) ([]drift.Target, error) {
	if write.Object.Name == "" {
		return nil, nil
	}
	return []drift.Target{target(write.Object.Name)}, nil
}

func (w *world) Targets(context.Context) ([]drift.TargetInfo, error) { return w.targets, nil }

func (w *world) Open(o runbook.Opening) (state.Reconciliation, bool, error) {
	var seen book.Seen
	if err := json.Unmarshal(o.Found, &seen); err != nil || len(seen.Drift.Changes) == 0 {
		w.t.Errorf("opened with %s (%v)", o.Found, err)
	}
	return w.db.Open(state.Reconciliation{ID: o.ID, Incident: o.Incident, Room: o.Room, Target: o.Target, OpenedBy: o.By, Book: "survey", BookVersion: 1})
}

func (w *world) Again(state.ReconciliationID, state.Person) (state.Reconciliation, error) {
	w.again++
	return state.Reconciliation{}, nil
}

// hears lets the lookout hear of writes to targets' objects.
func (w *world) hears(ids ...string) {
	for _, id := range ids {
		w.Hear([]cluster.Write{write("alice@example.com", id, "web")})
	}
	w.hearing(w.t.Context())
}

func write(user, id, name string) cluster.Write {
	return cluster.Write{AuditID: id, User: user, Verb: "patch", UserAgent: "kubectl/v1.34.4", Object: cluster.WrittenObject{APIGroup: "apps", Resource: "deployments", Namespace: "web", Name: name}, At: noon}
}

func (w *world) cards() (rooms []string) {
	w.t.Helper()
	all, err := w.db.OfIncident("INC-1")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range all {
		rooms = append(rooms, fmt.Sprintf("%s in %s by %s", r.Target, r.Room, r.OpenedBy.Name))
	}
	return rooms
}

// closes ends all that is open, as "Not now" does.
func (w *world) closes() {
	w.t.Helper()
	all, err := w.db.Unclosed()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range all {
		if _, err := w.db.Change(r.ID, func(r *state.Reconciliation, now time.Time) ([]state.Said, error) {
			r.Outcome, r.Closed = "left", now
			return nil, nil
		}); err != nil {
			w.t.Fatal(err)
		}
	}
}

func TestSpeaks(t *testing.T) {
	const card = "eu/argocd/web in C1 by reconcilebot"
	for name, test := range map[string]struct {
		do    func(*world)
		cards []string
		again int
	}{
		"of a change by hand": {do: func(w *world) { w.hears("a") }, cards: []string{card}},
		"once of an event that is told twice": {
			do:    func(w *world) { w.hears("a"); w.closes(); w.hears("a") },
			cards: []string{card},
		},
		"again of the next change": {
			do:    func(w *world) { w.hears("a"); w.closes(); w.hears("b") },
			cards: []string{card, card},
		},
		"on the same card while there is one": {
			do:    func(w *world) { w.hears("a"); w.hears("b") },
			cards: []string{card}, again: 1,
		},
		"not where nothing differs":   {do: func(w *world) { w.found.Changes = nil; w.hears("a") }},
		"not where nothing is judged": {do: func(w *world) { w.found.Refused = "no comparison"; w.hears("a") }},
		"not of a controller": {do: func(w *world) {
			w.Hear([]cluster.Write{write("system:serviceaccount:x:y", "a", "web")})
			w.hearing(w.t.Context())
		}},
		"not where no channel is set": {do: func(w *world) {
			w.Hear([]cluster.Write{write("alice@example.com", "a", "elsewhere")})
			w.hearing(w.t.Context())
		}},
		"not where no incident is open": {do: func(w *world) {
			if _, err := w.db.CloseIncident("INC-1", state.Person{}); err != nil {
				w.t.Fatal(err)
			}
			w.hears("a")
		}},
		"not of what somebody paused": {do: func(w *world) {
			lease := state.PauseLease("eu/argocd/web")
			if _, _, err := w.db.Open(state.Reconciliation{ID: "p", Incident: "INC-2", Target: "eu/argocd/web", Lease: lease, Pause: &state.Pause{}}); err != nil {
				w.t.Fatal(err)
			}
			w.hears("a")
		}},
		"of what has been out of sync for too long": {
			do: func(w *world) {
				w.watch(w.t.Context())
				w.now = w.now.Add(16 * time.Minute)
				w.watch(w.t.Context())
			},
			cards: []string{card},
		},
		"not of what was out of sync for a moment": {do: func(w *world) {
			w.watch(w.t.Context())
			w.targets[0].Sync = "Synced"
			w.now = w.now.Add(16 * time.Minute)
			w.watch(w.t.Context())
			w.targets[0].Sync = "OutOfSync"
			w.watch(w.t.Context())
		}},
		"not of the same drift when it is still there": {
			do: func(w *world) {
				w.hears("a")
				w.closes()
				w.watch(w.t.Context())
				w.now = w.now.Add(16 * time.Minute)
				w.watch(w.t.Context())
			},
			cards: []string{card},
		},
		"again a moment later of what is about to be undone": {
			do: func(w *world) {
				w.found.Changes[0].Outlook.Kind = drift.SelfHeal
				w.hears("a")
				w.due(w.t.Context())
				w.now = w.now.Add(3 * time.Second)
				w.due(w.t.Context())
			},
			cards: []string{card}, again: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.do(w)
			if got := w.cards(); !slices.Equal(got, test.cards) {
				t.Errorf("cards %q, want %q", got, test.cards)
			}
			if w.again != test.again {
				t.Errorf("looked again %d times, want %d", w.again, test.again)
			}
		})
	}
}

func TestAChannelGetsNoMoreThanItCanRead(t *testing.T) {
	w := newWorld(t)
	for i := range 2 * mostCards {
		name := fmt.Sprintf("web-%02d", i)
		w.Hear([]cluster.Write{write("alice@example.com", name, name)})
	}
	w.hearing(t.Context())
	if n := len(w.cards()); n != mostCards {
		t.Errorf("%d new cards, want %d", n, mostCards)
	}
	w.now = w.now.Add(cardsIn + time.Minute)
	w.Hear([]cluster.Write{write("alice@example.com", "later", "web-later")})
	w.hearing(t.Context())
	if n := len(w.cards()); n != mostCards+1 {
		t.Errorf("%d new cards after a while, want one more", n-mostCards)
	}
}
