package commands

import (
	"encoding/json"

	"reconcilebot/state"
)

// entry is a journal entry that belongs to no change of a record.
func entry(kind string, by state.Person, data map[string]string) state.Entry {
	raw, err := json.Marshal(data)
	if err != nil { // strings always encode
		raw = nil
	}
	return state.Entry{Kind: kind, By: by, Data: raw}
}
