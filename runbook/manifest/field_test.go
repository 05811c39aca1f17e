package manifest

import (
	"encoding/json"
	"testing"
)

func TestFieldsOfDecodedObjects(t *testing.T) {
	const object = `{"spec":{"replicas":3,"list":[{"name":"a","v":1},{"name":"b","v":2}],"args":["x","y"]}}`
	for name, c := range map[string]struct {
		path   string
		value  any // nil removes
		want   string
		failed bool
	}{
		"a value":                    {path: "spec.replicas", value: 6, want: `{"spec":{"args":["x","y"],"list":[{"name":"a","v":1},{"name":"b","v":2}],"replicas":6}}`},
		"a new key":                  {path: `spec["a.b"]`, value: 6, want: `{"spec":{"a.b":6,"args":["x","y"],"list":[{"name":"a","v":1},{"name":"b","v":2}],"replicas":3}}`},
		"in a list item":             {path: "spec.list[name=b].v", value: 6, want: `{"spec":{"args":["x","y"],"list":[{"name":"a","v":1},{"name":"b","v":6}],"replicas":3}}`},
		"a new list item":            {path: "spec.list[name=c]", value: map[string]any{"name": "c"}, want: `{"spec":{"args":["x","y"],"list":[{"name":"a","v":1},{"name":"b","v":2},{"name":"c"}],"replicas":3}}`},
		"a scalar item by position":  {path: "spec.args[1]", value: "z", want: `{"spec":{"args":["x","z"],"list":[{"name":"a","v":1},{"name":"b","v":2}],"replicas":3}}`},
		"without a value":            {path: "spec.replicas", want: `{"spec":{"args":["x","y"],"list":[{"name":"a","v":1},{"name":"b","v":2}]}}`},
		"without a list item":        {path: "spec.list[name=a]", want: `{"spec":{"args":["x","y"],"list":[{"name":"b","v":2}],"replicas":3}}`},
		"without a scalar item":      {path: "spec.args[=x]", want: `{"spec":{"args":["y"],"list":[{"name":"a","v":1},{"name":"b","v":2}],"replicas":3}}`},
		"without what is not there":  {path: "spec.none", failed: true},
		"in a map that is not there": {path: "spec.none.x", value: 1, failed: true},
		"in a value":                 {path: "spec.replicas.x", value: 1, failed: true},
		"behind the list's end":      {path: "spec.args[2]", value: 1, failed: true},
		"nowhere":                    {path: "", value: 1, failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			var o map[string]any
			if err := json.Unmarshal([]byte(object), &o); err != nil {
				t.Fatal(err)
			}
			p, err := ParsePath(c.path)
			if err != nil {
				t.Fatal(err)
			}
			if c.value == nil {
				err = p.Remove(o)
			} else {
				err = p.Set(o, c.value)
			}
			if (err != nil) != c.failed {
				t.Fatalf("failed: %v", err)
			}
			if got, _ := encodeJSON(o); !c.failed && got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got, found := p.Get(o); !c.failed && (found != (c.value != nil) || found && !exact(got, c.value)) {
				t.Errorf("read back: %v, %t", got, found)
			}
		})
	}
}
