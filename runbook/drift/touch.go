package drift

import (
	"slices"
	"strconv"
	"strings"

	kjson "k8s.io/apimachinery/pkg/util/json"

	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/manifest"
)

// touch is what a write did to a field.
type touch int

const (
	// untouched: the request does not mention it.
	untouched touch = iota
	// same: the request left it as it is now.
	same
	// other: the request made it something else.
	other
	// unsaid: the audit log does not tell the request, or the listener did not
	// keep what it wrote here, because it looks like a credential.
	unsaid
)

// touches tells what a write did to a field, from its request.
func touches(w cluster.Write, f field) touch {
	if strings.HasPrefix(w.Verb, "delete") {
		return untouched
	}
	if w.Object.Subresource == "scale" && f.path.String() != "spec.replicas" {
		return untouched
	}
	if len(w.Body) == 0 {
		return unsaid
	}
	var body any
	if kjson.Unmarshal(w.Body, &body) != nil {
		return unsaid
	}
	if ops, ok := body.([]any); ok {
		return touchedByOps(ops, f)
	}
	return touchedBy(body, f, w.Verb)
}

// touchedBy reads a whole object, or a patch that has an object's shape.
func touchedBy(body any, f field, verb string) touch {
	v := body
	for _, e := range f.path {
		m, isMap := v.(map[string]any)
		if isMap && has(m, e.Key) && m[e.Key] == nil && verb == "patch" {
			return removal(f)
		}
		next, ok := step(v, e)
		if !ok {
			if verb == "update" || deleted(v, e) {
				return removal(f)
			}
			return untouched
		}
		v = next
	}
	if m, ok := v.(map[string]any); ok && m["$patch"] == "delete" || v == nil {
		return removal(f)
	}
	switch {
	case f.live == nil:
		return verdict(verb == "patch" && takesAll(v))
	case hidden(v):
		return unsaid
	}
	return verdict(agrees(f.path, v, f.live))
}

// takesAll tells whether a part of a patch does nothing but take away: what
// became empty is left out by the API server as a whole.
func takesAll(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		if v["$patch"] == "delete" {
			return true
		}
		for key, part := range v {
			if !strings.HasPrefix(key, "$") && !takesAll(part) {
				return false
			}
		}
		return len(v) > 0
	case []any:
		return len(v) > 0 && !slices.ContainsFunc(v, func(part any) bool { return !takesAll(part) })
	}
	return v == nil
}

// hidden tells whether a part of what was written is masked.
func hidden(v any) bool {
	switch v := v.(type) {
	case string:
		return v == scrubbed
	case map[string]any:
		for _, part := range v {
			if hidden(part) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hidden)
	}
	return false
}

// deleted tells whether a strategic merge patch takes a list's item away: an
// item with its key and $patch: delete.
func deleted(v any, e manifest.Elem) bool {
	items, _ := v.([]any)
	for _, item := range items {
		if m, ok := item.(map[string]any); ok && m["$patch"] == "delete" && fits(item, e.Item) && e.Item != nil {
			return true
		}
	}
	return false
}

// agrees compares what was written with what is there now. The API server
// completes what it is given, so that of a written object every part must be
// there, and not the other way round.
func agrees(path manifest.Path, wrote, live any) bool {
	switch w := wrote.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		for key, v := range w {
			if !ok || !strings.HasPrefix(key, "$") && !agrees(path.Child(manifest.Key(key)), v, l[key]) {
				return false
			}
		}
		return ok
	case []any:
		l, ok := live.([]any)
		if !ok || len(l) != len(w) {
			return false
		}
		for i := range w {
			if !agrees(path.Child(manifest.At(i)), w[i], l[i]) {
				return false
			}
		}
		return true
	}
	return manifest.SameAt(path, wrote, live)
}

// scrubbed is what the audit listener puts in the place of credentials.
const scrubbed = "********"

func removal(f field) touch { return verdict(f.live == nil) }

func verdict(agrees bool) touch {
	if agrees {
		return same
	}
	return other
}

// touchedByOps reads a JSON patch (RFC 6902). List positions are taken to fit,
// since what they pointed at then is not known.
func touchedByOps(ops []any, f field) touch {
	result := untouched
	for _, op := range ops {
		m, _ := op.(map[string]any)
		verb, at := text(m, "op"), pointer(text(m, "path"))
		within := len(at) > len(f.path)
		if verb == "test" || !onPath(at[:min(len(at), len(f.path))], f.path) {
			continue
		}
		switch {
		case within && f.live == nil:
			// The last part of it was taken away, or the only one replaced.
			result = verdict(verb == "remove")
		case within:
			result = belowBy(verb, at[len(f.path):], m["value"], f.live)
		case verb == "remove":
			result = removal(f)
		case hidden(m["value"]):
			result = unsaid
		case len(at) == len(f.path):
			result = verdict(f.live != nil && agrees(f.path, m["value"], f.live))
		case f.live != nil:
			result = same
		default:
			result = other
		}
	}
	return result
}

// belowBy tells what an operation on a part of a field did to it.
func belowBy(verb string, at []string, wrote, live any) touch {
	for _, part := range at {
		switch in := live.(type) {
		case map[string]any:
			live = in[part]
		case []any:
			i, err := strconv.Atoi(part)
			if part == "-" {
				i, err = len(in)-1, nil
			}
			if err != nil || i < 0 || i >= len(in) {
				return other
			}
			live = in[i]
		default:
			return other
		}
	}
	switch {
	case verb == "remove":
		return verdict(live == nil)
	case hidden(wrote):
		return unsaid
	}
	return verdict(live != nil && agrees(nil, wrote, live))
}

// pointer splits a JSON pointer (RFC 6901).
func pointer(s string) []string {
	parts := strings.Split(strings.TrimPrefix(s, "/"), "/")
	for i := range parts {
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(parts[i])
	}
	return parts
}

// onPath tells whether a pointer leads to a path or to something above it.
func onPath(at []string, path manifest.Path) bool {
	if len(at) > len(path) {
		return false
	}
	for i, part := range at {
		if path[i].Item == nil && path[i].Pos == 0 {
			if path[i].Key != part {
				return false
			}
			continue
		}
		if _, err := strconv.Atoi(part); err != nil && part != "-" {
			return false
		}
	}
	return true
}
