package card

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"reconcilebot/runbook/drift"
)

// maxOrphans is how many objects of one maker a card names.
const maxOrphans = 8

// Orphans shows what no target declares, by how much it matters and who made
// it, and what of the target's own data nothing protects from pruning.
func Orphans(o drift.Orphans, target string, dangers []drift.Prunable, now time.Time) Message {
	s := &sheet{}
	s.title("In no Git", strings.Trim(o.Cluster+"/"+o.Namespace, "/"))
	where := "the cluster " + name(o.Cluster)
	if o.Namespace != "" {
		where = "the namespace " + name(o.Namespace) + " of " + name(o.Cluster)
	}
	s.lines(fmt.Sprintf("*%s in %s that no target declares*; %s declared, by %s.", count(len(o.List), "object"), where, are(o.Declared), count(o.Targets, "target")))
	if len(o.List) > 0 {
		s.lines("A rebuild from Git would not bring them back.")
	}
	for _, weight := range []drift.Weight{drift.Data, drift.Running, drift.Other} {
		for _, g := range byMaker(o.List, weight) {
			s.lines(append([]string{fmt.Sprintf("*%s* · %s", weightWords[weight], maker(g[0]))}, named(g, now)...)...)
		}
	}
	s.lines(endangered(dangers, target)...)
	if len(o.Left) > 0 {
		s.small(fact("Left out", name(strings.Join(o.Left, ", "))+": reconcilebot may not list them, so there may be more"))
	}
	s.small("Children of other objects, defaults and the system's own objects are left out. All of it, as a file: `reconcilebot orphans --kubeconfig FILE -o markdown`")
	return s.message(fmt.Sprintf("%s in %s that no target declares.", count(len(o.List), "object"), where))
}

var weightWords = map[drift.Weight]string{
	drift.Data: "Hard to bring back", drift.Running: "Does the work", drift.Other: "The rest",
}

// byMaker groups objects of one weight by who made them, in their order.
func byMaker(list []drift.Orphan, weight drift.Weight) (groups [][]drift.Orphan) {
	for _, o := range list {
		if o.Weight != weight {
			continue
		}
		i := slices.IndexFunc(groups, func(g []drift.Orphan) bool { return g[0].By == o.By && g[0].Known == o.Known })
		if i < 0 {
			groups = append(groups, nil)
			i = len(groups) - 1
		}
		groups[i] = append(groups[i], o)
	}
	return groups
}

// maker says who made an object, and how that is known.
func maker(o drift.Orphan) string {
	switch o.Known {
	case drift.ByAudit:
		return "made by " + name(o.By) + " (audit log)"
	case drift.ByManager:
		return "made with " + name(o.By) + "; the person is unknown"
	}
	return "nobody knows who made it"
}

func named(group []drift.Orphan, now time.Time) (lines []string) {
	for _, o := range group[:min(len(group), maxOrphans)] {
		line := code(strings.TrimPrefix(o.Namespace+"/"+o.Name, "/"), longValue)
		line = name(o.Kind) + " " + line
		if !o.Created.IsZero() {
			line += ", " + span(now.Sub(o.Created)) + " old"
		}
		if o.Mark != "" {
			line += ", carries the mark of " + name(o.Mark)
		}
		lines = append(lines, line)
	}
	if n := len(group) - maxOrphans; n > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", n))
	}
	return lines
}

// endangered says what a sync that prunes would delete with its data.
func endangered(list []drift.Prunable, target string) []string {
	if len(list) == 0 {
		return nil
	}
	lines := []string{fmt.Sprintf("*Holds data, and %s would delete it as soon as it leaves Git*", name(target))}
	for _, p := range list[:min(len(list), maxOrphans)] {
		lines = append(lines, name(p.Kind)+" "+code(strings.TrimPrefix(p.Namespace+"/"+p.Name, "/"), longValue))
	}
	if n := len(list) - maxOrphans; n > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", n))
	}
	return append(lines, "What protects it: the annotation "+code(drift.Protection, longValue)+" on each of them, in Git.")
}

func are(n int) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
}
