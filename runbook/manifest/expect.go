package manifest

import (
	"encoding/json"
	"fmt"
)

// expect gives an object as it is to be rendered after a change. The object
// itself stays as it is.
func (c Change) expect(object map[string]any) (map[string]any, error) {
	out, _ := clone(object).(map[string]any)
	if c.Op == Remove {
		return out, c.Path.Remove(out)
	}
	grown, err := grow(out, c.Path, c.Live)
	out, _ = grown.(map[string]any)
	return out, err
}

// grow writes a value at a path below v and makes the maps and lists on the
// way that are missing.
func grow(v any, path Path, value any) (any, error) {
	if len(path) == 0 {
		return value, nil
	}
	e := path[0]
	if v == nil && e.Item != nil {
		v = []any{}
	} else if v == nil && e.Pos == 0 {
		v = map[string]any{}
	}
	switch x := v.(type) {
	case map[string]any:
		if e.Item != nil || e.Pos > 0 {
			break
		}
		next, err := grow(x[e.Key], path[1:], value)
		x[e.Key] = next
		return x, err
	case []any:
		i := itemIndex(x, e)
		if i < 0 && e.Item != nil && len(path) == 1 {
			return append(x, value), nil
		}
		if i < 0 {
			break
		}
		next, err := grow(x[i], path[1:], value)
		x[i] = next
		return x, err
	}
	return v, fmt.Errorf("write %s: there is nothing that could hold it", path)
}

func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = clone(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = clone(item)
		}
		return out
	}
	return v
}

// remarshal turns a decoded value into a typed one, by way of JSON.
func remarshal(v, into any) error {
	text, ok := encodeJSON(v)
	if !ok {
		return fmt.Errorf("write %T as JSON", v)
	}
	return json.Unmarshal([]byte(text), into)
}
