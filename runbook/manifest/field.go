package manifest

import (
	"fmt"
	"slices"
)

// Get reads the field at the path of a decoded object.
func (p Path) Get(object map[string]any) (value any, found bool) {
	value, _, found = lookup(object, p)
	return value, found
}

// Set writes the field at the path of a decoded object, in place. A map's key
// or a named list item that is not there yet is added, if what holds it is.
func (p Path) Set(object map[string]any, value any) error {
	return p.write(object, func() (any, bool) { return value, true })
}

// Remove takes the field at the path out of a decoded object, in place. One
// that is not there is an error.
func (p Path) Remove(object map[string]any) error {
	if _, found := p.Get(object); !found {
		return fmt.Errorf("remove %s: it is not there", p)
	}
	return p.write(object, func() (any, bool) { return nil, false })
}

// write replaces what is at the path with what f gives, or drops it.
func (p Path) write(object map[string]any, f func() (value any, keep bool)) error {
	if len(p) == 0 {
		return fmt.Errorf("write a field: the path is empty")
	}
	_, _, err := p.rewrite(object, 0, f)
	return err
}

// rewrite gives back what holds the path from its step i on, written anew.
func (p Path) rewrite(v any, i int, f func() (any, bool)) (value any, keep bool, err error) {
	if i == len(p) {
		value, keep = f()
		return value, keep, nil
	}
	switch x := v.(type) {
	case map[string]any:
		return p.rewriteMap(x, i, f)
	case []any:
		return p.rewriteList(x, i, f)
	}
	return nil, false, fmt.Errorf("write %s: there is no map or list at %q", p, p[:i])
}

func (p Path) rewriteMap(m map[string]any, i int, f func() (any, bool)) (any, bool, error) {
	e := p[i]
	old, found := m[e.Key]
	if e.Item != nil || e.Pos > 0 || !found && i < len(p)-1 {
		return nil, false, fmt.Errorf("write %s: there is no %s", p, p[:i+1])
	}
	value, keep, err := p.rewrite(old, i+1, f)
	switch {
	case err != nil:
		return nil, false, err
	case keep:
		m[e.Key] = value
	default:
		delete(m, e.Key)
	}
	return m, true, nil
}

func (p Path) rewriteList(list []any, i int, f func() (any, bool)) (any, bool, error) {
	at := itemIndex(list, p[i])
	if at < 0 && p[i].Item != nil && i == len(p)-1 {
		value, keep := f()
		if keep {
			list = append(list, value)
		}
		return list, true, nil
	}
	if at < 0 {
		return nil, false, fmt.Errorf("write %s: there is no %s", p, p[:i+1])
	}
	value, keep, err := p.rewrite(list[at], i+1, f)
	if err != nil {
		return nil, false, err
	}
	if !keep {
		return slices.Delete(list, at, at+1), true, nil
	}
	list[at] = value
	return list, true, nil
}

// itemIndex is where the list item that a step names is; -1 if it is not.
func itemIndex(list []any, e Elem) int {
	if i, ok := e.Index(); ok && i < len(list) {
		return i
	}
	return slices.IndexFunc(list, func(item any) bool { return matchesValue(item, e.Item) })
}
