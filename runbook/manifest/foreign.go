package manifest

import (
	"fmt"
	"slices"
)

// OnlyChanges holds two renders by somebody else, such as Argo CD's own of
// the base and of the pushed commit, against what was decided: every changed
// value must be in the second as it is live, and nothing else may differ. The
// error says the first thing that is not so.
//
// A generated object's name holds a hash of its content: that, and the
// references to it, may move with the content. So may annotations that hold a
// checksum.
func OnlyChanges(before, after []map[string]any, changes []Change) error {
	was, is := byName(withoutHashes(before)), byName(withoutHashes(after))
	for name := range was {
		if _, ok := is[name]; !ok {
			return fmt.Errorf("%s is gone", name)
		}
	}
	for name, object := range is {
		old, ok := was[name]
		if !ok {
			return fmt.Errorf("%s is new", name)
		}
		if at, moved := undecided(name, old, object, changes); moved {
			return fmt.Errorf("%s of %s differs too", at, name)
		}
	}
	for _, c := range changes {
		if err := arrived(c, is); err != nil {
			return err
		}
	}
	return nil
}

// undecided finds a difference that nobody decided.
func undecided(name Object, was, is map[string]any, changes []Change) (at Path, moved bool) {
	var allowed []Path
	for _, c := range changes {
		if !covers(name, c.Object) {
			continue
		}
		// What is added is found in the new object, what is removed in the old.
		for _, object := range []map[string]any{is, was} {
			if _, at, found := lookup(object, c.Path); found {
				allowed = append(allowed, at)
			}
		}
	}
	compare(was, is, nil, func(p Path) {
		for _, a := range allowed {
			if within(p, a) || within(a, p) {
				return
			}
		}
		old, _ := p.Get(was)
		now, _ := p.Get(is)
		if isChecksum(p, old, now) {
			return
		}
		at, moved = p, true
	})
	return at, moved
}

// within tells whether a path is another or lies below it.
func within(p, above Path) bool { return len(p) >= len(above) && p[:len(above)].Equal(above) }

// arrived checks that a decided value is in the render.
func arrived(c Change, render map[Object]map[string]any) error {
	for name, object := range render {
		if !covers(name, c.Object) {
			continue
		}
		value, _, found := lookup(object, c.Path)
		switch {
		case c.Op == Remove && !found:
			return nil
		case c.Op != Remove && found && SameAt(c.Path, value, c.Live):
			return nil
		}
		return fmt.Errorf("%s of %s is not as decided", c.Path, name)
	}
	return fmt.Errorf("%s is not rendered", c.Object)
}

// covers compares a rendered object's name with the live one's: a render may
// leave the namespace to the controller, and the version is not identity.
func covers(rendered, live Object) bool {
	return rendered.Group() == live.Group() && rendered.Kind == live.Kind &&
		(rendered.Name == live.Name || rendered.Name == unhashed(live)) &&
		(rendered.Namespace == live.Namespace || rendered.Namespace == "")
}

func byName(objects []map[string]any) map[Object]map[string]any {
	named := make(map[Object]map[string]any, len(objects))
	for _, o := range objects {
		named[Resource{Content: o}.Object()] = o
	}
	return named
}

// unhashed is an object's name with a mark in the place of a hash.
func unhashed(o Object) string {
	if o.Kind != "ConfigMap" && o.Kind != "Secret" {
		return o.Name
	}
	return hashed.ReplaceAllString(o.Name, "$1-#")
}

// withoutHashes gives generated objects names that don't move with their
// content, also where others refer to them, unless two would then be called
// the same.
func withoutHashes(objects []map[string]any) []map[string]any {
	names := map[string]string{}
	times := map[string]int{}
	for _, object := range objects {
		o := Resource{Content: object}.Object()
		if to := unhashed(o); to != o.Name {
			names[o.Name] = to
			times[to]++
		}
	}
	out := slices.Clone(objects)
	for from, to := range names {
		if times[to] > 1 {
			continue
		}
		for i, object := range out {
			out[i], _ = replaceName(object, from, to).(map[string]any)
		}
	}
	return out
}
