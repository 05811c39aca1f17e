package card

import (
	"strings"

	"reconcilebot/state"
)

// Carry makes the value of a button or the metadata of a modal: ids only, and
// none of them believed when it comes back.
func Carry(id state.ReconciliationID, digest string, flags ...string) string {
	return strings.Join(append([]string{string(id), digest}, flags...), "|")
}

// Carried takes apart what Carry made; flag is the first flag, if any.
func Carried(value string) (id state.ReconciliationID, digest, flag string) {
	parts := append(strings.SplitN(value, "|", 3), "", "")
	return state.ReconciliationID(parts[0]), parts[1], parts[2]
}

// FlagNotMine is carried by the button of a voter who was asked whether the
// change was his, and said that it was not.
const FlagNotMine = "not-mine"
