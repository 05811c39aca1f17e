package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Path leads from an object to one of its fields. List items are named by
// what they hold rather than by their position, which moves:
//
//	spec.template.spec.containers[name=web].image
//	metadata.annotations["a.b/c"]
//	spec.ports[port=80,protocol=TCP].targetPort
//	metadata.finalizers[=example.com/wait]
//	spec.rules[0].host
type Path []Elem

// Elem is one step of a path: a map key if neither Item nor Pos is set.
type Elem struct {
	// Key is the map's key.
	Key string
	// Item picks the list item whose fields have these values. The empty
	// field name stands for the item itself, if it is a scalar. Values are
	// written as text: 80, true, web.
	Item map[string]string
	// Pos picks the list item by position, counted from 1 so that 0 means
	// none; the path's text counts from 0.
	Pos int
}

// Key is the step to a map's key.
func Key(key string) Elem { return Elem{Key: key} }

// Item is the step to the list item in which field has the value.
func Item(field, value string) Elem { return Elem{Item: map[string]string{field: value}} }

// At is the step to the list item at an index, counted from 0.
func At(index int) Elem { return Elem{Pos: index + 1} }

// Index is the position of a list item, counted from 0.
func (e Elem) Index() (index int, ok bool) { return e.Pos - 1, e.Pos > 0 }

// Equal tells whether two steps are the same.
func (e Elem) Equal(o Elem) bool {
	return e.Key == o.Key && e.Pos == o.Pos && maps.Equal(e.Item, o.Item)
}

// Equal tells whether two paths are the same.
func (p Path) Equal(o Path) bool { return slices.EqualFunc(p, o, Elem.Equal) }

// Child is the path one step further; p itself stays as it is.
func (p Path) Child(e Elem) Path { return append(slices.Clip(p), e) }

// String writes the path as ParsePath reads it.
func (p Path) String() string {
	var b strings.Builder
	for i, e := range p {
		switch {
		case e.Pos > 0:
			fmt.Fprintf(&b, "[%d]", e.Pos-1)
		case e.Item != nil:
			b.WriteByte('[')
			for j, field := range slices.Sorted(maps.Keys(e.Item)) {
				if j > 0 {
					b.WriteByte(',')
				}
				if field != "" {
					b.WriteString(quoteUnless(field, isBareKey))
				}
				b.WriteByte('=')
				b.WriteString(quoteUnless(e.Item[field], isBareValue))
			}
			b.WriteByte(']')
		case isBareKey(e.Key):
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(e.Key)
		default:
			b.WriteString("[" + quote(e.Key) + "]")
		}
	}
	return b.String()
}

// MarshalText writes the path as String does.
func (p Path) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (p *Path) UnmarshalText(text []byte) (err error) {
	*p, err = ParsePath(string(text))
	return err
}

func quoteUnless(s string, bare func(string) bool) string {
	if bare(s) {
		return s
	}
	return quote(s)
}

// quote writes a JSON string, which is the one quoting that people meet in
// manifests, too.
func quote(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		return strconv.Quote(s)
	}
	return string(raw)
}

// isBareKey tells whether a key can stand in a path without quotes. One that
// looks like an index can't, nor one that separates.
func isBareKey(s string) bool { return isBare(s, `.[]=,"`) && !isDigits(s) }

func isBareValue(s string) bool { return isBare(s, `[],"`) }

func isBare(s, special string) bool {
	return s != "" && utf8.ValidString(s) && !strings.ContainsAny(s, special) && strings.IndexFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}) < 0
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
