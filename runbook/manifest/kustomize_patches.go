package manifest

import (
	"regexp"
	"strconv"
	"strings"
)

// value is what the patch is to write: nil to take a key away, and the mark
// that takes a list item away.
func (s *search) value() any {
	if s.change.Op != Remove {
		return s.change.Live
	}
	return nil
}

// wrap puts a value into the maps and lists that lead to it, for a strategic
// merge. List items are named by their merge keys. It is not ok for items
// that have none.
func (s *search) wrap(path Path, from int, value any, remove bool) (any, bool) {
	if from == len(path) {
		return value, true
	}
	e := path[from]
	if e.Pos > 0 {
		return nil, false
	}
	if e.Item == nil {
		inner, ok := s.wrap(path, from+1, value, remove)
		return map[string]any{e.Key: inner}, ok
	}
	item := map[string]any{}
	if whole, ok := value.(map[string]any); ok && from == len(path)-1 {
		item = whole
	} else if from == len(path)-1 && !remove {
		return nil, false
	} else if from < len(path)-1 {
		inner, ok := s.wrap(path, from+1, value, remove)
		next, isMap := inner.(map[string]any)
		if !ok || !isMap {
			return nil, false
		}
		item = next
	}
	for field, text := range e.Item {
		if field == "" {
			return nil, false
		}
		item[field] = s.mergeKey(path[:from+1], field, text)
	}
	if remove && from == len(path)-1 {
		item["$patch"] = "delete"
	}
	return []any{item}, true
}

// steady tells whether a strategic merge leaves the order of lists alone: from
// a step of the path on, each list has no item but the one that is named.
// Versions of Kustomize differ in where they put merged items of longer ones.
func (s *search) steady(from int) bool {
	for i, e := range s.change.Path {
		if i < from || e.Item == nil {
			continue
		}
		list, _, _ := lookup(s.object().Content, s.change.Path[:i])
		items, _ := list.([]any)
		if len(items) > 1 || len(items) == 1 && itemIndex(items, e) < 0 {
			return false
		}
	}
	return true
}

// mergeKey is a merge key's value as the object has it: a port is a number.
func (s *search) mergeKey(at Path, field, text string) any {
	for _, object := range []any{s.object().Content, s.change.Live} {
		if v, _, found := lookup(object, at.Child(Key(field))); found {
			return v
		}
	}
	return text
}

