package commands

import (
	"slices"

	"reconcilebot/commands/access"
)

// Rights says what a command or a button takes, by its name; any one of them
// is enough. A right is known by its own name, too: the policy gives it
// before there is a command for it.
func Rights(name string) ([]access.Right, bool) {
	for _, r := range table() {
		if r.name == name {
			return []access.Right{r.who}, true
		}
	}
	if need, ok := rightsOf()[name]; ok {
		return need, true
	}
	for _, right := range []access.Right{access.See, access.Decide, access.Approve, access.Pause, access.Override} {
		if right.String() == name {
			return []access.Right{right}, true
		}
	}
	return nil, false
}

// Grantable lists the names that Rights knows, in order.
func Grantable() []string {
	var list []string
	for _, r := range table() {
		list = append(list, r.name)
	}
	for action := range rightsOf() {
		list = append(list, action)
	}
	list = append(list, "see", "decide", "pause", "override")
	slices.Sort(list)
	return slices.Compact(list)
}
