package slacksim

import (
	"encoding/base64"
	"strconv"
	"strings"
)

func apiTest(_ *Sim, c *call) (obj, *failure) {
	if e := c.args["error"]; e != "" {
		return nil, fail(e)
	}
	return obj{"args": c.args}, nil
}

func authTest(s *Sim, c *call) (obj, *failure) {
	o := obj{
		"url": "https://" + s.team.Domain + ".slack.com/", "team": s.team.Name, "user": s.app.Name,
		"team_id": s.team.ID, "user_id": s.app.UserID, "bot_id": s.app.BotID, "is_enterprise_install": false,
	}
	if s.team.EnterpriseID != "" {
		o["enterprise_id"] = s.team.EnterpriseID
	}
	return o, nil
}

func teamInfo(s *Sim, _ *call) (obj, *failure) {
	o := obj{"id": s.team.ID, "name": s.team.Name, "domain": s.team.Domain}
	if s.team.EnterpriseID != "" {
		o["enterprise_id"], o["enterprise_name"] = s.team.EnterpriseID, s.team.Name
	}
	return obj{"team": o}, nil
}

func botsInfo(s *Sim, c *call) (obj, *failure) {
	if b := c.args["bot"]; b != "" && b != s.app.BotID {
		return nil, fail("bot_not_found")
	}
	return obj{"bot": obj{
		"id": s.app.BotID, "app_id": s.app.ID, "user_id": s.app.UserID, "name": s.app.Name, "deleted": false,
	}}, nil
}

// visible finds a user the app may look at: strangers only once they share a
// channel with it.
func (s *Sim) visible(id string) (*User, *failure) {
	u := s.users[id]
	if u == nil {
		return nil, fail("user_not_found")
	}
	if !u.Stranger {
		return u, nil
	}
	for _, c := range s.channels {
		if c.has(id) && c.has(s.app.UserID) {
			return u, nil
		}
	}
	return nil, fail("user_not_visible")
}

func usersInfo(s *Sim, c *call) (obj, *failure) {
	u, f := s.visible(c.args["user"])
	if f != nil {
		return nil, f
	}
	o := u.wire(s, s.manifest.granted("users:read.email"))
	if u.TeamID != s.team.ID {
		o["is_stranger"] = u.Stranger
	}
	return obj{"user": o}, nil
}

func usersByEmail(s *Sim, c *call) (obj, *failure) {
	for _, id := range s.people {
		u := s.users[id]
		if u.Email != "" && strings.EqualFold(u.Email, c.args["email"]) && u.TeamID == s.team.ID && !u.Deleted {
			return obj{"user": u.wire(s, true)}, nil
		}
	}
	return nil, fail("users_not_found")
}

func usersList(s *Sim, c *call) (obj, *failure) {
	ids, next, f := page(s.people, c, 1000)
	if f != nil {
		return nil, f
	}
	members := []obj{}
	for _, id := range ids {
		members = append(members, s.users[id].wire(s, s.manifest.granted("users:read.email")))
	}
	return obj{"members": members, "cache_ts": s.clock.Now().Unix(), "response_metadata": obj{"next_cursor": next}}, nil
}

// page cuts a list at the cursor and the limit. The cursor is opaque to the
// app; here it is the offset.
func page[T any](all []T, c *call, otherwise int) ([]T, string, *failure) {
	at := 0
	if cursor := c.args["cursor"]; cursor != "" {
		raw, err := base64.StdEncoding.DecodeString(cursor)
		n, err2 := strconv.Atoi(strings.TrimPrefix(string(raw), "next:"))
		if err != nil || err2 != nil || n < 0 || n > len(all) {
			return nil, "", fail("invalid_cursor")
		}
		at = n
	}
	limit := c.args.number("limit", otherwise)
	if limit < 1 || limit > 1000 {
		return nil, "", fail("invalid_limit")
	}
	if c.short {
		limit = max(1, limit/2) // "fewer than the requested number may come back"
	}
	end := min(at+limit, len(all))
	next := ""
	if end < len(all) {
		next = base64.StdEncoding.EncodeToString([]byte("next:" + strconv.Itoa(end)))
	}
	return all[at:end], next, nil
}
