package state

import (
	"errors"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"
)

type (
	// IncidentID is the incident's name in the company's own system, such as
	// INC-1234.
	IncidentID string
	// Room is where an incident is talked about. Its form is the business of
	// whoever talks.
	Room string
)

// Person is somebody as they were known when they acted: the record must not
// change when a name does.
type Person struct {
	// ID is the identity that was checked, where they talk.
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	GitHub     string   `json:"github,omitempty"`
	Kubernetes []string `json:"kubernetes,omitempty"`
}

// Is tells whether two are the same person, by any of the names that the
// people map ties together. Nobody is the same as an empty Person.
func (p Person) Is(q Person) bool {
	if p.ID != "" && p.ID == q.ID || p.GitHub != "" && p.GitHub == q.GitHub {
		return true
	}
	for _, name := range q.Kubernetes {
		if p.Writes(name) {
			return true
		}
	}
	return false
}

// Writes tells whether the API server knows the person by that user name.
func (p Person) Writes(kubernetesUser string) bool {
	for _, name := range p.Kubernetes {
		if name != "" && name == kubernetesUser {
			return true
		}
	}
	return false
}

// Incident is an incident and the room that it is bound to.
type Incident struct {
	ID    IncidentID `json:"id"`
	Room  Room       `json:"room"`
	Title string     `json:"title,omitempty"`
	// Ticket is the address of its ticket, Also those of further ones.
	Ticket    string    `json:"ticket,omitempty"`
	Also      []string  `json:"alsoTickets,omitempty"`
	Commander Person    `json:"commander"`
	Opened    time.Time `json:"opened"`
	Closed    time.Time `json:"closed,omitzero"`
	ClosedBy  Person    `json:"closedBy,omitzero"`
}

// OpenIncident binds a room to an incident. Doing it again with other tickets
// changes the tickets, and the records follow. A room that another open
// incident holds, or an incident that is open in another room, is ErrChanged
// with the reason.
func (db *DB) OpenIncident(in Incident) (stored Incident, err error) {
	err = db.update(func(tx *bolt.Tx, now time.Time) error {
		if held, err := rooms.get(tx, in.Room); err == nil && held != in.ID {
			return fmt.Errorf("this channel is bound to %s: %w", held, ErrChanged)
		}
		before, err := incidents.get(tx, in.ID)
		switch {
		case err != nil && !errors.Is(err, ErrNotFound):
			return err
		case err == nil && before.Closed.IsZero():
			if before.Room != in.Room {
				return fmt.Errorf("%s is open in another channel: %w", in.ID, ErrChanged)
			}
			stored = before
			if in.Ticket != "" {
				stored.Ticket, stored.Also = in.Ticket, in.Also
			}
		default:
			stored = in
			stored.Opened = now
		}
		if err == nil && !before.sameTickets(stored) {
			if err := refile(tx, in.ID); err != nil {
				return err
			}
		}
		if err := rooms.put(tx, in.Room, in.ID); err != nil {
			return err
		}
		if err := note(tx, Entry{At: now, Incident: in.ID, Kind: "incident-opened", By: in.Commander, Data: encode(stored)}); err != nil {
			return err
		}
		return incidents.put(tx, in.ID, stored)
	})
	return stored, err
}

// CloseIncident ends an incident and frees its room.
func (db *DB) CloseIncident(id IncidentID, by Person) (in Incident, err error) {
	err = db.update(func(tx *bolt.Tx, now time.Time) error {
		var err error
		if in, err = incidents.get(tx, id); err != nil {
			return err
		}
		if !in.Closed.IsZero() {
			return nil
		}
		in.Closed, in.ClosedBy = now, by
		if err := rooms.delete(tx, in.Room); err != nil {
			return err
		}
		if err := note(tx, Entry{At: now, Incident: id, Kind: "incident-closed", By: by}); err != nil {
			return err
		}
		return incidents.put(tx, id, in)
	})
	return in, err
}

// Incident finds an incident, open or closed.
func (db *DB) Incident(id IncidentID) (in Incident, err error) {
	err = db.view(func(tx *bolt.Tx) error {
		in, err = incidents.get(tx, id)
		return err
	})
	return in, err
}

// OpenIncidents lists the incidents that have not ended, oldest first.
func (db *DB) OpenIncidents() (list []Incident, err error) {
	err = db.view(func(tx *bolt.Tx) error {
		return incidents.each(tx, "", func(_ IncidentID, in Incident) bool {
			if in.Closed.IsZero() {
				list = append(list, in)
			}
			return true
		})
	})
	sortBy(list, func(in Incident) time.Time { return in.Opened })
	return list, err
}

// IncidentIn finds the open incident of a room.
func (db *DB) IncidentIn(room Room) (in Incident, err error) {
	err = db.view(func(tx *bolt.Tx) error {
		id, err := rooms.get(tx, room)
		if err != nil {
			return err
		}
		in, err = incidents.get(tx, id)
		return err
	})
	return in, err
}
