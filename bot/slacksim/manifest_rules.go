package slacksim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// manifestKeys are the keys of the parts of a manifest that matter here. Slack
// refuses others; https://docs.slack.dev/reference/app-manifest.
func manifestKeys() map[string][]string {
	return map[string][]string{
		"": {
			"_metadata", "display_information", "features", "oauth_config", "settings", "functions", "workflows",
			"outgoing_domains", "types", "metadata_events", "app_directory",
		},
		"display_information": {"name", "description", "long_description", "background_color"},
		"features": {
			"app_home", "bot_user", "shortcuts", "slash_commands", "unfurl_domains", "workflow_steps", "assistant_view",
			"search", "rich_previews", "agent_view",
		},
		"features.app_home":         {"home_tab_enabled", "messages_tab_enabled", "messages_tab_read_only_enabled"},
		"features.bot_user":         {"display_name", "always_online"},
		"features.slash_commands[]": {"command", "url", "description", "usage_hint", "should_escape"},
		"features.shortcuts[]":      {"name", "type", "callback_id", "description"},
		"oauth_config":              {"redirect_urls", "scopes", "token_management_enabled", "pkce_enabled"},
		"oauth_config.scopes":       {"bot", "user", "bot_optional", "user_optional"},
		"settings": {
			"allowed_ip_address_ranges", "event_subscriptions", "incoming_webhooks", "interactivity", "org_deploy_enabled",
			"socket_mode_enabled", "token_rotation_enabled", "hermes_app_type", "function_runtime", "is_hosted", "siws_links",
			"is_mcp_enabled",
		},
		"settings.event_subscriptions": {"request_url", "user_events", "bot_events", "metadata_subscriptions"},
		"settings.interactivity":       {"is_enabled", "request_url", "message_menu_options_url"},
	}
}

// eventScopes are the scopes of which an event needs one; those that are not
// here need none. https://docs.slack.dev/reference/events
func eventScopes() map[string][]string {
	rooms := []string{"channels:read", "groups:read", "im:read", "mpim:read"}
	groups, open := []string{"usergroups:read"}, []string{"channels:read"}
	return map[string][]string{
		"app_mention":      {"app_mentions:read"},
		"message.channels": {"channels:history"}, "message.groups": {"groups:history"}, "message.im": {"im:history"}, "message.mpim": {"mpim:history"},
		"channel_archive": open, "channel_unarchive": open, "channel_rename": open, "channel_created": open, "channel_deleted": open,
		"channel_left": open, "channel_id_changed": rooms, "channel_shared": rooms, "channel_unshared": rooms,
		"group_archive": {"groups:read"}, "group_rename": {"groups:read"}, "group_left": {"groups:read"},
		"member_joined_channel": {"channels:read", "groups:read"}, "member_left_channel": {"channels:read", "groups:read"},
		"subteam_created": groups, "subteam_updated": groups, "subteam_members_changed": groups,
		"reaction_added": {"reactions:read"}, "reaction_removed": {"reactions:read"},
		"pin_added": {"pins:read"}, "pin_removed": {"pins:read"}, "user_change": {"users:read"}, "team_join": {"users:read"},
		"file_shared": {"files:read"}, "file_deleted": {"files:read"}, "file_public": {"files:read"},
		"shared_channel_invite_accepted": {"conversations.connect:manage"},
	}
}

// Limits of Slack's manifest schema, https://github.com/slackapi/manifest-schema.
const (
	maxCommands  = 50
	maxShortcuts = 10
)

// checkKeys refuses keys that Slack does not know.
func checkKeys(text []byte) error {
	var whole any
	if err := yaml.Unmarshal(text, &whole); err != nil {
		return fmt.Errorf("app manifest: %w", err)
	}
	return keysOf("", whole, manifestKeys())
}

func keysOf(path string, v any, known map[string][]string) error {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if allowed, ok := known[path]; ok && !slices.Contains(allowed, key) {
				return fmt.Errorf("app manifest: %s is not a key that Slack knows; there are %s", under(path, key), strings.Join(allowed, ", "))
			}
			if err := keysOf(under(path, key), v[key], known); err != nil {
				return err
			}
		}
	case []any:
		for _, e := range v {
			if err := keysOf(path+"[]", e, known); err != nil {
				return err
			}
		}
	}
	return nil
}

func under(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// checkScopes refuses what the manifest promises without the scope for it.
func (m *manifest) checkScopes() error {
	asked := func(anyOf []string) bool {
		return slices.ContainsFunc(anyOf, func(scope string) bool { return slices.Contains(m.OAuth.Scopes.Bot, scope) })
	}
	if len(m.Features.Commands)+len(m.Features.Shortcuts) > 0 && !asked([]string{"commands"}) {
		return fmt.Errorf("app manifest: slash commands and shortcuts need the scope commands")
	}
	for _, event := range m.Settings.Events.Bot {
		if scopes := eventScopes()[event]; len(scopes) > 0 && !asked(scopes) {
			return fmt.Errorf("app manifest: the event %s needs the scope %s", event, strings.Join(scopes, " or "))
		}
	}
	return nil
}
