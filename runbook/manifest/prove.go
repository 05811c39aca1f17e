package manifest

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// prove renders the target with an edit and keeps the edit if that shows the
// change and nothing else, here and at everyone who reads the files.
func (p *proposer) prove(ctx context.Context, i int, c Change, s suggestion) (*Refusal, error) {
	undo := p.files.lay(s.writes)
	after, err := p.renderer.render(ctx, p.files, p.req.Target)
	undo()
	if isRefusal(err) {
		return refuse(ProofFailed, byHand, noRender+": %v", err), nil
	}
	if err != nil {
		return nil, err
	}
	derived, r := p.judge(after, i, c)
	if r != nil {
		return r, nil
	}
	names := p.names
	if c.isWhole() {
		names = p.renamed(after, i, c)
	}
	changed, unbuildable, err := p.readers.check(ctx, s.writes)
	if err != nil {
		return nil, err
	}
	if len(changed) > 0 {
		return refuse(SharedSource, "Give this target a manifest of its own, by hand.", "%s also serves %s, which the edit would change", s.writes[0].file, strings.Join(changed, ", ")), nil
	}
	if len(unbuildable) > 0 {
		p.addUnbuildable(unbuildable)
		return refuse(UnsupportedTool, "Have somebody who knows it look, and accept it by name.", "%s may be read by %s, which can't be rendered here (%s)", s.writes[0].file, unbuildable[0].Name, unbuildable[0].Why), nil
	}
	p.files.lay(s.writes)
	p.readers.settle(s.writes)
	p.rendered, p.names = after, names
	p.derived = append(p.derived, derived...)
	return nil, nil
}

// noRender begins the reason for an edit after which nothing is rendered.
const noRender = "after the edit the source can't be rendered any more"

// judge holds a rendering against what it is to be: as before, with the one
// change made. It tells what else moves of necessity.
func (p *proposer) judge(after []Resource, i int, c Change) (derived []string, r *Refusal) {
	if c.isWhole() {
		return nil, p.judgeWhole(after, i, c)
	}
	if len(after) != len(p.rendered) {
		return nil, refuse(TouchesOthers, byHand, "the edit would change the number of objects too")
	}
	want := slices.Clone(p.rendered)
	object, err := c.expect(want[i].Content)
	if err != nil {
		return nil, refuse(ProofFailed, byHand, "after the edit, rendering does not show the live value at %s", c.Path)
	}
	want[i].Content = object
	c.settle(object, after[i].Content)
	derived = append(rename(want, after, i), followChecksums(want, after, i)...)
	_, changed, _ := lookup(object, c.Path)
	var others []string
	for _, m := range differences(want, after) {
		if m.resource == i && m.path != nil && (within(m.path, changed) || within(changed, m.path)) {
			return nil, refuse(ProofFailed, byHand, "after the edit, rendering does not show the live value at %s", c.Path)
		}
		others = append(others, name(after, m))
	}
	if len(others) > 0 {
		return nil, refuse(TouchesOthers, byHand, "the edit would change %s too", enumerate(others))
	}
	return derived, nil
}

// settle moves a named list item that was added to where the edit puts it: the
// order of such lists means nothing, unless one variable refers to another.
func (c Change) settle(want, after map[string]any) {
	n := len(c.Path) - 1
	if text, _ := encodeJSON(c.Live); c.Op != Add || n < 1 || c.Path[n].Item == nil || strings.Contains(text, "$(") {
		return
	}
	in, _ := c.Path[:n].Get(want)
	list, _ := in.([]any)
	in, _ = c.Path[:n].Get(after)
	other, _ := in.([]any)
	from, to := itemIndex(list, c.Path[n]), itemIndex(other, c.Path[n])
	if from < 0 || to < 0 || from != len(list)-1 || len(list) != len(other) {
		return
	}
	moved := slices.Insert(slices.Clone(list[:from]), to, list[from])
	copy(list, moved)
}

// maxNamed bounds the names in one sentence.
const maxNamed = 3

func enumerate(list []string) string {
	if more := len(list) - maxNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:maxNamed], ", "), more)
	}
	return strings.Join(list, ", ")
}

func (p *proposer) addUnbuildable(list []Unbuildable) {
	for _, u := range list {
		if !slices.Contains(p.proof.Consumers.Unbuildable, u) {
			p.proof.Consumers.Unbuildable = append(p.proof.Consumers.Unbuildable, u)
		}
	}
}

// name says for people where something moved.
func name(list []Resource, m moved) string {
	if m.resource >= len(list) {
		return "the number of objects"
	}
	o := list[m.resource].Object().String()
	if m.path == nil {
		return "which object " + o + " is"
	}
	return m.path.String() + " of " + o
}

// moved is a path in one rendered object; the path is nil if the object
// itself is another one.
type moved struct {
	resource int
	path     Path
}

// differences lists every path at which two renderings differ, in order.
func differences(before, after []Resource) (list []moved) {
	for i := range max(len(before), len(after)) {
		if i >= len(before) || i >= len(after) {
			return append(list, moved{i, nil})
		}
		if reflect.ValueOf(before[i].Content).Pointer() == reflect.ValueOf(after[i].Content).Pointer() {
			continue // what was rendered to the same text is kept once
		}
		compare(before[i].Content, after[i].Content, nil, func(at Path) { list = append(list, moved{i, at}) })
	}
	slices.SortFunc(list, func(a, b moved) int {
		return cmp.Or(cmp.Compare(a.resource, b.resource), strings.Compare(a.path.String(), b.path.String()))
	})
	return list
}

// compare calls f for each path at which two decoded values differ.
func compare(a, b any, at Path, f func(Path)) {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			f(at)
			return
		}
		for key, v := range x {
			if w, ok := y[key]; ok {
				compare(v, w, at.Child(Key(key)), f)
			} else {
				f(at.Child(Key(key)))
			}
		}
		for key := range y {
			if _, ok := x[key]; !ok {
				f(at.Child(Key(key)))
			}
		}
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			f(at)
			return
		}
		for i := range x {
			compare(x[i], y[i], at.Child(At(i)), f)
		}
	default:
		if a != b && !exact(a, b) {
			f(at)
		}
	}
}
