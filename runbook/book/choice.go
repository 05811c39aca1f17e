package book

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// Do is what becomes of one change. It is written to disk and never renamed.
type Do string

// What can become of a change. Whatever is not chosen stays as it is.
const (
	DoAdopt  Do = "adopt"
	DoRevert Do = "revert"
	DoLeave  Do = "leave"
)

// Choice is what a person chose for one change.
type Choice struct {
	// Object is the object's name as manifest.Object.String writes it, Path the
	// field's; empty for a whole object.
	Object string `json:"object"`
	Path   string `json:"path"`
	Do     Do     `json:"do"`
}

// ChoiceFor is the choice for a change that was seen.
func ChoiceFor(c drift.Change, do Do) Choice {
	return Choice{Object: c.Object.String(), Path: c.Path.String(), Do: do}
}

// BookFor is the book that does what was chosen: the choices for a part of the
// changes are carried out by the same steps as one for all of them.
func BookFor(list []Choice) (state.BookName, error) {
	has := func(do Do) bool { return slices.ContainsFunc(list, func(c Choice) bool { return c.Do == do }) }
	switch {
	case has(DoAdopt) && has(DoRevert):
		return Mixed, nil
	case has(DoAdopt):
		return Adopt, nil
	case has(DoRevert):
		return Revert, nil
	}
	return "", fault.New(fault.Invalid, "Everything would stay as it is. Choose adopt or revert for at least one change, or press Not now.")
}

// Choices are what a decision carries that is not the same for all changes.
func Choices(list []Choice) json.RawMessage {
	raw, err := json.Marshal(list)
	if err != nil { // texts always encode
		return nil
	}
	return raw
}

// choose takes the changes that are to be dealt with out of all that differ,
// in their order, with what is to become of each. The others stay: also those
// that came up after the choice was made.
func choose(r state.Reconciliation, all []drift.Change) (chosen []drift.Change, do []Do, open []drift.Change, err error) {
	if len(r.Decision.Choice) == 0 {
		return all, nil, nil, nil
	}
	var list []Choice
	if err := json.Unmarshal(r.Decision.Choice, &list); err != nil {
		return nil, nil, nil, fmt.Errorf("read what was chosen for each change: %w", err)
	}
	for _, c := range all {
		i := slices.IndexFunc(list, func(one Choice) bool { return one == ChoiceFor(c, one.Do) })
		if i < 0 || list[i].Do == DoLeave {
			open = append(open, c)
			continue
		}
		chosen, do = append(chosen, c), append(do, list[i].Do)
	}
	return chosen, do, open, nil
}

// split applies the choices to a plan that has seen everything.
func (p *Plan) split(r state.Reconciliation) (err error) {
	p.Seen.Drift.Changes, p.Do, p.Open, err = choose(r, p.Seen.Drift.Changes)
	return err
}

// Adopts are the changes that a plan takes into Git, Reverts those that it
// undoes in the cluster.
func (p Plan) Adopts() []drift.Change  { return p.those(DoAdopt, len(p.Edits) > 0) }
func (p Plan) Reverts() []drift.Change { return p.those(DoRevert, len(p.Edits) == 0) }

func (p Plan) those(do Do, all bool) (list []drift.Change) {
	if len(p.Do) == 0 {
		if all {
			return p.Seen.Drift.Changes
		}
		return nil
	}
	for i, c := range p.Seen.Drift.Changes {
		if i < len(p.Do) && p.Do[i] == do {
			list = append(list, c)
		}
	}
	return list
}

// only is a plan that speaks of some of its changes.
func (p Plan) only(changes []drift.Change) Plan {
	p.Seen.Drift.Changes = changes
	return p
}

// entangled refuses to sync an object of which something else is to stay: a
// sync takes the whole object.
func entangled(synced, open []drift.Change) error {
	for _, c := range open {
		if stays(c) || !slices.ContainsFunc(synced, func(s drift.Change) bool { return s.Object == c.Object && !stays(s) }) {
			continue
		}
		return fault.New(fault.Refused, fmt.Sprintf("A sync of %s %s would undo %s too, which is to stay. Decide about both, or adopt %s first.",
			c.Object.Kind, full(c.Object), c.Path, c.Path))
	}
	return nil
}

// stays tells whether no sync undoes a change: a field that was added, which
// Argo CD's three-way diff does not see, or an object that is in no Git.
func stays(c drift.Change) bool {
	return c.Invisible || c.Path.String() == "" && c.Op == manifest.Add
}

// byHand is the command with which a person undoes what no sync does. It tests
// that what it takes away is what was seen.
func byHand(c drift.Change) string {
	kind, in := strings.ToLower(c.Object.Kind), inNamespace(c.Object)
	if len(c.Path) == 0 {
		return fmt.Sprintf("kubectl delete %s %s%s", kind, c.Object.Name, in)
	}
	pointer, ok := pointer(c.Path)
	if !ok || c.Masked {
		return fmt.Sprintf("kubectl edit %s %s%s (take %s away)", kind, c.Object.Name, in, c.Path)
	}
	patch, err := json.Marshal([]map[string]any{{"op": "test", "path": pointer, "value": c.Live}, {"op": "remove", "path": pointer}})
	if err != nil || strings.ContainsAny(string(patch), "'\n") {
		return fmt.Sprintf("kubectl edit %s %s%s (take %s away)", kind, c.Object.Name, in, c.Path)
	}
	return fmt.Sprintf("kubectl patch %s %s%s --type=json -p '%s'", kind, c.Object.Name, in, patch)
}

// pointer is a path as a JSON pointer, where it leads through maps alone: the
// place of a list's item may move.
// https://www.rfc-editor.org/rfc/rfc6901
func pointer(p manifest.Path) (string, bool) {
	var b strings.Builder
	for _, e := range p {
		if e.Item != nil || e.Pos > 0 {
			return "", false
		}
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(e.Key))
	}
	return b.String(), true
}
