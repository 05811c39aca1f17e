package access

import "reconcilebot/runbook/fault"

// Member is a person as the workspace knows them now.
type Member struct {
	ID, Team, Name, Email string
	// Guest is a restricted account of either kind, Stranger somebody of
	// another organisation whom the workspace does not know.
	Guest, Bot, Deleted, Stranger bool
}

// Room is what is known of a channel.
type Room struct {
	Name string
	// ExtShared is true for a channel that another organisation sees, or is
	// invited to see.
	ExtShared bool
	Archived  bool
	// IsMember tells whether the bot is in it.
	IsMember bool
}

// Claimed judges what an act says of itself, before anything is looked up:
// user and team are the person's own, home is the workspace of the bot.
func Claimed(user, team, home string) Verdict {
	var v Verdict
	if home == "" || user == "" || team != "" && team != home {
		return v.deny("the act names a member of this workspace", "This is for members of the workspace that reconcilebot is installed in. Ask one of them.")
	}
	return v.yes("the act names a member of workspace %s", home)
}

// Unfit says what keeps an account from having any right: only full members of
// the one workspace have one. It goes on after the person's name, and is empty
// for those who may.
func Unfit(m Member, user, home string) string {
	switch {
	case m.ID != user:
		return "is not known to Slack"
	case m.Deleted:
		return "is deactivated in Slack"
	case m.Bot:
		return "is a bot"
	case m.Stranger, m.Team != home:
		return "belongs to another organisation"
	case m.Guest:
		return "is a guest"
	}
	return ""
}

// Account judges an account as it was looked up.
func Account(m Member, user, home string) Verdict {
	var v Verdict
	why := map[string]string{
		"is not known to Slack":           "Slack does not know your account.",
		"is deactivated in Slack":         "your account is deactivated.",
		"is a bot":                        "bots don't decide here.",
		"belongs to another organisation": "your account belongs to another organisation.",
		"is a guest":                      "guests don't decide here.",
	}[Unfit(m, user, home)]
	if why != "" {
		return v.deny("the account is a full member of the workspace", "You can't do this: "+why+" Ask a full member of the workspace.")
	}
	return v.yes("%s is a full member of workspace %s", m.ID, home)
}

// Channel judges where something is asked: nothing is said where another
// organisation reads, or where the bot can't answer.
func Channel(r Room) Verdict {
	var v Verdict
	switch {
	case r.ExtShared:
		return v.deny("no other organisation reads the channel", "Another organisation can read this channel, so nothing about clusters is said or done here. Use a channel of this workspace alone.")
	case r.Archived:
		return v.refuse(fault.Invalid, "the channel is in use", "This channel is archived. Unarchive it, or use another one.")
	case !r.IsMember:
		return v.refuse(fault.Invalid, "the bot is in the channel", "I am not in this channel, so I can't post here. Invite me with /invite @reconcile and try again.")
	}
	return v.yes("the channel is the workspace's own, and the bot is in it")
}
