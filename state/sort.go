package state

import (
	"encoding/json"
	"slices"
	"time"
)

func sortBy[T any](list []T, at func(T) time.Time) {
	slices.SortStableFunc(list, func(a, b T) int { return at(a).Compare(at(b)) })
}

// encode is for values that state itself defines, which always encode.
func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage(`null`)
	}
	return raw
}
