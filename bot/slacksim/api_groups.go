package slacksim

import (
	"slices"
	"strings"
)

// paid is the refusal of everything about user groups on a free plan.
func (s *Sim) paid() *failure {
	if s.opts.FreePlan {
		return fail("plan_upgrade_required")
	}
	return nil
}

func groupsList(s *Sim, c *call) (obj, *failure) {
	if f := s.paid(); f != nil {
		return nil, f
	}
	groups := []obj{}
	for _, g := range s.groups {
		if !g.Disabled || c.args.flag("include_disabled") {
			o := g.wire(s, c.args.flag("include_users"))
			if c.args.flag("include_count") {
				o["user_count"] = len(g.Members)
			}
			groups = append(groups, o)
		}
	}
	return obj{"usergroups": groups}, nil
}

func groupsUsers(s *Sim, c *call) (obj, *failure) {
	if f := s.paid(); f != nil {
		return nil, f
	}
	g := s.group(c.args["usergroup"])
	if g == nil || g.Disabled && !c.args.flag("include_disabled") {
		return nil, fail("no_such_subteam")
	}
	return obj{"users": append([]string{}, g.Members...)}, nil
}

func groupsCreate(s *Sim, c *call) (obj, *failure) {
	name, handle := c.args["name"], c.args["handle"]
	f := s.paid()
	switch {
	case f != nil:
		return nil, f
	case name == "":
		return nil, fail("missing_subteam_name")
	case s.groupBy(func(g *Group) bool { return g.Name == name }) != nil:
		return nil, fail("name_already_exists")
	case handle != "" && s.mention(handle) != "":
		return nil, fail("handle_already_exists")
	}
	if handle == "" {
		handle = strings.ToLower(strings.ReplaceAll(name, " ", "-"))
	}
	g := &Group{ID: s.id("S"), Name: name, Handle: handle}
	s.groups = append(s.groups, g)
	s.emit("subteam_created", "", obj{"subteam": g.subteam(s)})
	return obj{"usergroup": g.wire(s, false)}, nil
}

func groupsUpdate(s *Sim, c *call) (obj, *failure) {
	return s.changeGroup(c, func(g *Group) *failure {
		handle := c.args["handle"]
		if handle != "" && handle != g.Handle && s.mention(handle) != "" {
			return fail("handle_already_exists")
		}
		if handle != "" {
			g.Handle = handle
		}
		if name := c.args["name"]; name != "" {
			g.Name = name
		}
		return nil
	})
}

func groupsEnable(s *Sim, c *call) (obj, *failure) {
	return s.changeGroup(c, func(g *Group) *failure { g.Disabled = false; return nil })
}

func groupsDisable(s *Sim, c *call) (obj, *failure) {
	return s.changeGroup(c, func(g *Group) *failure { g.Disabled = true; return nil })
}

func groupsSetUsers(s *Sim, c *call) (obj, *failure) {
	return s.changeGroup(c, func(g *Group) *failure {
		users := strings.FieldsFunc(c.args["users"], func(r rune) bool { return r == ',' })
		if len(users) == 0 {
			return fail("no_users_provided")
		}
		for _, id := range users {
			switch u := s.users[id]; {
			case u == nil:
				return fail("invalid_users")
			case u.TeamID != s.team.ID:
				return fail("failed_for_some_users")
			}
		}
		g.Members = users
		return nil
	})
}

// changeGroup changes the group that a call names and tells those who
// subscribed to it.
func (s *Sim) changeGroup(c *call, change func(*Group) *failure) (obj, *failure) {
	if f := s.paid(); f != nil {
		if c.name == "usergroups.update" {
			f.code = "paid_teams_only" // this method has a name of its own for it
		}
		return nil, f
	}
	g := s.group(c.args["usergroup"])
	if g == nil {
		return nil, fail("no_such_subteam")
	}
	before := *g
	if f := change(g); f != nil {
		return nil, f
	}
	s.groupChanged(before, *g)
	return obj{"usergroup": g.wire(s, true)}, nil
}

// groupChanged sends the events of a group that is another than it was.
func (s *Sim) groupChanged(before, after Group) {
	now := s.clock.Now().Unix()
	s.emit("subteam_updated", "", obj{"subteam": after.subteam(s)})
	if slices.Equal(before.Members, after.Members) {
		return
	}
	missing := func(from, in []string) []string {
		out := []string{}
		for _, m := range from {
			if !slices.Contains(in, m) {
				out = append(out, m)
			}
		}
		return out
	}
	added, removed := missing(after.Members, before.Members), missing(before.Members, after.Members)
	s.emit("subteam_members_changed", "", obj{
		"subteam_id": after.ID, "team_id": s.team.ID, "date_previous_update": now, "date_update": now,
		"added_users": added, "added_users_count": len(added), "removed_users": removed, "removed_users_count": len(removed),
	})
}

func (s *Sim) groupBy(wanted func(*Group) bool) *Group {
	i := slices.IndexFunc(s.groups, wanted)
	if i < 0 {
		return nil
	}
	return s.groups[i]
}

// subteam is a group as events show it.
func (g Group) subteam(s *Sim) obj {
	o := g.wire(s, true)
	delete(o, "auto_type")
	o["is_subteam"], o["auto_provision"], o["created_by"], o["user_count"] = true, false, "", len(g.Members)
	return o
}
