package manifest

import (
	"encoding/json"
	"testing"
)

func TestSameMeaning(t *testing.T) {
	cpu, _ := ParsePath("spec.containers[name=web].resources.limits.cpu")
	resources, _ := ParsePath("spec.containers[name=web].resources")
	env, _ := ParsePath("spec.containers[name=web].env[name=A].value")
	average, _ := ParsePath("spec.metrics[0].resource.target.averageValue")
	for name, c := range map[string]struct {
		path Path
		a, b any
		want bool
	}{
		"numbers of two types":              {nil, int64(3), float64(3), true},
		"a number from a decoder":           {nil, json.Number("3"), 3, true},
		"different numbers":                 {nil, 3, 4, false},
		"large numbers":                     {nil, int64(9007199254740993), int64(9007199254740992), false},
		"a port as text":                    {nil, "80", int64(80), true},
		"a quantity as number":              {nil, "1", int64(1), true},
		"text and number that differ":       {nil, "http", int64(80), false},
		"a boolean and its text":            {nil, true, "true", false},
		"nothing and null":                  {nil, nil, nil, true},
		"nothing and empty text":            {nil, nil, "", false},
		"cores and millicores":              {cpu, "1000m", "1", true},
		"half a core":                       {cpu, "0.5", "500m", true},
		"other cores":                       {cpu, "1000m", "2", false},
		"gibibytes within a map":            {resources, map[string]any{"limits": map[string]any{"memory": "3072Mi"}}, map[string]any{"limits": map[string]any{"memory": "3Gi"}}, true},
		"an average":                        {average, "1000M", "1G", true},
		"an environment variable":           {env, "1000m", "1", false},
		"text that looks like a quantity":   {nil, "1.0", "1", false},
		"maps":                              {nil, map[string]any{"a": 1, "b": nil}, map[string]any{"a": int64(1)}, true},
		"a key more":                        {nil, map[string]any{"a": 1}, map[string]any{"a": 1, "b": ""}, false},
		"lists":                             {nil, []any{1, "a"}, []any{int64(1), "a"}, true},
		"lists in another order":            {nil, []any{1, 2}, []any{2, 1}, false},
		"a list and a map":                  {nil, []any{}, map[string]any{}, false},
		"an exponent of a million":          {cpu, "1e1000000", "1e1000001", false},
		"a number with a million for power": {nil, json.Number("1e1000000"), json.Number("2e1000000"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := SameAt(c.path, c.a, c.b); got != c.want {
				t.Errorf("got %t", got)
			}
			if got := SameAt(c.path, c.b, c.a); got != c.want {
				t.Errorf("the other way round: got %t", got)
			}
		})
	}
}
