package manifest

import (
	"bytes"
	"strings"

	"gopkg.in/yaml.v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// maxSteps bounds how deep a value may be: far deeper than any chart's.
const maxSteps = 100

// setValue makes a document of values say a value.
func (d document) setValue(set valueSetting) (content []byte, line int, hint string, r *Refusal) {
	if d.t.err != nil {
		return nil, 0, "", refuse(Unreadable, "Mend the file first.", "%s can't be read", d.file)
	}
	if len(set.path) > maxSteps {
		return nil, 0, "", refuse(TooLarge, byHand, "the value lies more than %d keys deep", maxSteps)
	}
	if d.root == nil {
		content, line, r = d.first(set)
		return content, line, "", r
	}
	c := Change{Path: set.path, Op: Set, Live: set.value}
	at, missing := locate(d.root, set.path)
	switch {
	case set.remove:
		c.Op = Remove
	case missing != nil || at.value == nil:
		c.Op = Add
	}
	if c.Op == Set && isScalar(c.Live) && resolve(at.value).Kind == yaml.ScalarNode && resolve(at.value).Tag != "!!null" || c.Op == Remove {
		return d.edited(d.t.edit(d.file, d.root, c, true))
	}
	if list, isList := c.Live.([]any); c.Op == Set && isList && len(list) > 0 {
		if content, line, hint, r = d.edited(d.t.edit(d.file, d.root, c, true)); r == nil {
			return content, line, hint, nil
		}
	}
	if c.Op == Add && c.Live != nil {
		if content, line, hint, r = d.edited(d.t.edit(d.file, d.root, c, true)); r == nil {
			return content, line, hint, nil
		}
	}
	content, line, r = d.fill(set)
	return content, line, "", r
}

func (d document) edited(e edited, r *Refusal) ([]byte, int, string, *Refusal) {
	hint := e.hint
	if strings.HasPrefix(hint, "Git has not stated") {
		hint = ""
	}
	return e.content, e.line, hint, r
}

// first writes the first value of a document that has none.
func (d document) first(set valueSetting) ([]byte, int, *Refusal) {
	no := refuse(Structure, byHand, "%s holds no values that could be changed", d.file)
	if set.remove || len(set.path) == 0 || len(bytes.TrimSpace(withoutComments(d.t.content))) > 0 {
		return nil, 0, no
	}
	grown, err := grow(nil, set.path, set.value)
	if err != nil {
		return nil, 0, no
	}
	values, _ := grown.(map[string]any)
	var lines []string
	for key, v := range values {
		more, ok := writePair(key, v)
		if !ok {
			return nil, 0, no
		}
		lines = append(lines, more...)
	}
	eol := d.t.lineEnding()
	content := bytes.Clone(d.t.content)
	if len(content) > 0 && !bytes.HasSuffix(content, []byte("\n")) {
		content = append(content, eol...)
	}
	line := 1 + bytes.Count(content, []byte("\n"))
	content = append(content, strings.Join(lines, eol)+eol...)
	return content, line, checkValues(d.t.content, content, set)
}

func withoutComments(content []byte) []byte {
	var out []byte
	for line := range bytes.Lines(bytes.TrimPrefix(content, bom)) {
		if text := bytes.TrimSpace(line); !bytes.HasPrefix(text, []byte("#")) && !bytes.Equal(text, []byte("---")) && !bytes.Equal(text, []byte("{}")) {
			out = append(out, line...)
		}
	}
	return out
}

// fill writes a value where an empty map, an empty list or nothing is: the
// deepest of them on the way to it.
func (d document) fill(set valueSetting) ([]byte, int, *Refusal) {
	no := refuse(Structure, "Set "+set.path.String()+" by hand.", "%s can't be written at its place in %s", set.path, d.file)
	for n := len(set.path); n > 0; n-- {
		at, r := locate(d.root, set.path[:n])
		if r != nil {
			continue
		}
		if at.value == nil {
			if n == len(set.path) && set.value == nil {
				return d.addNull(set, at)
			}
			continue
		}
		if at.through != nil || at.value.Kind == yaml.AliasNode || at.value.Anchor != "" || at.flow || !isHollow(at.value) {
			return nil, 0, no
		}
		value, err := grow(nil, set.path[n:], set.value)
		if err != nil || value == nil {
			return nil, 0, no
		}
		content, line, ok := d.replaceHollow(at, value)
		if !ok {
			return nil, 0, no
		}
		return content, line, checkValues(d.t.content, content, set)
	}
	return nil, 0, no
}

// addNull writes a null, which takes a default away.
func (d document) addNull(set valueSetting, at spot) ([]byte, int, *Refusal) {
	s, r := d.t.spliceKey(at.parent, at.key, jsonNull, setting{flow: at.flow})
	if r != nil {
		return nil, 0, r
	}
	content := s.apply(d.t.content)
	return content, d.t.lineAt(s.start), checkValues(d.t.content, content, set)
}

// jsonNull is written as null.
var jsonNull = rawNull{}

type rawNull struct{}

// MarshalJSON writes null.
func (rawNull) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// isHollow tells whether a node is an empty map or list, or null.
func isHollow(n *yaml.Node) bool {
	return len(n.Content) == 0 && (n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode || n.Kind == yaml.ScalarNode && (n.Tag == "!!null" || n.Value == ""))
}

// replaceHollow writes lines in the place of what is hollow, below its key. A
// comment behind it stays behind the key.
func (d document) replaceHollow(at spot, value any) (content []byte, line int, ok bool) {
	t := d.t
	if at.parent == nil || at.parent.Kind != yaml.MappingNode {
		return nil, 0, false
	}
	i := keyIndex(at.parent, at.key)
	if i < 0 {
		return nil, 0, false
	}
	key := at.parent.Content[i]
	keyAt, ok := t.offset(key)
	start, okValue := t.offset(at.value)
	if !ok || !okValue || t.lineAt(keyAt) != t.lineAt(start) {
		return nil, 0, false
	}
	end := start
	rest := t.content[start:]
	for _, written := range []string{"{}", "[]", "null", "~", `""`, "''"} {
		if bytes.HasPrefix(rest, []byte(written)) {
			end = start + len(written)
			break
		}
	}
	lineEnd := end
	for lineEnd < len(t.content) && t.content[lineEnd] != '\n' {
		lineEnd++
	}
	behind := strings.TrimRight(string(t.content[end:lineEnd]), "\r")
	if after := strings.TrimSpace(behind); after != "" && !strings.HasPrefix(after, "#") {
		return nil, 0, false
	}
	for start > 0 && isBlank(t.content[start-1]) {
		start--
	}
	eol := t.lineEnding()
	if isScalar(value) {
		text, ok := encodeScalar(value, setting{})
		s := splice{start, end, " " + text}
		return s.apply(t.content), t.lineAt(start), ok
	}
	lines, inline, ok := writeValue(value)
	if !ok || inline {
		return nil, 0, false
	}
	lead := strings.Repeat(" ", key.Column-1+2)
	written := strings.TrimRight(behind, " \t") + eol + lead + strings.Join(lines, eol+lead)
	if strings.TrimSpace(behind) == "" {
		written = eol + lead + strings.Join(lines, eol+lead)
	}
	return splice{start, end + len(behind), written}.apply(t.content), t.lineAt(start), true
}

// checkValues reads values before and after an edit, in both dialects of YAML,
// and tells whether that one value is what has changed.
func checkValues(before, after []byte, set valueSetting) *Refusal {
	no := refuse(ProofFailed, byHand, "the edit would change more in the file than the one value")
	for _, read := range []func([]byte, any) error{yaml.Unmarshal, func(raw []byte, into any) error { return sigsyaml.Unmarshal(raw, into) }} {
		was, is := map[string]any{}, map[string]any{}
		if read(before, &was) != nil || read(after, &is) != nil {
			return no
		}
		if was == nil { // for a document that is null
			was = map[string]any{}
		}
		want, err := grow(was, set.path, set.value)
		if err != nil || !exact(want, is) {
			return no
		}
	}
	return nil
}