// ownPatch adds to a patch that the target has for the object.
func (s *search) ownPatch() (bool, error) {
	for _, d := range s.docs {
		if d.depth > 0 || !d.isPatch() {
			continue
		}
		var content []byte
		var r *Refusal
		switch {
		case d.isJSONPatch() && s.selects(d):
			lines, ok := s.operations()
			if !ok {
				continue
			}
			var grown shaped
			if grown, r = d.longerListOf(lines); r == nil {
				content = grown.apply(d.t.content)
				r = grown.verify(d.t, content)
			}
		case d.isOf(s.change.Object):
			content, r = s.graft(d)
		default:
			continue
		}
		if done, err := s.offer(d, d.line(d.root), d.layer, "", content, r); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// selects tells whether a patch in a file or inline is aimed at the object.
func (s *search) selects(d document) bool {
	own, ok := s.target()
	if !ok {
		return false
	}
	for _, key := range []string{"patches", "patchesJson6902"} {
		for _, item := range contentOf(child(own.root, key)) {
			item = resolve(item)
			aim := resolve(child(item, "target"))
			name := resolve(child(aim, "name"))
			if name == nil || !scalarIs(child(aim, "kind"), s.change.Object.Kind) || !strings.Contains(s.change.Object.Name, name.Value) {
				continue
			}
			file := resolve(child(item, "path"))
			if d.outer != nil && resolve(child(item, "patch")) == d.node || d.outer == nil && file != nil && strings.HasSuffix(d.file, strings.TrimPrefix(file.Value, "./")) {
				return true
			}
		}
	}
	return false
}

func (d document) longerListOf(ops [][]string) (shaped, *Refusal) {
	var all shaped
	for i, lines := range ops {
		s, r := d.longerList(d.root, lines)
		if r != nil {
			return s, r
		}
		if i == 0 {
			all = s
			continue
		}
		all.text += s.text
		all.came++
	}
	return all, nil
}

// graft writes the change into a strategic merge patch.
func (s *search) graft(d document) ([]byte, *Refusal) {
	path, remove := s.change.Path, s.change.Op == Remove
	n := len(path)
	for ; n > 0; n-- {
		if at, r := locate(d.root, path[:n]); r == nil && at.value != nil {
			break
		}
	}
	if n == len(path) {
		if remove || !isScalar(s.change.Live) {
			return nil, refuse(Structure, byHand, "the patch in %s has %s", d.file, path)
		}
		e, r := d.t.edit(d.file, d.root, Change{Path: path, Op: Set, Live: s.change.Live}, false)
		return e.content, r
	}
	if !s.steady(n) {
		return nil, refuse(Structure, byHand, "a merge may change the order of a list")
	}
	parent, r := owned(d.root, path[:n])
	if r != nil {
		return nil, r
	}
	value, ok := s.wrap(path, n, s.value(), remove)
	if !ok {
		return nil, refuse(Structure, byHand, "%s can't be written in a patch", path)
	}
	switch v := value.(type) {
	case map[string]any:
		value = v[path[n].Key]
	case []any:
		value = v[0]
	}
	grown, r := d.t.grow(parent, path[:n+1], value)
	if r != nil {
		return nil, r
	}
	content := grown.apply(d.t.content)
	return content, grown.verify(d.t, content)
}

// newPatch gives the target a strategic merge patch of its own.
func (s *search) newPatch() (bool, error) {
	d, own := s.target()
	tree, ok := s.wrap(s.change.Path, 0, s.value(), s.change.Op == Remove)
	body, isMap := tree.(map[string]any)
	if !own || !ok || !isMap || !s.steady(0) {
		return false, nil
	}
	o := s.object().Object()
	for _, name := range s.names() {
		meta := map[string]any{"name": name}
		pairs := []pair{{"apiVersion", o.APIVersion}, {"kind", o.Kind}, {"metadata", meta}}
		for key, v := range body {
			if more, ok := v.(map[string]any); ok && key == "metadata" {
				for k, v := range more {
					meta[k] = v
				}
				continue
			}
			pairs = append(pairs, pair{key, v})
		}
		if done, err := s.addPatch(d, name, writePairs(pairs)); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// newJSONPatch gives the target a JSON patch of its own. Before it changes a
// list's item it makes sure that it is the one that was meant, so that a
// build fails, and changes nothing, once the list has another order.
func (s *search) newJSONPatch() (bool, error) {
	d, own := s.target()
	ops, ok := s.operations()
	if !own || !ok {
		return false, nil
	}
	var lines []string
	for _, op := range ops {
		lines = append(lines, asItem(op)...)
	}
	for _, name := range s.names() {
		if done, err := s.addPatch(d, name, lines); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// addPatch adds an inline patch to the target's patches.
func (s *search) addPatch(d document, name string, body []string) (bool, error) {
	o := s.object().Object()
	lines := []string{"target:"}
	aim := []pair{{"kind", o.Kind}, {"name", regexp.QuoteMeta(name)}}
	if s.alike(o) {
		aim = append(aim, pair{"group", o.Group()}, pair{"namespace", o.Namespace})
	}
	for _, p := range aim {
		if p.value != "" {
			lines = append(lines, indented(writePairs([]pair{p}))...)
		}
	}
	lines = append(append(lines, "patch: |-"), indented(body)...)
	content, line, r := d.append("patches", lines)
	return s.offer(d, line, d.layer+" patch", "", content, r)
}

// alike tells whether there is another object of the same kind and name.
func (s *search) alike(o Object) bool {
	found := 0
	for _, r := range s.rendered {
		if have := r.Object(); have.Kind == o.Kind && have.Name == o.Name {
			found++
		}
	}
	return found > 1
}

func indented(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		if line != "" {
			out[i] = "  " + line
		}
	}
	return out
}

// operations are the change as JSON patch operations, each as lines.
func (s *search) operations() (ops [][]string, ok bool) {
	object, path := s.object().Content, s.change.Path
	pointer := ""
	var v any = object
	for i, e := range path {
		next, at, found := lookup(v, Path{e})
		if !found {
			return s.addBelow(ops, pointer, i)
		}
		step := at[len(at)-1]
		if j, isIndex := step.Index(); isIndex {
			pointer += "/" + strconv.Itoa(j)
			for field := range e.Item {
				if field == "" {
					ops = append(ops, op("test", pointer, next))
				} else if key, _, there := lookup(next, Path{Key(field)}); there {
					ops = append(ops, op("test", pointer+"/"+escape(field), key))
				}
			}
		} else {
			pointer += "/" + escape(e.Key)
		}
		v = next
	}
	if s.change.Op == Remove {
		return append(ops, writePairs([]pair{{"op", "remove"}, {"path", pointer}})), true
	}
	return append(ops, op("replace", pointer, s.change.Live)), true
}

// addBelow adds what is missing from a step of the path on.
func (s *search) addBelow(ops [][]string, pointer string, from int) ([][]string, bool) {
	path := s.change.Path
	if s.change.Op == Remove {
		return nil, false
	}
	value, ok := s.wrap(path, from+1, s.change.Live, false)
	switch {
	case !ok || path[from].Pos > 0 || path[from].Item != nil && from < len(path)-1:
		return nil, false
	case path[from].Item != nil:
		pointer += "/-"
	default:
		pointer += "/" + escape(path[from].Key)
	}
	return append(ops, op("add", pointer, value)), true
}

func op(name, pointer string, value any) []string {
	return writePairs([]pair{{"op", name}, {"path", pointer}, {"value", value}})
}

// escape writes a key as a step of a JSON pointer.
//
// Source: https://datatracker.ietf.org/doc/html/rfc6901
func escape(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }
