package blockkit

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Fault is one thing that Slack refuses, and where.
type Fault struct {
	What    string // in Slack's words
	Pointer string // JSON pointer
	// Constraint is the rule that was broken (required, enum, max_length …) and
	// Expected what it wants, as blocks.validate tells them.
	Constraint string
	Expected   any
}

// String is the fault in the form that chat.postMessage gives it.
func (f Fault) String() string { return fmt.Sprintf("%s [json-pointer:%s]", f.What, f.Pointer) }

// checker walks blocks and collects what Slack would refuse.
type checker struct {
	on       Surface
	faults   []Fault
	known    map[string]shape // of blocks
	typed    map[string]shape // of everything else that says its type
	untyped  map[string]shape
	only     map[string][]Surface
	blockIDs map[string]bool
	markdown int // characters over all markdown blocks
	tables   int
}

func newChecker(on Surface) *checker {
	c := &checker{on: on, blockIDs: map[string]bool{}, known: blocks(), typed: elements(), untyped: objects(), only: onlyIn()}
	maps.Copy(c.typed, richTexts())
	maps.Copy(c.typed, objects())
	return c
}

// Check finds what Slack would refuse about the blocks of a message or view.
// No fault means that they would be taken.
func Check(bodies []Object, on Surface) []Fault {
	c := newChecker(on)
	most := 50
	if on != Message {
		most = 100
	}
	if len(bodies) > most {
		c.add("/blocks", fmt.Sprintf("no more than %d items allowed", most), "max_items", most)
	}
	for i, b := range bodies {
		c.block(b, fmt.Sprintf("/blocks/%d", i))
	}
	c.sums()
	return c.faults
}

// CheckView finds what Slack would refuse about a view besides its blocks.
func CheckView(view Object) []Fault {
	c := newChecker(Surface(str(view["type"])))
	s, ok := views()[str(view["type"])]
	if !ok {
		c.add("/view/type", "must be one of modal, home", "enum", []string{"modal", "home"})
		return c.faults
	}
	c.fields(view, s, "/view")
	if view["type"] == "modal" && view["submit"] == nil && hasInput(view["blocks"]) {
		c.add("/view/submit", "missing required field: submit", "required", nil)
	}
	return c.faults
}

func views() map[string]shape {
	common := shape{
		"type": someChars(0), "blocks": {want: wantAny}, "private_metadata": chars(3000), "callback_id": chars(255),
		"external_id": chars(255),
	}
	return map[string]shape{
		"home": common.with(),
		"modal": shape{
			"title": needed(plain(24)), "submit": plain(24), "close": plain(24), "clear_on_close": flag(),
			"notify_on_close": flag(), "submit_disabled": flag(),
		}.with(common),
	}
}

func hasInput(v any) bool {
	l, _ := v.([]any)
	return slices.ContainsFunc(l, func(b any) bool { o, _ := b.(Object); return o["type"] == "input" })
}

func (c *checker) add(pointer, what, constraint string, expected any) {
	c.faults = append(c.faults, Fault{what, pointer, constraint, expected})
}

func (c *checker) block(b Object, at string) {
	kind := str(b["type"])
	s, ok := c.known[kind]
	if !ok || !c.shown(kind) {
		c.add(at, "unsupported type: "+kind, "enum", slices.Sorted(maps.Keys(c.known)))
		return
	}
	if id := str(b["block_id"]); id != "" {
		if c.blockIDs[id] {
			c.add(at+"/block_id", "block_id already exists: "+id, "unique", nil)
		}
		c.blockIDs[id] = true
	}
	c.fields(b, s, at)
	c.together(b, kind, at)
}

func (c *checker) shown(kind string) bool {
	only, limited := c.only[kind]
	return !limited || slices.Contains(only, c.on)
}

// fields checks an object against its shape, in a fixed order.
func (c *checker) fields(o Object, s shape, at string) {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		v, f := o[name], s[name]
		switch {
		case v != nil:
			c.value(v, f, at+"/"+name)
		case f.need && f.want == wantString && len(f.enum) == 0 && f.least > 0:
			c.add(at+"/"+name, "must be more than 0 characters", "min_length", 1)
		case f.need:
			c.add(at+"/"+name, "missing required field: "+name, "required", nil)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if _, known := s[name]; !known {
			c.add(at, "invalid additional property: "+name, "additional_property", nil)
		}
	}
}

