package commands

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"reconcilebot/runbook/drift"
	"reconcilebot/state"
)

// Everyone stands for all full members of the workspace, never for guests.
const Everyone = "everyone"

// Person is one person under all the names that systems know them by.
type Person struct {
	Name, Slack, GitHub string
	Kubernetes          []string
}

// Rule says who may do what to targets. The first rule that matches a target
// holds; where none matches, nobody may do anything. See, Decide and
// Approve.By name people, groups, or, for the first two, Everyone.
type Rule struct {
	// Targets are patterns over cluster/name, as path.Match reads them.
	Targets     []string
	See, Decide []string
	Approve     Approve
}

// Approve says whose yes is needed, and how many of them.
type Approve struct {
	By []string
	// Count is at least 1.
	Count int
}

// Access is who is who and who may do what.
type Access struct {
	People []Person
	Groups map[string][]string
	Policy []Rule
}

// person finds somebody in the people map by their Slack id. Somebody who is
// in no map is known by that id alone.
func (a *Access) person(m Member) state.Person {
	for _, p := range a.People {
		if p.Slack == m.ID && m.ID != "" {
			return state.Person{ID: m.ID, Name: p.Name, GitHub: p.GitHub, Kubernetes: p.Kubernetes}
		}
	}
	return state.Person{ID: m.ID, Name: cmp.Or(m.Name, m.ID)}
}

// NameOf gives the name in the people map of a Kubernetes user, or "".
func (a *Access) NameOf(kubernetesUser string) string {
	for _, p := range a.People {
		if kubernetesUser != "" && slices.Contains(p.Kubernetes, kubernetesUser) {
			return p.Name
		}
	}
	return ""
}

// Approvers names the people and groups whose yes counts for a target, groups
// with an @ in front, and how many of them are needed. Nobody is named for a
// target that no rule covers.
func (a *Access) Approvers(target string) (names []string, count int) {
	t, err := drift.ParseTarget(target)
	if err != nil {
		return nil, 1
	}
	rule, _ := a.rule(t)
	return a.shown(rule.Approve.By), max(rule.Approve.Count, 1)
}

// rule finds the one that holds for a target.
func (a *Access) rule(t drift.Target) (Rule, bool) {
	for _, r := range a.Policy {
		if slices.ContainsFunc(r.Targets, func(pattern string) bool {
			fits, err := path.Match(pattern, t.Short())
			return err == nil && fits
		}) {
			return r, true
		}
	}
	return Rule{}, false
}

// shown writes names as people read them.
func (a *Access) shown(list []string) []string {
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = n
		if _, group := a.Groups[n]; group {
			out[i] = "@" + n
		}
	}
	return out
}

// among tells whether somebody is in a list, by name, by group, or, where all
// is true, because it names Everyone. Only people
// of the map have names that count: what somebody calls himself in Slack is
// no name.
func (a *Access) among(who asker, list []string, all bool) bool {
	for _, n := range list {
		if n == Everyone && all {
			return true
		}
		if !who.mapped(a) {
			continue
		}
		if n == who.Name || slices.Contains(a.Groups[n], who.Name) {
			return true
		}
	}
	return false
}

func (who asker) mapped(a *Access) bool {
	return slices.ContainsFunc(a.People, func(p Person) bool { return p.Slack == who.ID && who.ID != "" })
}

// could says who could do it instead, as a sentence.
func (a *Access) could(list []string) string {
	if len(list) == 0 {
		return "The policy names nobody who can; the people who run reconcilebot can change that."
	}
	names := a.shown(list)
	if slices.Contains(list, Everyone) {
		return "Every full member of the workspace can."
	}
	if len(names) > 1 {
		names[len(names)-2] += " and " + names[len(names)-1]
		names = names[:len(names)-1]
	}
	return strings.Join(names, ", ") + " can."
}
