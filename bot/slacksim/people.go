package slacksim

import (
	"fmt"
	"slices"
)

func (s *Sim) addUser(u User) {
	if u.TeamID == "" {
		u.TeamID = s.team.ID
	}
	if u.RealName == "" {
		u.RealName = u.Name
	}
	s.users[u.ID] = &u
	s.people = append(s.people, u.ID)
}

// AddUser lets a person join a running workspace.
func (s *Sim) AddUser(u User) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u.ID == "" || s.users[u.ID] != nil {
		return fmt.Errorf("add user %q: the id is empty or taken", u.ID)
	}
	s.addUser(u)
	s.bump()
	return nil
}

// SetUser changes a person: deactivates them, makes them a guest.
func (s *Sim) SetUser(id string, change func(*User)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.user(id)
	if u == nil {
		return fmt.Errorf("change user %s: no such user", id)
	}
	change(u)
	s.bump()
	return nil
}

// user finds a person by id or name.
func (s *Sim) user(idOrName string) *User {
	if u := s.users[idOrName]; u != nil {
		return u
	}
	for _, id := range s.people {
		if s.users[id].Name == idOrName {
			return s.users[id]
		}
	}
	return nil
}

// Users are the workspace's people in the order they were added.
func (s *Sim) Users() []User {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]User, 0, len(s.people))
	for _, id := range s.people {
		out = append(out, *s.users[id])
	}
	return out
}

// SetGroup adds a user group or replaces the one with its id.
func (s *Sim) SetGroup(g Group) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.bump()
	if old := s.group(g.ID); old != nil {
		before := *old
		*old = g
		s.groupChanged(before, g)
		return
	}
	s.groups = append(s.groups, &g)
}

func (s *Sim) group(id string) *Group {
	return s.groupBy(func(g *Group) bool { return g.ID == id })
}

// wire is a user as users.info shows it.
func (u User) wire(s *Sim, withEmail bool) obj {
	profile := obj{"real_name": u.RealName, "display_name": u.Name, "team": u.TeamID}
	if withEmail && !u.Bot && u.Email != "" && u.TeamID == s.team.ID {
		profile["email"] = u.Email
	}
	o := obj{
		"id": u.ID, "team_id": u.TeamID, "name": u.Name, "real_name": u.RealName, "deleted": u.Deleted,
		"is_bot": u.Bot, "is_app_user": false, "is_admin": u.Admin, "is_owner": false,
		"is_restricted": u.Guest || u.SingleGuest, "is_ultra_restricted": u.SingleGuest,
		"is_email_confirmed": !u.Bot && u.Email != "", "tz": "Etc/UTC", "tz_offset": 0,
		"updated": s.started.Unix(), "profile": profile,
	}
	if s.team.EnterpriseID != "" {
		o["enterprise_user"] = obj{"id": u.ID, "enterprise_id": s.team.EnterpriseID, "teams": []string{u.TeamID}}
	}
	return o
}

func (g Group) wire(s *Sim, withUsers bool) obj {
	deleted := int64(0)
	if g.Disabled {
		deleted = s.started.Unix()
	}
	o := obj{
		"id": g.ID, "team_id": s.team.ID, "is_usergroup": true, "name": g.Name, "handle": g.Handle,
		"description": "", "is_external": false, "date_create": s.started.Unix(), "date_update": s.started.Unix(),
		"date_delete": deleted, "auto_type": nil,
		"prefs": obj{"channels": []string{}, "groups": []string{}},
	}
	if withUsers {
		o["users"] = append([]string{}, g.Members...)
	}
	return o
}

func (c *channel) has(user string) bool { return slices.Contains(c.Members, user) }
