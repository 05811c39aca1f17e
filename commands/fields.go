package commands

import (
	"fmt"
	"slices"
	"strings"

	"reconcilebot/commands/card"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
	"reconcilebot/state"
)

// askFields opens the modal in which each change has a choice of its own.
func (c *Commands) askFields(k clicked) (Reply, error) {
	if err := c.undecided(k); err != nil {
		return Reply{}, err
	}
	seen, _ := book.SeenIn(k.run)
	return Reply{Modal: card.AskFields(c.facts(k.run), seen)}, nil
}

// decidedFields answers it. The choices are by number, of what the digest of
// the form says was shown.
func (c *Commands) decidedFields(k clicked, req Request) (Reply, error) {
	seen, _ := book.SeenIn(k.run)
	if seen.Drift.Digest != k.digest {
		return Reply{}, c.undecided(k)
	}
	var list []book.Choice
	for i, change := range seen.Drift.Changes {
		do := book.Do(req.View.Values[fmt.Sprint(card.BlockField, i)])
		if do == "" {
			do = book.DoLeave
		}
		if !slices.Contains([]book.Do{book.DoAdopt, book.DoRevert, book.DoLeave}, do) {
			return Reply{}, fault.New(fault.Invalid, "This form is from an older version and does nothing any more. Use the newest card.")
		}
		list = append(list, book.ChoiceFor(change, do))
	}
	b, err := book.BookFor(list)
	if err != nil {
		return Reply{}, err
	}
	return c.decide(k, req, b, book.Choices(list))
}

// chosen finds the changes that words such as deployment/web spec.replicas
// mean, and leaves the others as they are.
func chosen(d drift.Drift, words string, do book.Do) ([]book.Choice, error) {
	fields := strings.Fields(words)
	var list []book.Choice
	for _, c := range d.Changes {
		list = append(list, book.ChoiceFor(c, book.DoLeave))
	}
	on := ""
	for i, word := range fields {
		if strings.Contains(word, "/") && !strings.ContainsAny(word, "[\"") && i == 0 {
			on = word
			if len(fields) > 1 {
				continue
			}
		}
		n := 0
		for j, c := range d.Changes {
			if on != "" && !book.IsObject(on, c.Object) || word != on && !isField(word, c) {
				continue
			}
			list[j].Do = do
			n++
		}
		if n == 0 {
			return nil, fault.New(fault.Invalid, fmt.Sprintf("Nothing that differs is called %s. The card shows what does.", word))
		}
	}
	return list, nil
}

// isField tells whether somebody means a change: by its whole path, or by the
// end of it.
func isField(word string, c drift.Change) bool {
	path := c.Path.String()
	return path == word || strings.HasSuffix(path, "."+word) || strings.HasSuffix(path, "["+word+"]")
}

// takePart adopts or reverts some of what differs. It takes a look that is
// done: what is meant is found among what was shown.
func (c *Commands) takePart(call call, t takeTo) (Reply, error) {
	r, err := c.DB.Holding(call.on.Target.String())
	seen, looked := book.SeenIn(r)
	if err != nil || !looked || r.Room != call.Room || r.Failure != nil {
		return Reply{}, fault.New(fault.Conflict, fmt.Sprintf("Look first, so that it is clear what is meant: /reconcile drift %s. Then name the fields.", call.on.Name))
	}
	do := book.DoAdopt
	if t.book == book.Revert {
		do = book.DoRevert
	}
	list, err := chosen(seen.Drift, t.fields, do)
	if err != nil {
		return Reply{}, err
	}
	_, err = c.Engine.Decide(r.ID, t.book, state.Decision{By: call.by.Person, Reason: t.reason, Choice: book.Choices(list), Delivery: call.Delivery.ID})
	return Reply{}, err
}
