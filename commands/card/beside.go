package card

import (
	"fmt"
	"strings"

	"reconcilebot/runbook/drift"
)

// Beside is another target on the same branch with changes that Git does not
// have. When the branch moves, Argo CD syncs every target on it, also with
// self-heal off, and with that undoes what was changed by hand there.
type Beside struct {
	Target drift.Target
	// Changes is how many are open there.
	Changes int
	// Elsewhere is true where it is dealt with in another channel, whose
	// people need not be those of this one: it has no name here then.
	Elsewhere bool
}

// beside warns of a merge that hits others, too.
func beside(f Facts, branch string) string {
	var lines []string
	hidden := 0
	for _, b := range f.Beside {
		if b.Elsewhere {
			hidden++
			continue
		}
		lines = append(lines, fmt.Sprintf("%s in %s has %s that Git does not have", name(b.Target.Name), name(b.Target.Cluster), count(b.Changes, "change")))
	}
	if n := len(lines); n > 3 {
		lines = append(lines[:3], fmt.Sprintf("showing 3 of %d", n))
	}
	if hidden > 0 {
		lines = append(lines, count(hidden, "target")+" dealt with in another channel, too")
	}
	if len(lines) == 0 {
		return ""
	}
	if branch == "" {
		branch = "the branch"
	}
	lines = append(lines, "A merge makes Argo CD sync them as well, which can undo what is open there. Decide about them first.")
	return fact("Also on "+name(branch), strings.Join(lines, "\n"))
}
