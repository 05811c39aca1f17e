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

// Account judges an account as it was looked up: only full members of the one
// workspace have any right.
func Account(m Member, user, home string) Verdict {
	var v Verdict
	why := ""
	switch {
	case m.ID != user:
		why = "Slack does not know your account."
	case m.Deleted:
		why = "your account is deactivated."
	case m.Bot:
		why = "bots don't decide here."
	case m.Stranger, m.Team != home:
		why = "your account belongs to another organisation."
	case m.Guest:
		why = "guests don't decide here."
	}
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
