package manifest

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// prove renders the target with an edit and keeps the edit if that shows the
// change and nothing else, here and at everyone who reads the file.
func (p *proposer) prove(ctx context.Context, i int, c Change, e edited) (*Refusal, error) {
	undo := p.files.lay(e.file, e.content)
	after, err := p.files.render(ctx, p.req.Target)
	undo()
	if isRefusal(err) {
		return refuse(ProofFailed, byHand, "after the edit the source can't be rendered any more: %v", err), nil
	}
	if err != nil {
		return nil, err
	}
	want, r := p.expect(after, i, c, e.shape)
	if r != nil {
		return r, nil
	}
	for _, m := range differences(p.rendered, after) {
		if !slices.Contains(want, m) {
			return refuse(TouchesOthers, byHand, "the edit would change %s too", p.name(after, m)), nil
		}
	}
	changed, unbuildable, err := p.readers.check(ctx, e.file, e.content, p.req.Accepted)
	if err != nil {
		return nil, err
	}
	if len(changed) > 0 {
		return refuse(SharedSource, "Give this target a manifest of its own, by hand.", "%s also serves %s, which the edit would change", e.file, strings.Join(changed, ", ")), nil
	}
	if len(unbuildable) > 0 {
		p.addUnbuildable(unbuildable)
		return refuse(UnsupportedTool, "Have somebody who knows it look, and accept it by name.", "%s may be read by %s, which can't be rendered here (%s)", e.file, unbuildable[0].Name, unbuildable[0].Why), nil
	}
	p.files.lay(e.file, e.content)
	p.rendered = after
	p.expected = append(p.expected, want...)
	return nil, nil
}

// expect tells which paths are to differ, after looking whether the live
// state is there.
func (p *proposer) expect(after []Resource, i int, c Change, s *shaped) ([]moved, *Refusal) {
	if s != nil {
		return p.expectShape(after, i, s)
	}
	if i >= len(after) {
		return nil, refuse(ProofFailed, byHand, "after the edit the object is no longer rendered")
	}
	now, at, found := lookup(after[i].Content, c.Path)
	if !found || !exact(now, c.Live) {
		return nil, refuse(ProofFailed, byHand, "after the edit, rendering does not show the live value at %s", c.Path)
	}
	return []moved{{i, at.String()}}, nil
}

func (p *proposer) addUnbuildable(list []Unbuildable) {
	for _, u := range list {
		if !slices.Contains(p.proof.Consumers.Unbuildable, u) {
			p.proof.Consumers.Unbuildable = append(p.proof.Consumers.Unbuildable, u)
		}
	}
}

// name says for people where something moved.
func (p *proposer) name(list []Resource, m moved) string {
	if m.resource >= len(list) {
		return "the number of objects"
	}
	o := list[m.resource].Object().String()
	if m.path == "" {
		return "which object " + o + " is"
	}
	return m.path + " of " + o
}

// differences lists every path at which two renderings differ, in order.
func differences(before, after []Resource) (list []moved) {
	defer func() {
		slices.SortFunc(list, func(a, b moved) int {
			return cmp.Or(cmp.Compare(a.resource, b.resource), strings.Compare(a.path, b.path))
		})
	}()
	for i := range max(len(before), len(after)) {
		if i >= len(before) || i >= len(after) {
			return append(list, moved{i, ""})
		}
		compare(before[i].Content, after[i].Content, nil, func(at Path) { list = append(list, moved{i, at.String()}) })
	}
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
		if !exact(a, b) {
			f(at)
		}
	}
}
