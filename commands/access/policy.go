package access

import (
	"context"
	"path"
	"slices"

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

// Group is people who are named together. One field is set: the others keep
// the list elsewhere, and it is read when it is needed.
type Group struct {
	// Members are names of people, or ids of Slack.
	Members []string
	// Slack is the id of a user group, S….
	Slack string
	// GitHub is a team, as organisation/team.
	GitHub string
	// CodeOwners are those whom CODEOWNERS names for all files that a plan
	// edits; before there is a plan, for all manifests of the target.
	CodeOwners bool
}

// Rule says who may do what to targets. The first rule that matches a target
// holds; where none matches, nobody may do anything. Each list names people,
// groups or, for See, Decide and Pause, Everyone.
type Rule struct {
	// Targets are patterns over cluster/name, as path.Match reads them.
	Targets                      []string
	See, Decide, Pause, Override []string
	Approve                      Approvers
}

// Approvers says whose yes is needed, and how many of them.
type Approvers struct {
	By []string
	// Count is at least 1.
	Count int
}

func (r Rule) list(right Right) []string {
	switch right {
	case See:
		return r.See
	case Decide:
		return r.Decide
	case Approve:
		return r.Approve.By
	case Pause:
		return r.Pause
	case Override:
		return r.Override
	}
	return nil
}

// Lists reads lists of people that others keep. An error gives nobody a right.
type Lists interface {
	// SlackGroup lists the Slack ids in a user group.
	SlackGroup(ctx context.Context, id string) ([]string, error)
	// Team lists the logins in a team of the Git host.
	Team(ctx context.Context, org, team string) ([]string, error)
	// Owners gives the owners that all of the files have, by the CODEOWNERS of
	// what the target follows: "@login" or "@org/team". No files stands for
	// the target's manifests.
	Owners(ctx context.Context, t drift.TargetInfo, files []string) ([]string, error)
}

// Policy is who is who and who may do what. It is safe for concurrent use as
// long as nobody changes it.
type Policy struct {
	People []Person
	Groups map[string]Group
	Rules  []Rule
	// Lists may be nil when all groups name their members.
	Lists Lists
}

// Person finds somebody in the map of people by their Slack id. mapped is
// false for somebody who is in no map, and is known by that id alone.
func (p *Policy) Person(m Member) (who state.Person, mapped bool) {
	i := slices.IndexFunc(p.People, func(one Person) bool { return one.Slack == m.ID && m.ID != "" })
	if i < 0 {
		name := m.Name
		if name == "" {
			name = m.ID
		}
		return state.Person{ID: m.ID, Name: name}, false
	}
	one := p.People[i]
	return state.Person{ID: m.ID, Name: one.Name, GitHub: one.GitHub, Kubernetes: one.Kubernetes}, true
}

// NameOf gives the name in the map of people of a Kubernetes user, or "".
func (p *Policy) NameOf(kubernetesUser string) string {
	for _, one := range p.People {
		if kubernetesUser != "" && slices.Contains(one.Kubernetes, kubernetesUser) {
			return one.Name
		}
	}
	return ""
}

// Approvers names the people and groups whose yes counts for a target, groups
// with an @ in front, and how many of them are needed. Nobody is named for a
// target that no rule covers.
func (p *Policy) Approvers(target string) (names []string, count int) {
	t, err := drift.ParseTarget(target)
	if err != nil {
		return nil, 1
	}
	rule, _, _ := p.rule(t)
	return p.shown(rule.Approve.By), max(rule.Approve.Count, 1)
}

// Overridable tells whether the policy lets anybody override the approval for
// a target.
func (p *Policy) Overridable(target string) bool {
	t, err := drift.ParseTarget(target)
	if err != nil {
		return false
	}
	rule, _, _ := p.rule(t)
	return len(rule.Override) > 0
}

// rule finds the one that holds for a target, by its place in the list, with
// the pattern that fits.
func (p *Policy) rule(t drift.Target) (r Rule, at int, pattern string) {
	for i, r := range p.Rules {
		for _, pattern := range r.Targets {
			if fits, err := path.Match(pattern, t.Short()); err == nil && fits {
				return r, i, pattern
			}
		}
	}
	return Rule{}, -1, ""
}
