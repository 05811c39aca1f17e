package state

import (
	"errors"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
)

// filingKey names the record of a reconciliation on one ticket.
type filingKey string

// Filing is how the record of a reconciliation stands on one ticket. It
// outlives the reconciliation: a ticket system may be away for longer.
type Filing struct {
	Reconciliation ReconciliationID `json:"reconciliation"`
	// System is the ticket system's name in the config, Ticket the address.
	System string `json:"system"`
	Ticket string `json:"ticket"`

	// Rev is the reconciliation's revision that stands there; 0 for none.
	Rev uint64 `json:"rev,omitempty"`
	// Comment, URL and Sum are what the system said of the comment: its id,
	// where people find it, and the sum of what it says.
	Comment string `json:"comment,omitempty"`
	URL     string `json:"url,omitempty"`
	Sum     string `json:"sum,omitempty"`
	Final   bool   `json:"final,omitempty"`
	// Closed tells that the ticket is closed.
	Closed bool      `json:"closed,omitempty"`
	Filed  time.Time `json:"filed,omitzero"`

	// Trouble is what keeps the record away, for people; empty while nothing
	// does. Why is its kind, and Since when it began.
	Trouble string    `json:"trouble,omitempty"`
	Why     string    `json:"why,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	// Told is the kind of trouble that people were told of.
	Told string `json:"told,omitempty"`
	// Tried is when it was last tried in vain, Next when it is tried again.
	Tried time.Time `json:"tried,omitzero"`
	Next  time.Time `json:"next,omitzero"`
}

func (f Filing) key() filingKey {
	return filingKey(string(f.Reconciliation) + "/" + f.System + "/" + f.Ticket)
}

// Unfiled lists the reconciliations whose tickets may show an older revision.
func (db *DB) Unfiled() (list []ReconciliationID, err error) {
	err = db.view(func(tx *bolt.Tx) error {
		return unfiled.each(tx, "", func(id ReconciliationID, _ uint64) bool {
			list = append(list, id)
			return true
		})
	})
	return list, err
}

// Filings lists how a reconciliation's record stands on its tickets.
func (db *DB) Filings(id ReconciliationID) (list []Filing, err error) {
	err = db.view(func(tx *bolt.Tx) error {
		return filings.each(tx, string(id)+"/", func(_ filingKey, f Filing) bool {
			list = append(list, f)
			return true
		})
	})
	return list, err
}

// SaveFiling stores how a record stands on a ticket, with what is to be said
// about it in the reconciliation's thread.
func (db *DB) SaveFiling(f Filing, said ...Said) error {
	return db.update(func(tx *bolt.Tx, now time.Time) error {
		r, err := reconciliations.get(tx, f.Reconciliation)
		if err != nil {
			return err
		}
		for _, s := range said {
			if err := s.write(tx, r, now); err != nil {
				return err
			}
		}
		return filings.put(tx, f.key(), f)
	})
}

// Filed notes that all tickets show a revision. They stay due when the
// reconciliation has moved on in the meantime.
func (db *DB) Filed(id ReconciliationID, rev uint64) error {
	return db.update(func(tx *bolt.Tx, _ time.Time) error {
		due, err := unfiled.get(tx, id)
		if errors.Is(err, ErrNotFound) || err == nil && due > rev {
			return nil
		}
		if err != nil {
			return err
		}
		return unfiled.delete(tx, id)
	})
}

// ToFile gets a value when a record may be due on a ticket: a hint to look at
// Unfiled, never the only one.
func (db *DB) ToFile() <-chan struct{} { return db.toFile }

// toFile makes a record due, if its incident has a ticket.
func toFile(tx *bolt.Tx, r Reconciliation) error {
	in, err := incidents.get(tx, r.Incident)
	if errors.Is(err, ErrNotFound) || err == nil && in.Ticket == "" {
		return nil
	}
	if err != nil {
		return err
	}
	return unfiled.put(tx, r.ID, r.Rev)
}

// refile makes all records of an incident due: its tickets are others now.
func refile(tx *bolt.Tx, id IncidentID) error {
	due := map[ReconciliationID]uint64{}
	err := reconciliations.each(tx, "", func(key ReconciliationID, r Reconciliation) bool {
		if r.Incident == id {
			due[key] = r.Rev
		}
		return true
	})
	if err != nil {
		return err
	}
	for key, rev := range due {
		if err := unfiled.put(tx, key, rev); err != nil {
			return err
		}
	}
	return nil
}

// Tickets lists the addresses of the incident's tickets.
func (in Incident) Tickets() []string {
	if in.Ticket == "" {
		return nil
	}
	return append([]string{in.Ticket}, in.Also...)
}

func (in Incident) sameTickets(o Incident) bool {
	return strings.Join(in.Tickets(), " ") == strings.Join(o.Tickets(), " ")
}
