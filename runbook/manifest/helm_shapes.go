package manifest

import (
	"slices"
	"strings"
)

func sortWishes(list []wish) {
	slices.SortStableFunc(list, func(a, b wish) int { return b.score - a.score })
}

// container is a map or a list among the values.
type container struct {
	path  Path
	value any
}

// containers lists maps and lists among the values, also empty ones and those
// that a template names and nobody sets.
func (s *helmSearch) containers() (list []container) {
	var walk func(v any, at Path)
	walk = func(v any, at Path) {
		if len(list) > maxLeaves {
			return
		}
		switch v := v.(type) {
		case map[string]any:
			if len(at) > 0 {
				list = append(list, container{at, v})
			}
			for _, key := range nameFirst(v) {
				if key != "global" || len(at) == 0 {
					walk(v[key], at.Child(Key(key)))
				}
			}
		case []any:
			list = append(list, container{at, v})
			for i, item := range v {
				walk(item, at.Child(At(i)))
			}
		case nil:
			if len(at) > 0 {
				list = append(list, container{at, nil})
			}
		}
	}
	walk(s.values, nil)
	for _, n := range s.named {
		if _, _, found := lookup(s.values, n.path); !found {
			list = append(list, container{n.path, nil})
		}
	}
	return list
}

// passed finds maps and lists that a template passes on as they are, so that
// the field is a part of them or can become one.
func (s *helmSearch) passed() (list []wish) {
	all := s.containers()
	object := s.object().Content
	path := s.change.Path
	for n := len(path) - 1; n > 0; n-- {
		rendered, _, found := lookup(object, path[:n])
		rest := path[n:]
		for _, c := range all {
			near := s.nearness(c.path, path[:n])
			var score int
			switch {
			case found && !isEmpty(c.value) && covered(c.value, rendered):
				score = 20 + n + near
			case isEmpty(c.value) && near > 0:
				score = 10 + n + near
			default:
				continue
			}
			if set, ok := s.settingIn(c, rest, rendered); ok {
				list = append(list, wish{[]valueSetting{set}, score})
			}
		}
	}
	// The field itself may be one of them as a whole.
	if !isScalar(s.change.Live) || s.change.Op == Remove {
		for _, c := range all {
			near := s.nearness(c.path, path)
			switch {
			case s.git != nil && !isEmpty(c.value) && covered(c.value, s.git) && covered(s.git, c.value):
				list = append(list, wish{[]valueSetting{{path: c.path, value: s.change.Live, remove: s.change.Op == Remove}}, 40 + near})
			case s.change.Op != Remove && isEmpty(c.value) && near > 0:
				list = append(list, wish{[]valueSetting{{path: c.path, value: s.change.Live}}, 10 + near})
			}
		}
	}
	return list
}

// nearness tells how alike the names of a value and of what ends a path are.
func (s *helmSearch) nearness(value, field Path) int {
	other := helmSearch{search: search{question: &question{change: Change{Path: field}}}, words: s.words}
	name := lastKey(field)
	key := lastKey(value)
	if name == "" || key == "" {
		return 0
	}
	n := other.score(value)
	if key == name {
		n += 4
	}
	if !containsEither(key, name) && n < 4 {
		return 0
	}
	return n
}

func containsEither(a, b string) bool {
	return len(a) > 2 && len(b) > 2 && (strings.Contains(a, b) || strings.Contains(b, a))
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	case string:
		return v == ""
	}
	return false
}

// covered tells whether a rendered value holds all of a value.
func covered(value, rendered any) bool {
	switch v := value.(type) {
	case map[string]any:
		in, ok := rendered.(map[string]any)
		if !ok {
			return false
		}
		for key, item := range v {
			if !covered(item, in[key]) {
				return false
			}
		}
		return true
	case []any:
		in, ok := rendered.([]any)
		if !ok {
			return false
		}
		for _, item := range v {
			if !slices.ContainsFunc(in, func(r any) bool { return covered(item, r) }) {
				return false
			}
		}
		return true
	}
	a, okA := textOf(value)
	b, okB := textOf(rendered)
	return okA && okB && a == b || value == nil && rendered == nil
}

// settingIn is the change, made within a map or list that is passed on.
func (s *helmSearch) settingIn(c container, rest Path, rendered any) (valueSetting, bool) {
	live := s.change.Live
	_, inList := rendered.([]any)
	if _, isList := c.value.([]any); isList {
		inList = true
	}
	first := rest[0]
	isItem := first.Item != nil || first.Pos > 0
	if c.value == nil && rendered == nil {
		inList = isItem
	}
	if inList != isItem {
		return valueSetting{}, false
	}
	if s.change.Op == Remove {
		if _, _, found := lookup(c.value, rest); !found {
			return valueSetting{}, false
		}
		return valueSetting{path: c.path.join(rest), remove: true}, true
	}
	if !isEmpty(c.value) {
		// Positions in what is rendered need not be those among the values.
		if _, ok := first.Index(); ok {
			return valueSetting{}, false
		}
		return valueSetting{path: c.path.join(rest), value: live}, true
	}
	grown, err := grow(nil, rest, live)
	if err != nil {
		return valueSetting{}, false
	}
	return valueSetting{path: c.path, value: grown}, true
}

func (p Path) join(rest Path) Path { return slices.Concat(p, rest) }

// entries finds maps whose keys and values become the items of a list, such
// as environment variables.
func (s *helmSearch) entries() (list []wish) {
	path := s.change.Path
	if len(path) == 0 {
		return nil
	}
	last := path[len(path)-1]
	name, named := last.Item["name"]
	item, _ := s.change.Live.(map[string]any)
	if !named || s.change.Op == Set {
		return nil
	}
	rendered, _, _ := lookup(s.object().Content, path[:len(path)-1])
	items, _ := rendered.([]any)
	for _, c := range s.containers() {
		m, isMap := c.value.(map[string]any)
		if c.value != nil && !isMap {
			continue
		}
		score := s.nearness(c.path, path[:len(path)-1])
		if fits := pairsIn(m, items); fits > 0 {
			score += 20 + fits
		} else if !isEmpty(c.value) || score == 0 {
			continue
		}
		set := valueSetting{path: c.path.Child(Key(name)), value: item["value"]}
		if s.change.Op == Remove {
			if _, there := m[name]; !there {
				continue
			}
			set = valueSetting{path: c.path.Child(Key(name)), remove: true}
		} else if !isScalar(set.value) || len(item) != 2 {
			continue
		}
		list = append(list, wish{[]valueSetting{set}, score})
	}
	return list
}

// pairsIn counts the keys of a map that are items with their value.
func pairsIn(m map[string]any, items []any) (n int) {
	for key, v := range m {
		text, _ := textOf(v)
		for _, item := range items {
			i, _ := item.(map[string]any)
			have, _ := textOf(i["value"])
			if i["name"] == key && have == text {
				n++
			}
		}
	}
	return n
}
