package forge

import (
	"fmt"
	"maps"
	"slices"
)

// Rights are what a GitHub App or a fine-grained token may do: "read", "write"
// or "admin", by GitHub's names.
// https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
type Rights map[string]string

// Needed is a right that the bot asks for, and why.
type Needed struct {
	Name, Level, Why string
	// Optional tells that the bot works without it, and knows less.
	Optional bool
}

// NeededRights are all that the bot uses, and the least that it works with.
// The names are those of the REST interface.
func NeededRights() []Needed {
	return []Needed{
		{"metadata", "read", "to see the repositories at all", false},
		{"contents", "write", "to read manifests, push the branch and merge", false},
		{"pull_requests", "write", "to open the pull request and follow it", false},
		{"checks", "read", "to wait for checks, and name those that fail", false},
		{"statuses", "read", "to wait for statuses, and name those that fail", false},
		{"administration", "read", "to say beforehand how many reviews a protected branch needs; rulesets are seen without it", true},
		{"members", "read", "to know who is in a team that approves or owns files", true},
	}
}

// levels are in their order: each includes those before.
var levels = []string{"", "read", "write", "admin"}

// Has tells whether a right of at least that level is there.
func (r Rights) Has(name, level string) bool {
	return slices.Index(levels, r[name]) >= slices.Index(levels, level)
}

// Missing are those of the needed rights that are not there.
func (r Rights) Missing() (missing []Needed) {
	for _, n := range NeededRights() {
		if !r.Has(n.Name, n.Level) {
			missing = append(missing, n)
		}
	}
	return missing
}

// Excess are the rights that nothing of the bot's uses, as "name: level", in
// the order of their names. Those that something beside it uses are not
// counted.
func (r Rights) Excess(beside ...string) (excess []string) {
	for _, name := range slices.Sorted(maps.Keys(r)) {
		level := r[name]
		i := slices.IndexFunc(NeededRights(), func(n Needed) bool { return n.Name == name })
		switch {
		case slices.Contains(beside, name):
		case i < 0:
			excess = append(excess, name+": "+level)
		case slices.Index(levels, level) > slices.Index(levels, NeededRights()[i].Level):
			excess = append(excess, fmt.Sprintf("%s: %s, where %s is enough", name, level, NeededRights()[i].Level))
		}
	}
	return excess
}
