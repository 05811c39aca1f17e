package soak

import (
	"sync"

	"reconcilebot/state"
)

// kind is what somebody did.
type kind string

const (
	// ask is a question whose answer names the question's mark.
	ask kind = "question"
	// board asks for what is answered to the whole channel.
	board kind = "question to all"
	// look asks what differs in a target that nobody looked at before.
	look kind = "look at a target"
	// click wants a form or a vote; submit is a form; vote an approval.
	click    kind = "click for a form"
	submit   kind = "form"
	vote     kind = "approval"
	shortcut kind = "shortcut"
)

// deed is one act of a person, and what came of it as they could see.
type deed struct {
	kind            kind
	person, channel int
	// mark is in the answer and nowhere else.
	mark   string
	target string
	run    state.ReconciliationID
	// ts names a mention; the others were acknowledged or not at once.
	ts    string
	acked bool
	// refused means that the acknowledgement itself said to try again.
	refused bool
	// trigger names a click.
	trigger string
	// form means that the form came that the click was for.
	form bool
}

// diary is what everybody did. It is safe for concurrent use.
type diary struct {
	mu    sync.Mutex
	deeds []*deed
}

func (d *diary) add(one *deed) *deed {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.deeds = append(d.deeds, one)
	return one
}

// note changes a deed.
func (d *diary) note(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}
