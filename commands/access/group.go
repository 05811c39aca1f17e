package access

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// inGroup tells whether somebody is in a group, wherever its list is kept.
func (p *Policy) inGroup(ctx context.Context, q Question, g Group) (ok bool, how string, err error) {
	if p.Lists == nil && (g.Slack != "" || g.GitHub != "" || g.CodeOwners) {
		return false, "", errNoLists
	}
	switch {
	case g.Slack != "":
		return p.inSlackGroup(ctx, q, g.Slack)
	case g.GitHub != "":
		return p.inTeam(ctx, q, g.GitHub)
	case g.CodeOwners:
		return p.ownsCode(ctx, q)
	}
	in := slices.ContainsFunc(g.Members, func(m string) bool { return p.is(q.Who, m) })
	return in, either(in, q.Who.Name, "its list: "+strings.Join(g.Members, ", ")), nil
}

func either(in bool, name, where string) string {
	if in {
		return name + " is in " + where
	}
	return name + " is not in " + where
}

func (p *Policy) inSlackGroup(ctx context.Context, q Question, id string) (bool, string, error) {
	members, err := p.Lists.SlackGroup(ctx, id)
	if err != nil {
		return false, "", err
	}
	in := q.Who.ID != "" && slices.Contains(members, q.Who.ID)
	return in, either(in, q.Who.Name, fmt.Sprintf("the Slack user group %s of %d", id, len(members))), nil
}

// inTeam goes by the login in the map of people: somebody without one is in
// no team.
func (p *Policy) inTeam(ctx context.Context, q Question, team string) (bool, string, error) {
	if q.Who.GitHub == "" || !p.mapped(q.Who) {
		return false, q.Who.Name + " has no GitHub login in the map of people", nil
	}
	org, slug, ok := strings.Cut(team, "/")
	if !ok {
		return false, "", fmt.Errorf("%q is not organisation/team", team)
	}
	logins, err := p.Lists.Team(ctx, org, slug)
	if err != nil {
		return false, "", err
	}
	in := slices.ContainsFunc(logins, func(l string) bool { return strings.EqualFold(l, q.Who.GitHub) })
	return in, either(in, q.Who.Name, fmt.Sprintf("the GitHub team %s of %d", team, len(logins))), nil
}

// ownsCode goes by CODEOWNERS. Owners that are e-mail addresses are nobody
// here: the map of people has none.
func (p *Policy) ownsCode(ctx context.Context, q Question) (bool, string, error) {
	if q.Who.GitHub == "" || !p.mapped(q.Who) {
		return false, q.Who.Name + " has no GitHub login in the map of people", nil
	}
	owners, err := p.Lists.Owners(ctx, q.Target, q.Files)
	if err != nil {
		return false, "", err
	}
	var unread error
	for _, owner := range owners {
		name, ok := strings.CutPrefix(owner, "@")
		switch {
		case !ok:
		case strings.Contains(name, "/"):
			in, how, err := p.inTeam(ctx, q, name)
			if in {
				return true, "code owner " + owner + ": " + how, nil
			}
			if err != nil {
				unread = fmt.Errorf("code owner %s: %w", owner, err)
			}
		case strings.EqualFold(name, q.Who.GitHub):
			return true, q.Who.Name + " is code owner " + owner, nil
		}
	}
	if unread != nil {
		return false, "", unread
	}
	if len(owners) == 0 {
		return false, "no code owner has all of the files", nil
	}
	return false, q.Who.Name + " is none of the code owners " + strings.Join(owners, ", "), nil
}
