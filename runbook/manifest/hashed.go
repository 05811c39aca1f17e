package manifest

import (
	"fmt"
	"regexp"
)

// hashed matches a name that ends in Kustomize's hash of the content.
//
// Source: kustomize api v0.17.2, hasher/hasher.go, encode.
var hashed = regexp.MustCompile(`^(.+)-[bcdfghkmt2456789]{10}$`)

// generatedName is a generated object's name without its hash.
func generatedName(r Resource) (base string, ok bool) {
	if !r.hashed {
		return "", false
	}
	m := hashed.FindStringSubmatch(r.Object().Name)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// rename gives the object that changes the name that its new content has, in
// what is wanted, also where others refer to it, if it is generated. It tells
// what it renamed.
//
// A reference that does not follow stays different from what is wanted.
func rename(want, after []Resource, i int) []string {
	base, ok := generatedName(want[i])
	now, okNow := generatedName(after[i])
	from, to := want[i].Object().Name, after[i].Object().Name
	if !ok || !okNow || base != now || from == to {
		return nil
	}
	for j := range want {
		want[j].Content, _ = replaceName(want[j].Content, from, to).(map[string]any)
	}
	return []string{fmt.Sprintf("the generated %s %s becomes %s, and so do references to it", want[i].Object().Kind, from, to)}
}

// replaceName gives a copy of a value in which every string that is a name is
// another one.
func replaceName(v any, from, to string) any {
	switch v := v.(type) {
	case string:
		if v == from {
			return to
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = replaceName(item, from, to)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = replaceName(item, from, to)
		}
		return out
	}
	return v
}
