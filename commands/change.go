package commands

import (
	"context"
	"fmt"
	"strings"

	"reconcilebot/runbook/book"
	"reconcilebot/runbook/fault"
	"reconcilebot/state"
)

// alter wants fields of an object changed, through Git.
type alter struct {
	target, object string
	// sets are path=value, with line ends between them.
	sets   string
	reason string
}

const (
	changeUsage   = "change TARGET KIND/NAME PATH=VALUE … because …"
	changeExample = "change payments-web deployment/web spec.replicas=6 because the checkout queue is backing up"
	// mostWishes is how many fields one change may have: more are no emergency
	// that somebody types.
	mostWishes = 10
)

func parseChange(w words) (act, error) {
	if len(w.list) < 3 || !strings.Contains(w.list[1], "/") || strings.Contains(w.list[1], "=") {
		return nil, usage(changeUsage, changeExample)
	}
	if w.reason == "" {
		return nil, fault.New(fault.Invalid, "Say why, for those who approve and for the record. For example: /reconcile "+changeExample)
	}
	a := alter{target: w.list[0], object: w.list[1], reason: w.reason}
	if n := len(w.list) - 2; n > mostWishes {
		return nil, fault.New(fault.Invalid, fmt.Sprintf("These are %d fields; one change can have %d. Make the pull request by hand.", n, mostWishes))
	}
	var sets []string
	for _, text := range w.list[2:] {
		if _, err := book.ParseWish(a.object, unlinked(text)); err != nil {
			return nil, err
		}
		sets = append(sets, unlinked(text))
	}
	a.sets = strings.Join(sets, "\n")
	return a, nil
}

// unlinked undoes the link that Slack makes of a value that looks like a host,
// such as image=registry.example.com/web:1.
func unlinked(text string) string {
	path, token, found := strings.Cut(text, "=<http")
	if !found || !strings.HasSuffix(token, ">") {
		return text
	}
	return path + "=" + standsFor("http"+strings.TrimSuffix(token, ">"))
}

func (a alter) about() string { return a.target }

func (a alter) run(_ context.Context, c *Commands, call call) (Reply, error) {
	var wishes []book.Wish
	for text := range strings.SplitSeq(a.sets, "\n") {
		w, err := book.ParseWish(a.object, text)
		if err != nil {
			return Reply{}, err
		}
		wishes = append(wishes, w)
	}
	return c.takeUp(call, book.Change, state.Decision{Reason: a.reason, Choice: book.Wishes(wishes)})
}

// takeUp opens a reconciliation and decides it, or decides the one that is
// open and undecided. One that has failed is begun again.
func (c *Commands) takeUp(call call, b state.BookName, d state.Decision) (Reply, error) {
	r, joined, err := c.open(call, call.on.Target, mint(call, ""))
	if err != nil {
		return Reply{}, err
	}
	if joined && r.Failure != nil {
		if r, err = c.Engine.Again(r.ID, call.by.Person); err != nil {
			return Reply{}, err
		}
	}
	d.By, d.Delivery = call.by.Person, call.Delivery.ID
	_, err = c.Engine.Decide(r.ID, b, d)
	return Reply{}, err
}
