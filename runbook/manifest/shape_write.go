package manifest

import (
	"bytes"
	"maps"
	"slices"
	"strings"
)

// newLines puts lines at the beginning of one, indented.
func (t *text) newLines(at, indent int, lines []string) splice {
	eol, lead := t.lineEnding(), strings.Repeat(" ", indent)
	body := lead + strings.Join(lines, eol+lead)
	if at == len(t.content) && !bytes.HasSuffix(t.content, []byte("\n")) {
		return splice{at, at, eol + body}
	}
	return splice{at, at, body + eol}
}

// writePair writes a key and its value as lines without indent.
func writePair(key string, value any) ([]string, bool) {
	name, ok := encodeScalar(key, setting{})
	if !ok {
		return nil, false
	}
	lines, inline, ok := writeValue(value)
	if inline {
		return []string{name + ": " + lines[0]}, ok
	}
	_, isList := value.([]any)
	for i := range lines {
		if !isList {
			lines[i] = "  " + lines[i]
		}
	}
	return append([]string{name + ":"}, lines...), ok
}

// writeItem writes a list's item as lines without indent.
func writeItem(value any) ([]string, bool) {
	lines, _, ok := writeValue(value)
	for i := range lines {
		if i == 0 {
			lines[i] = "- " + lines[i]
		} else {
			lines[i] = "  " + lines[i]
		}
	}
	return lines, ok
}

// writeValue writes a value as lines. A scalar and what is empty have one
// line that may follow a key.
func writeValue(value any) (lines []string, inline, ok bool) {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			return []string{"{}"}, true, true
		}
		for _, key := range nameFirst(v) {
			more, ok := writePair(key, v[key])
			if !ok {
				return []string{""}, false, false
			}
			lines = append(lines, more...)
		}
		return lines, false, true
	case []any:
		if len(v) == 0 {
			return []string{"[]"}, true, true
		}
		for _, item := range v {
			more, ok := writeItem(item)
			if !ok {
				return []string{""}, false, false
			}
			lines = append(lines, more...)
		}
		return lines, false, true
	}
	text, ok := encodeScalar(value, setting{})
	return []string{text}, true, ok
}

// nameFirst orders a map's keys as people write them.
func nameFirst(m map[string]any) []string {
	keys := slices.Sorted(maps.Keys(m))
	if i := slices.Index(keys, "name"); i > 0 {
		keys = slices.Insert(slices.Delete(keys, i, i+1), 0, "name")
	}
	return keys
}
