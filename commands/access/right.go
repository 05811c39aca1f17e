package access

// Right is what something takes.
type Right int

// The rights. Those from See on are rights on a target, which a rule of the
// policy gives.
const (
	// Anyone may: it shows nothing and does nothing.
	Anyone Right = iota
	// Full is for every full member of the workspace.
	Full
	See
	Decide
	Approve
	// Pause is to keep a target from being reconciled for a while.
	Pause
	// Override is to go on without the approval that is asked for, loudly.
	Override
)

// OnTarget tells whether the policy is asked about a target.
func (r Right) OnTarget() bool { return r >= See }

// String is the right's name in the config.
func (r Right) String() string {
	return [...]string{Anyone: "anyone", Full: "full member", See: "see", Decide: "decide", Approve: "approve", Pause: "pause", Override: "override"}[r]
}

// Words say who has the right, for help.
func (r Right) Words() string {
	return [...]string{
		Anyone:   "anyone",
		Full:     "every full member of the workspace",
		See:      "whom the policy lets see the target",
		Decide:   "whom the policy lets decide about the target",
		Approve:  "whom the policy lets approve for the target, except who asked and who made the change",
		Pause:    "whom the policy lets pause the target",
		Override: "whom the policy lets override approvals for the target",
	}[r]
}

// doing is the right within a sentence: "You can't decide about web".
func (r Right) doing() string {
	return [...]string{Anyone: "look at", Full: "look at", See: "see", Decide: "decide about", Approve: "approve for", Pause: "pause", Override: "override approvals for"}[r]
}

// forEveryone tells whether a rule may give the right to everyone at once.
func (r Right) forEveryone() bool { return r == See || r == Decide || r == Pause }

// named tells whether the right takes somebody whom the map of people knows
// under all names: else nobody could tell that the change is their own.
func (r Right) named() bool { return r == Approve || r == Override }
