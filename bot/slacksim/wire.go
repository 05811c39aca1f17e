package slacksim

// wireMessage is a message as the Web API and payloads show it.
func (s *Sim) wireMessage(m Message, withMetadata bool) obj {
	o := obj{"type": "message", "ts": m.TS, "user": m.User, "text": m.Text, "team": s.team.ID}
	if m.BotID != "" {
		o["bot_id"], o["app_id"] = m.BotID, s.app.ID
		o["bot_profile"] = obj{"id": m.BotID, "app_id": s.app.ID, "name": s.app.Name, "deleted": false, "team_id": s.team.ID, "user_id": s.app.UserID}
	}
	set := func(key string, value any, when bool) {
		if when {
			o[key] = value
		}
	}
	set("subtype", m.Subtype, m.Subtype != "")
	set("blocks", m.Blocks, len(m.Blocks) > 0)
	set("attachments", m.Attach, m.Attach != nil)
	set("files", s.wireFiles(m.Files), len(m.Files) > 0)
	// Slack marks an update that has blocks as no edit.
	set("edited", obj{"user": m.User, "ts": m.TS}, m.Edited && len(m.Blocks) == 0)
	set("metadata", m.Metadata, withMetadata && m.Metadata != nil)
	set("thread_ts", m.ThreadTS, m.ThreadTS != "")
	set("parent_user_id", m.User, m.ThreadTS != "" && m.ThreadTS != m.TS)
	if m.Replies > 0 {
		o["thread_ts"], o["reply_count"], o["latest_reply"] = m.TS, m.Replies, m.Latest
	}
	if len(m.Reactions) > 0 {
		var all []obj
		for _, r := range m.Reactions {
			all = append(all, obj{"name": r.Name, "users": r.Users, "count": len(r.Users)})
		}
		o["reactions"] = all
	}
	return o
}
