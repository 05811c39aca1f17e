package access

import (
	"slices"
	"strings"
)

// show writes a name as people read it, a group with an @ in front.
func (p *Policy) show(name string) string {
	if g, group := p.Groups[name]; group {
		if g.CodeOwners {
			return "the code owners (@" + name + ")"
		}
		return "@" + name
	}
	i := slices.IndexFunc(p.People, func(one Person) bool { return one.Slack == name })
	if i >= 0 {
		return p.People[i].Name
	}
	return name
}

func (p *Policy) shown(list []string) []string {
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = p.show(n)
	}
	return out
}

// could says who could do it instead, as a sentence.
func (p *Policy) could(right Right, list []string) string {
	if len(list) == 0 {
		return "The policy names nobody who can; the people who run reconcilebot can change that."
	}
	if right.forEveryone() && slices.Contains(list, Everyone) {
		return "Every full member of the workspace can."
	}
	names := p.shown(list)
	if n := len(names); n > 1 {
		names = append(names[:n-2], names[n-2]+" and "+names[n-1])
	}
	return strings.Join(names, ", ") + " can."
}