func (c *checker) value(v any, f field, at string) {
	switch f.want {
	case wantString:
		c.str(v, f, at)
	case wantNumber:
		c.num(v, f, at)
	case wantBool:
		if _, ok := v.(bool); !ok {
			c.add(at, "must provide a boolean", "type", "boolean")
		}
	case wantText:
		c.text(v, f, at)
	case wantObject:
		c.object(v, f, at)
	case wantList:
		c.list(v, f, at)
	case wantStrings:
		c.strings(v, f, at)
	case wantRows:
		c.rows(v, f, at)
	}
}

func (c *checker) str(v any, f field, at string) {
	s, ok := v.(string)
	switch {
	case !ok:
		c.add(at, "must provide a string", "type", "string")
	case len(f.enum) > 0:
		c.enum(s, f, at)
	default:
		c.length(s, f.least, f.most, at)
	}
}

func (c *checker) enum(s string, f field, at string) {
	if !slices.Contains(f.enum, s) {
		c.add(at, "must be one of "+strings.Join(f.enum, ", "), "enum", f.enum)
	}
}

// length counts characters, as Slack does; most 0 means no limit.
func (c *checker) length(s string, least, most int, at string) {
	switch n := utf8.RuneCountInString(s); {
	case n < least:
		c.add(at, fmt.Sprintf("must be more than %d characters", least-1), "min_length", least)
	case most > 0 && n > most:
		c.add(at, fmt.Sprintf("must be less than %d characters", most+1), "max_length", most)
	}
}

func (c *checker) num(v any, f field, at string) {
	n, ok := v.(float64)
	switch {
	case !ok:
		c.add(at, "must provide a number", "type", "number")
	case n < float64(f.least):
		c.add(at, fmt.Sprintf("must be at least %d", f.least), "minimum", f.least)
	case f.most > 0 && n > float64(f.most):
		c.add(at, fmt.Sprintf("must be at most %d", f.most), "maximum", f.most)
	}
}

func (c *checker) text(v any, f field, at string) {
	o, ok := v.(Object)
	if !ok {
		c.add(at, "must provide an object", "type", "object")
		return
	}
	kind := str(o["type"])
	if !slices.Contains(f.types, kind) {
		c.add(at+"/type", "unsupported type: "+kind, "enum", f.types)
		return
	}
	s := c.typed[kind]
	if f.most > 0 && f.most < s["text"].most {
		s = s.with() // a copy: the shape is shared
		s["text"] = needed(someChars(f.most))
	}
	c.fields(o, s, at)
}

func (c *checker) object(v any, f field, at string) {
	o, ok := v.(Object)
	switch {
	case !ok:
		c.add(at, "must provide an object", "type", "object")
	case f.shape != "":
		c.fields(o, c.untyped[f.shape], at)
		c.together(o, f.shape, at)
	default:
		c.part(o, f, at)
	}
}

// part is an object that says its type.
func (c *checker) part(o Object, f field, at string) {
	kind := str(o["type"])
	if !slices.Contains(f.types, kind) || !c.shown(kind) {
		c.add(at, "unsupported type: "+kind, "enum", f.types)
		return
	}
	if kind == "plain_text" || kind == "mrkdwn" {
		c.text(o, field{types: f.types, most: f.each}, at)
		return
	}
	s, ok := c.typed[kind]
	if f.blocks || !ok {
		c.block(o, at)
		return
	}
	c.fields(o, s, at)
	c.together(o, kind, at)
}

func (c *checker) list(v any, f field, at string) {
	l, ok := v.([]any)
	if !ok {
		c.add(at, "must provide an array", "type", "array")
		return
	}
	c.count(len(l), f.least, f.most, at)
	for i, e := range l {
		c.object(e, f, fmt.Sprintf("%s/%d", at, i))
	}
}

func (c *checker) strings(v any, f field, at string) {
	l, ok := v.([]any)
	if !ok {
		c.add(at, "must provide an array", "type", "array")
		return
	}
	c.count(len(l), f.least, f.most, at)
	for i, e := range l {
		c.str(e, field{enum: f.enum}, fmt.Sprintf("%s/%d", at, i))
	}
}

func (c *checker) rows(v any, f field, at string) {
	rows, ok := v.([]any)
	if !ok {
		c.add(at, "must provide an array", "type", "array")
		return
	}
	c.count(len(rows), f.least, f.most, at)
	for i, row := range rows {
		c.list(row, field{least: 1, most: f.each, types: f.types}, fmt.Sprintf("%s/%d", at, i))
	}
}

func (c *checker) count(n, least, most int, at string) {
	switch {
	case n < least:
		c.add(at, fmt.Sprintf("no fewer than %d items allowed", least), "min_items", least)
	case most > 0 && n > most:
		c.add(at, fmt.Sprintf("no more than %d items allowed", most), "max_items", most)
	}
}

func str(v any) string { s, _ := v.(string); return s }
