package propose

import (
	"fmt"
	"slices"
	"strings"

	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/manifest"
)

func nameOf(object map[string]any) manifest.Object {
	return manifest.Resource{Content: object}.Object()
}

// differences are the changes that make Git's render as it is live. Objects
// that are on one side only are left alone unless they are selected.
func differences(src manifest.Source, rendered []manifest.Resource, live []map[string]any, selected []string) ([]manifest.Change, error) {
	pick, known := newSelection(selected), map[int]bool{}
	var out []manifest.Change
	for _, r := range rendered {
		o := r.Object()
		i := slices.IndexFunc(live, func(l map[string]any) bool { return isSame(o, nameOf(l), src.Namespace) })
		if i < 0 {
			if o.Namespace == "" {
				o.Namespace = src.Namespace
			}
			if len(selected) > 0 && pick.object(o) {
				out = append(out, manifest.Change{Object: o, Op: manifest.Remove, Git: r.Content})
			}
			continue
		}
		known[i] = true
		// The version is the live one: where Git has another, the fields
		// can't be compared and the change is refused for that.
		name := nameOf(live[i])
		for _, c := range drift.Compare(name, r.Content, live[i]) {
			if pick.field(name, c.Path) {
				out = append(out, reveal(c, r.Content, live[i]))
			}
		}
	}
	for i, l := range live {
		if o := nameOf(l); !known[i] && len(selected) > 0 && pick.object(o) {
			out = append(out, manifest.Change{Object: o, Op: manifest.Add, Live: l})
		}
	}
	return out, pick.unused()
}

// isSame tells whether a rendered object is a live one. One that names no
// namespace is in the source's, or in any if the source has none.
func isSame(git, live manifest.Object, namespace string) bool {
	if git.Namespace == "" {
		git.Namespace = namespace
	}
	return git.Group() == live.Group() && git.Kind == live.Kind && git.Name == live.Name &&
		(git.Namespace == live.Namespace || git.Namespace == "" || live.Namespace == "")
}

// selection is what the person wants to have compared; all, if it is empty.
type selection struct {
	texts []string
	used  map[string]bool
	err   error
}

func newSelection(texts []string) *selection {
	return &selection{texts: texts, used: map[string]bool{}}
}

// object tells whether an object, or a field of it, is selected.
func (s *selection) object(o manifest.Object) bool {
	found := len(s.texts) == 0
	for _, t := range s.texts {
		name := o.Kind + "/" + o.Namespace + "/" + o.Name
		if t == name || strings.HasPrefix(t, name+":") {
			s.used[t], found = true, true
		}
	}
	return found
}

// field tells whether a field is selected. A name may hold a colon, so that a
// selection is told apart by the object at hand.
func (s *selection) field(o manifest.Object, path manifest.Path) bool {
	if !s.object(o) || len(s.texts) == 0 {
		return len(s.texts) == 0
	}
	name := o.Kind + "/" + o.Namespace + "/" + o.Name
	for _, t := range s.texts {
		rest, ok := strings.CutPrefix(t, name+":")
		if t == name {
			return true
		}
		if !ok {
			continue
		}
		above, err := manifest.ParsePath(rest)
		if err != nil {
			s.err = fmt.Errorf("read --select %s: %w", t, err)
			continue
		}
		if len(path) >= len(above) && path[:len(above)].Equal(above) {
			return true
		}
	}
	return false
}

// unused is an error for a selection that names nothing.
func (s *selection) unused() error {
	for _, t := range s.texts {
		if !s.used[t] {
			return fmt.Errorf("--select %s names no object of the render or of the live file; write Kind/namespace/name, such as Deployment/shop/web", t)
		}
	}
	return s.err
}
