package manifest

import "fmt"

// Class says what kind of refusal it is. Classes are written to records and
// never renamed.
type Class string

// The classes of refusals.
const (
	// SharedSource means that the value's file serves others too.
	SharedSource Class = "shared-without-overlay"
	// MachineWritten means that a program owns the file or the value.
	MachineWritten Class = "machine-written"
	// Encrypted means a Secret, or a file that is encrypted.
	Encrypted Class = "encrypted"
	// Masked means that the value at hand is a mask, not the value.
	Masked Class = "masked"
	// Ambiguous means that more than one place may supply the value.
	Ambiguous Class = "ambiguous-supplier"
	// UnsupportedTool means that the source can't be rendered here.
	UnsupportedTool Class = "unsupported-tool"
	// TouchesOthers means that the edit would change something else.
	TouchesOthers Class = "would-touch-others"
	// ProofFailed means that rendering does not show what was asked.
	ProofFailed Class = "proof-failed"
	// Structure means a change of shape, where only values can be edited.
	Structure Class = "structure"
	// NotInGit means that something outside of the repository supplies the
	// value.
	NotInGit Class = "supplier-not-in-git"
	// NotFound means that Git has nothing at that place.
	NotFound Class = "not-found"
	// Stale means that Git says something else than was taken for granted.
	Stale Class = "stale"
	// Already means that Git says so already.
	Already Class = "already-in-git"
	// Autoscaled means that an autoscaler owns the field.
	Autoscaled Class = "autoscaled"
	// NotForGit means a field that the cluster keeps for itself.
	NotForGit Class = "not-for-git"
	// Unreadable means that a file is no manifest that can be edited.
	Unreadable Class = "unreadable"
	// Immutable means that the target follows a revision that no commit moves.
	Immutable Class = "immutable-revision"
	// NonDeterministic means that the value is another in every render.
	NonDeterministic Class = "non-deterministic-render"
	// HardCoded means that a template holds the value.
	HardCoded Class = "hard-coded"
	// TooLarge means that a bound was reached.
	TooLarge Class = "too-large"
)

// Refusal is the answer to a change that can't be made safely.
type Refusal struct {
	Class Class
	// Why is the reason, Hint the nearest thing a person can do.
	Why  string
	Hint string
}

func (r *Refusal) Error() string { return r.Why }

func refuse(class Class, hint, why string, args ...any) *Refusal {
	return &Refusal{Class: class, Why: fmt.Sprintf(why, args...), Hint: hint}
}
