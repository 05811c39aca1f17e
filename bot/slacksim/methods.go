package slacksim

import (
	"slices"
	"strings"
)

// method is one row of the Web API.
type method struct {
	scopes []string // one of them is needed
	perMin int      // the tier's calls per minute; 0: a rule of its own
	app    bool     // wants the app-level token
	open   bool     // wants no token
	writes bool     // changes what others see
	args   string   // the arguments Slack documents, by spaces
	do     func(*Sim, *call) (obj, *failure)
}

// The tiers of https://docs.slack.dev/apis/web-api/rate-limits, per minute.
const (
	tier2 = 20
	tier3 = 50
	tier4 = 100
)

// methods is the Web API: names, scopes, tiers and arguments as in Slack's
// method reference. It is made anew for each call, which costs microseconds,
// so that nothing at package level can change.
func methods() map[string]*method {
	const post = "channel text blocks attachments thread_ts reply_broadcast metadata unfurl_links unfurl_media " +
		"link_names parse mrkdwn as_user username icon_emoji icon_url markdown_text"
	read := []string{"channels:read", "groups:read", "im:read", "mpim:read"}
	history := []string{"channels:history", "groups:history", "im:history", "mpim:history"}
	write := []string{"chat:write"}
	groupWrite := []string{"usergroups:write"}
	return map[string]*method{
		"api.test":              {open: true, args: "error foo", do: apiTest},
		"auth.test":             {args: "", do: authTest},
		"team.info":             {scopes: []string{"team:read"}, perMin: tier3, args: "team domain", do: teamInfo},
		"bots.info":             {scopes: []string{"users:read"}, perMin: tier3, args: "bot team_id", do: botsInfo},
		"apps.connections.open": {app: true, perMin: tier3, args: "", do: connectionsOpen},

		"chat.postMessage":            {scopes: write, writes: true, args: post, do: postMessage},
		"chat.postEphemeral":          {scopes: write, perMin: tier4, writes: true, args: post + " user", do: postEphemeral},
		"chat.update":                 {scopes: write, perMin: tier3, writes: true, args: post + " ts file_ids", do: updateMessage},
		"chat.delete":                 {scopes: write, perMin: tier3, writes: true, args: "channel ts as_user", do: deleteMessage},
		"chat.scheduleMessage":        {scopes: write, perMin: tier3, writes: true, args: post + " post_at", do: scheduleMessage},
		"chat.deleteScheduledMessage": {scopes: write, perMin: tier3, writes: true, args: "channel scheduled_message_id as_user", do: deleteScheduled},
		"chat.scheduledMessages.list": {perMin: tier3, args: "channel cursor latest limit oldest team_id", do: listScheduled},
		"chat.getPermalink":           {args: "channel message_ts", do: permalink},

		"views.open":      {perMin: tier4, writes: true, args: "trigger_id interactivity_pointer view", do: viewsOpen},
		"views.push":      {perMin: tier4, writes: true, args: "trigger_id interactivity_pointer view", do: viewsPush},
		"views.update":    {perMin: tier4, writes: true, args: "view view_id external_id hash", do: viewsUpdate},
		"views.publish":   {perMin: tier4, writes: true, args: "user_id view hash", do: viewsPublish},
		"blocks.validate": {open: true, args: "blocks view message", do: blocksValidate},

		"users.info":              {scopes: []string{"users:read"}, perMin: tier4, args: "user include_locale", do: usersInfo},
		"users.lookupByEmail":     {scopes: []string{"users:read.email"}, perMin: tier3, args: "email", do: usersByEmail},
		"users.list":              {scopes: []string{"users:read"}, perMin: tier2, args: "cursor limit include_locale team_id", do: usersList},
		"users.conversations":     {scopes: read, perMin: tier3, args: "user cursor limit types exclude_archived team_id", do: usersConversations},
		"usergroups.list":         {scopes: []string{"usergroups:read"}, perMin: tier2, args: "include_count include_disabled include_users team_id", do: groupsList},
		"usergroups.users.list":   {scopes: []string{"usergroups:read"}, perMin: tier2, args: "usergroup include_disabled team_id", do: groupsUsers},
		"usergroups.create":       {scopes: groupWrite, perMin: tier2, writes: true, args: "name handle description channels include_count team_id", do: groupsCreate},
		"usergroups.update":       {scopes: groupWrite, perMin: tier2, writes: true, args: "usergroup name handle description channels include_count team_id", do: groupsUpdate},
		"usergroups.enable":       {scopes: groupWrite, perMin: tier2, writes: true, args: "usergroup include_count team_id", do: groupsEnable},
		"usergroups.disable":      {scopes: groupWrite, perMin: tier2, writes: true, args: "usergroup include_count team_id", do: groupsDisable},
		"usergroups.users.update": {scopes: groupWrite, perMin: tier2, writes: true, args: "usergroup users include_count team_id", do: groupsSetUsers},

		"conversations.info":     {scopes: read, perMin: tier3, args: "channel include_locale include_num_members", do: conversationsInfo},
		"conversations.list":     {scopes: read, perMin: tier2, args: "cursor limit types exclude_archived team_id", do: conversationsList},
		"conversations.members":  {scopes: read, perMin: tier4, args: "channel cursor limit", do: conversationsMembers},
		"conversations.open":     {scopes: []string{"im:write", "mpim:write"}, perMin: tier3, writes: true, args: "channel users return_im prevent_creation", do: conversationsOpen},
		"conversations.join":     {scopes: []string{"channels:join"}, perMin: tier3, writes: true, args: "channel", do: conversationsJoin},
		"conversations.history":  {scopes: history, perMin: tier3, args: "channel cursor limit oldest latest inclusive include_all_metadata", do: conversationsHistory},
		"conversations.replies":  {scopes: history, perMin: tier3, args: "channel ts cursor limit oldest latest inclusive include_all_metadata", do: conversationsReplies},
		"conversations.setTopic": {scopes: []string{"channels:manage", "channels:write.topic", "groups:write", "groups:write.topic"}, perMin: tier2, writes: true, args: "channel topic", do: conversationsSetTopic},

		"files.getUploadURLExternal":   {scopes: []string{"files:write"}, perMin: tier4, args: "filename length snippet_type alt_txt", do: uploadURL},
		"files.completeUploadExternal": {scopes: []string{"files:write"}, perMin: tier4, writes: true, args: "files channel_id channels thread_ts initial_comment blocks", do: completeUpload},
		"files.info":                   {scopes: []string{"files:read"}, perMin: tier4, args: "file cursor limit count page", do: filesInfo},
		"files.delete":                 {scopes: []string{"files:write"}, perMin: tier3, writes: true, args: "file", do: filesDelete},

		"pins.add":         {scopes: []string{"pins:write"}, perMin: tier2, writes: true, args: "channel timestamp", do: pinsAdd},
		"pins.remove":      {scopes: []string{"pins:write"}, perMin: tier2, writes: true, args: "channel timestamp", do: pinsRemove},
		"pins.list":        {scopes: []string{"pins:read"}, perMin: tier2, args: "channel", do: pinsList},
		"bookmarks.add":    {scopes: []string{"bookmarks:write"}, perMin: tier2, writes: true, args: "channel_id title type link emoji entity_id parent_id", do: bookmarksAdd},
		"bookmarks.list":   {scopes: []string{"bookmarks:read"}, perMin: tier3, args: "channel_id", do: bookmarksList},
		"reactions.add":    {scopes: []string{"reactions:write"}, perMin: tier3, writes: true, args: "channel name timestamp", do: reactionsAdd},
		"reactions.remove": {scopes: []string{"reactions:write"}, perMin: tier2, writes: true, args: "channel name timestamp file file_comment", do: reactionsRemove},
	}
}

// lint notes arguments that Slack does not document for the method, and
// timestamps that it never gave out: those are usually rebuilt from a number.
func (s *Sim) lint(c *call) {
	// Slack's own libraries send team_id with every call.
	known := append(strings.Fields(c.method.args), "team_id")
	for name, value := range c.args {
		if !slices.Contains(known, name) {
			s.find(RuleUnknownArg, "%s has no argument %q", c.name, name)
		}
		isTS := name == "ts" || name == "thread_ts" || name == "message_ts" || name == "timestamp"
		if isTS && value != "" && !s.issued[value] {
			s.find(RuleTS, "%s got %s=%s, which was never given out", c.name, name, value)
		}
	}
	for _, v := range c.args {
		s.inspect(c.name, v)
	}
}
