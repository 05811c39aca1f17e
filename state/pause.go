package state

import "time"

// Pause is a lease on a target's not being reconciled, as people asked for
// it. What it replaced is among the steps' results.
type Pause struct {
	By     Person    `json:"by"`
	Reason string    `json:"reason"`
	From   time.Time `json:"from"`
	// Until is when it ends; extending moves it.
	Until    time.Time   `json:"until"`
	Extended []Extension `json:"extended,omitempty"`
	// Parents are the targets above that may be paused, too, because whoever
	// asked may decide about them.
	Parents []string `json:"parents,omitempty"`
	// Resume is who asked for the end of it, and why; nil while nobody did.
	Resume *Decision `json:"resume,omitempty"`
}

// Extension is one moving of a pause's end.
type Extension struct {
	By     Person    `json:"by"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"`
	Until  time.Time `json:"until"`
	// Delivery is the act that asked, so that the same act extends once.
	Delivery DeliveryID `json:"delivery,omitempty"`
}

// PauseLease is the lease of a target's pause. It is not the target's own, so
// that what a pause is made for, an adoption or a revert, goes on meanwhile.
func PauseLease(target string) string { return "pause of " + target }

func (r Reconciliation) lease() string {
	if r.Lease != "" {
		return r.Lease
	}
	return r.Target
}
