package manifest

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// encodeJSON writes a value as JSON, which is YAML too.
func encodeJSON(v any) (string, bool) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return "", false
	}
	return strings.TrimSuffix(out.String(), "\n"), true
}

// setting is what stands around a value that is to be written.
type setting struct {
	// json is true in a JSON file, flow within brackets.
	json, flow bool
	// style is how the value was written before.
	style yaml.Style
}

// encodeScalar writes a string, number or boolean so that both dialects of
// YAML in use read it back as just that; in the style of the old value where
// that can be.
func encodeScalar(v any, in setting) (string, bool) {
	s, isString := v.(string)
	if !isString || in.json {
		return encodeJSON(v)
	}
	switch {
	case in.style&yaml.DoubleQuotedStyle != 0:
		return encodeJSON(s)
	case in.style&yaml.SingleQuotedStyle != 0 && !hasControl(s):
		return "'" + strings.ReplaceAll(s, "'", "''") + "'", true
	case in.style&yaml.SingleQuotedStyle == 0 && isPlainSafe(s, in.flow):
		return s, true
	}
	return encodeJSON(s)
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 || r == 0xfeff
	})
}

// otherType matches what some reader of YAML takes for something else than a
// string: booleans and nulls of YAML 1.1, numbers in base 60, dates, what
// merges and what defaults. With two dots it is no number to any of them.
var otherType = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null|~|=|<<|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*|[-+]?[0-9_]*\.?[0-9_]*(e[-+]?[0-9]*)?|[-+]?0[xob].*|[-+]?\.(inf|nan))$`)

// isPlainSafe tells whether a string can stand without quotes.
func isPlainSafe(s string, flow bool) bool {
	if s == "" || hasControl(s) || otherType.MatchString(s) || strings.Contains(s, "{{") {
		return false
	}
	if flow && strings.ContainsAny(s, ",[]{}\"'") {
		return false
	}
	doc := "k: " + s + "\n"
	if flow {
		doc = "k: {k: " + s + ", l: [" + s + "]}\n"
	}
	var want any = s
	if flow {
		want = map[string]any{"k": s, "l": []any{s}}
	}
	return readsAs(doc, want)
}

// readsAs tells whether both dialects read a document as {k: want}.
func readsAs(doc string, want any) bool {
	wanted, _ := encodeJSON(map[string]any{"k": want})
	var one, two map[string]any
	if yaml.Unmarshal([]byte(doc), &one) != nil || sigsyaml.Unmarshal([]byte(doc), &two) != nil {
		return false
	}
	first, ok := encodeJSON(one)
	second, ok2 := encodeJSON(two)
	return ok && ok2 && first == wanted && second == wanted
}

// isScalar tells whether a decoded value is one that is written in one piece.
func isScalar(v any) bool {
	switch v.(type) {
	case nil, map[string]any, []any:
		return false
	}
	return true
}

// exact tells whether two decoded values are the same, types included; only
// Go's types for numbers do not count.
func exact(a, b any) bool {
	x, okX := encodeJSON(a)
	y, okY := encodeJSON(b)
	return okX && okY && x == y
}
