package config

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"reconcilebot/runbook/spell"
)

// userID is the form of Slack's ids of people.
var userID = regexp.MustCompile(`^[UW][A-Z0-9]{2,20}$`)

// people checks the map of people: who could be taken for two, could approve
// his own change under another name.
func (k checker) people() {
	if len(k.c.People) == 0 {
		k.add("people", "is missing; nobody could approve anything. Give each person's name, Slack id, GitHub login and Kubernetes user names")
	}
	names, slack, github, kubernetes := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for i, p := range k.c.People {
		at := fmt.Sprintf("people[%d]", i)
		k.name(at+".name", p.Name, names, i, "a short name, like alice")
		k.require(at+".slack", p.Slack, "the member id: in Slack, profile, ⋮, Copy member ID")
		if p.Slack != "" && !userID.MatchString(p.Slack) {
			k.add(at+".slack", "%q is not a member id like U012AB3CD; in Slack: profile, ⋮, Copy member ID", p.Slack)
		}
		k.unique(at+".slack", p.Slack, slack, i)
		// GitHub's logins are the same in any case of letters.
		k.unique(at+".github", strings.ToLower(p.GitHub), github, i)
		for j, user := range p.Kubernetes {
			k.unique(fmt.Sprintf("%s.kubernetes[%d]", at, j), user, kubernetes, i)
		}
	}
}

func (k checker) unique(key, value string, seen map[string]int, i int) {
	if value == "" {
		return
	}
	if first, twice := seen[value]; twice {
		k.add(key, "%q belongs to %s (number %d) already; one account is one person's", value, k.c.People[first].Name, first+1)
		return
	}
	seen[value] = i
}

// groupID is the form of Slack's ids of user groups; team that of a team on
// GitHub.
var (
	groupID = regexp.MustCompile(`^S[A-Z0-9]{2,20}$`)
	team    = regexp.MustCompile(`^[A-Za-z0-9-]+/[A-Za-z0-9._-]+$`)
)

func (k checker) groups() {
	people := k.names()
	for _, group := range slices.Sorted(maps.Keys(k.c.Groups)) {
		at, g := "groups."+group, k.c.Groups[group]
		switch {
		case group == Everyone:
			k.add(at, "is reserved: it means all full members of the workspace")
		case slices.Contains(people, group):
			k.add(at, "is a person's name as well; rename one")
		}
		k.group(at, g)
		for i, member := range g.Members {
			if !slices.Contains(people, member) && !userID.MatchString(member) {
				k.add(fmt.Sprintf("%s[%d]", at, i), "%q is not among the people, and no member id of Slack%s", member, spell.Hint(member, people))
			}
		}
	}
}

// group checks that exactly one place says who is in it.
func (k checker) group(at string, g Group) {
	kinds := 0
	for _, given := range []bool{g.Members != nil, g.Slack != "", g.GitHub != "", g.CodeOwners} {
		if given {
			kinds++
		}
	}
	switch {
	case kinds == 0:
		k.add(at, "names nobody; give a list of people, or one of slack, github and codeowners")
	case kinds > 1:
		k.add(at, "says twice who is in it; keep one of members, slack, github and codeowners")
	case g.Slack != "" && !groupID.MatchString(g.Slack):
		k.add(at+".slack", "%q is not the id of a user group, like S012ABCDE; in Slack: Directories, User groups, ⋮, Copy group ID", g.Slack)
	case g.GitHub != "" && !team.MatchString(g.GitHub):
		k.add(at+".github", "%q is not a team, like acme/payments", g.GitHub)
	}
}

func (k checker) policy() {
	if len(k.c.Policy) == 0 {
		k.add("policy", "is missing; without a rule nobody may do anything")
	}
	for i := range k.c.Policy {
		r, at := &k.c.Policy[i], fmt.Sprintf("policy[%d]", i)
		if len(r.Targets) == 0 {
			k.add(at+".targets", `is missing; give patterns like "production-eu/*"`)
		}
		for j, pattern := range r.Targets {
			k.pattern(fmt.Sprintf("%s.targets[%d]", at, j), pattern)
		}
		k.who(at+".see", r.See, true)
		k.who(at+".decide", r.Decide, true)
		k.who(at+".pause", r.Pause, true)
		k.who(at+".override", r.Override, false)
		k.who(at+".approve.by", r.Approve.By, false)
		k.count(at, &r.Approve)
	}
}

func (k checker) pattern(key, pattern string) {
	cluster, _, ok := strings.Cut(pattern, "/")
	if _, err := path.Match(pattern, ""); err != nil || !ok {
		k.add(key, "%q is not a pattern of CLUSTER/NAME, like production-eu/payments-*", pattern)
		return
	}
	var clusters []string
	for _, c := range k.c.Clusters {
		if fits, _ := path.Match(cluster, c.Name); fits { // the pattern is known to be sound
			return
		}
		clusters = append(clusters, c.Name)
	}
	k.add(key, "no cluster is named %s%s", cluster, spell.Hint(cluster, clusters))
}

// who checks a list of people and groups.
func (k checker) who(key string, list []string, everyone bool) {
	known := append(k.names(), slices.Sorted(maps.Keys(k.c.Groups))...)
	if everyone {
		known = append(known, Everyone)
	}
	for i, name := range list {
		at := fmt.Sprintf("%s[%d]", key, i)
		switch {
		case slices.Contains(known, name), userID.MatchString(name) && everyone:
		case userID.MatchString(name) && k.mapped(name):
		case userID.MatchString(name):
			k.add(at, "%s is not among the people, so nobody could tell whether a change is their own; add them", name)
		case name == Everyone:
			k.add(at, "everyone cannot approve, nor override an approval; name groups or people")
		default:
			k.add(at, "%q is neither a person nor a group%s", name, spell.Hint(name, known))
		}
	}
}

// mapped tells whether a Slack id is somebody's among the people.
func (k checker) mapped(id string) bool {
	return slices.ContainsFunc(k.c.People, func(p Person) bool { return p.Slack == id })
}

// count checks that the approvals asked for can be had. How many people are
// in a list that others keep is not known here.
func (k checker) count(at string, a *Approve) {
	could := map[string]bool{}
	for _, name := range a.By {
		g := k.c.Groups[name]
		if g.Slack != "" || g.GitHub != "" || g.CodeOwners {
			could = nil
			break
		}
		for _, one := range append(slices.Clone(g.Members), name) {
			for _, p := range k.c.People {
				if one == p.Name || one == p.Slack {
					could[p.Name] = true
				}
			}
		}
	}
	if _, said := k.lines[at+".approve.count"]; !said {
		a.Count = 1
	}
	switch {
	case a.Count < 1:
		k.add(at+".approve.count", "must be at least 1")
	case could != nil && len(a.By) > 0 && a.Count > len(could):
		k.add(at+".approve.count", "%d approvals are asked for, but only %d people could give one", a.Count, len(could))
	}
}

func (k checker) names() []string {
	names := make([]string, len(k.c.People))
	for i, p := range k.c.People {
		names[i] = p.Name
	}
	return names
}
