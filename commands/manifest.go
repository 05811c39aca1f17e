package commands

import (
	"fmt"
	"strings"
)

// Manifest is the manifest of the Slack app, in YAML: the slash command with
// the words that the table has, and no right that nothing here needs.
// deploy/slack/manifest.yaml is this text.
func Manifest() string {
	rows := table()
	hints := make([]string, len(rows))
	for i, r := range rows {
		hints[i] = r.usage
	}
	return fmt.Sprintf(manifestText, strings.Join(hints, " · "))
}

// CallbackThread is the message shortcut; Slack keeps it, so it is never
// renamed.
const CallbackThread = "reconcile_thread"

// Reading history is asked for because a message whose fate is unknown is
// looked for before it is posted again; reading user groups because a policy
// may name them; writing files because a diff may be longer than a message.
const manifestText = `# The Slack app. At https://api.slack.com/apps choose "Create New App", "From
# a manifest", and paste this. Then create an app-level token with the scope
# connections:write (Basic Information): a manifest cannot make one.
_metadata: {major_version: 1, minor_version: 1}
display_information:
  name: Reconcile
  description: Turns manual changes into approved pull requests, or reverts them
  background_color: "#1d3557"
features:
  app_home: {home_tab_enabled: false, messages_tab_enabled: true, messages_tab_read_only_enabled: true}
  bot_user: {display_name: reconcile, always_online: true}
  slash_commands:
  - command: /reconcile
    description: See what differs from Git, adopt it or revert it
    usage_hint: %q
    should_escape: true
  shortcuts:
  - name: Reconcile this thread
    type: message
    callback_id: ` + CallbackThread + `
    description: Show what is open in this thread
oauth_config:
  scopes:
    bot:
    - app_mentions:read
    - channels:history
    - channels:read
    - chat:write
    - commands
    - files:write
    - groups:history
    - groups:read
    - usergroups:read
    - users:read
settings:
  event_subscriptions:
    bot_events: [app_mention, app_uninstalled, channel_id_changed, channel_shared, channel_unshared, member_joined_channel, tokens_revoked]
  interactivity: {is_enabled: true}
  org_deploy_enabled: false
  socket_mode_enabled: true
  token_rotation_enabled: false
`
