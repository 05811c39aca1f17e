package slacksim

import (
	"slices"
	"strings"
	"testing"
)

// documented are the error codes that Slack's method reference lists, as far as
// refusals here use them or a case nearby would: https://docs.slack.dev/reference/methods
// and, in a form that programs read, https://github.com/slack-ruby/slack-api-ref.
func documented() map[string]string {
	post := "channel_not_found not_in_channel is_archived no_text invalid_blocks invalid_blocks_format invalid_metadata_format " +
		"invalid_metadata_schema metadata_too_large markdown_text_conflict msg_blocks_too_long too_many_attachments " +
		"restricted_action restricted_action_read_only_channel restricted_action_thread_only_channel messages_tab_disabled " +
		"cannot_reply_to_message attachment_payload_limit_exceeded team_not_found ekm_access_denied message_limit_exceeded"
	return map[string]string{
		"chat.postMessage": post,
		"chat.update": "channel_not_found cant_update_message message_not_found edit_window_closed is_inactive msg_too_long block_mismatch " +
			"no_text invalid_blocks invalid_blocks_format invalid_attachments too_many_attachments markdown_text_conflict " +
			"invalid_metadata_format invalid_metadata_schema metadata_too_large update_failed",
		"chat.delete":                  "cant_delete_message channel_not_found message_not_found",
		"chat.postEphemeral":           "channel_not_found user_not_in_channel not_in_channel is_archived no_text invalid_blocks invalid_blocks_format invalid_attachments too_many_attachments msg_too_long markdown_text_conflict messages_tab_disabled restricted_action cannot_reply_to_message",
		"chat.scheduleMessage":         "channel_not_found is_archived invalid_blocks invalid_blocks_format invalid_metadata_format invalid_metadata_schema invalid_time markdown_text_conflict metadata_too_large msg_too_long no_text not_in_channel restricted_action_read_only_channel restricted_too_many time_in_past time_too_far too_many_attachments",
		"chat.deleteScheduledMessage":  "bad_token channel_not_found invalid_scheduled_message_id",
		"chat.scheduledMessages.list":  "invalid_channel invalid_cursor invalid_token",
		"views.open":                   "duplicate_external_id exchanged_trigger_id expired_trigger_id invalid_trigger_id view_too_large",
		"views.push":                   "duplicate_external_id exchanged_trigger_id expired_trigger_id invalid_trigger_id not_found push_limit_reached view_too_large",
		"views.update":                 "duplicate_external_id hash_conflict not_found view_too_large",
		"views.publish":                "duplicate_external_id hash_conflict not_enabled view_too_large",
		"blocks.validate":              "invalid_blocks invalid_view invalid_message",
		"files.getUploadURLExternal":   "alt_txt_too_large file_upload_size_restricted file_uploads_disabled missing_argument snippet_too_large storage_limit_reached unknown_snippet_type unknown_subtype",
		"files.completeUploadExternal": "access_denied channel_not_found file_not_found file_update_failed invalid_blocks invalid_channel not_in_channel posting_to_channel_denied channels_limit_exceeded",
		"usergroups.create":            "bad_handle handle_already_exists name_already_exists name_too_long missing_argument missing_subteam_name permission_denied plan_upgrade_required paid_teams_only",
		"usergroups.update":            "missing_argument paid_teams_only permission_denied too_many_linked_channels",
		"usergroups.users.list":        "no_such_subteam plan_upgrade_required invalid_cursor",
		"usergroups.users.update":      "invalid_users failed_for_some_users missing_argument no_users_provided permission_denied plan_upgrade_required subteam_max_users_exceeded",
		"users.info":                   "too_many_users user_not_found user_not_visible",
		"users.lookupByEmail":          "users_not_found",
		"conversations.open":           "channel_not_found invalid_user_combination not_enough_users too_many_users user_disabled user_not_found user_not_visible users_list_not_supplied",
		"conversations.history":        "channel_not_found invalid_cursor invalid_ts_latest invalid_ts_oldest not_in_channel restricted_action",
		"conversations.replies":        "channel_not_found invalid_cursor invalid_ts_latest invalid_ts_oldest thread_not_found",
		"conversations.info":           "channel_not_found",
		"conversations.setTopic":       "channel_not_found is_archived not_in_channel too_long user_is_restricted",
		"pins.add":                     "already_pinned bad_timestamp channel_not_found message_not_found no_item_specified not_in_channel not_pinnable restricted_action too_many_pins",
		"reactions.add":                "already_reacted bad_timestamp channel_not_found invalid_name is_archived message_not_found no_item_specified not_reactable too_many_reactions",
		"bookmarks.add":                "cannot_bookmark_from_external_org channel_not_found invalid_link invalid_bookmark_type permission_denied too_many_bookmarks",
		"apps.connections.open":        "forbidden_team",
	}
}

// beyond are codes that the reference does not list for the method, and why
// they are used.
var beyond = map[string]string{
	"views.open trigger_expired":           "the guide's name: https://docs.slack.dev/interactivity/handling-user-interaction",
	"views.open trigger_exchanged":         "the guide's name",
	"chat.postMessage msg_too_long":        "assumed, as chat.postEphemeral has it, for markdown_text",
	"chat.postMessage invalid_attachments": "seen: https://github.com/slackapi/bolt-js/issues/2867; chat.update lists it",
	"usergroups.update no_such_subteam":    "assumed, as usergroups.users.list has it",
	"conversations.replies not_in_channel": "assumed, as conversations.history has it",
}

// general are the codes that every method may answer with.
const general = "not_authed invalid_auth account_inactive token_revoked not_allowed_token_type missing_scope unknown_method ratelimited " +
	"invalid_arguments invalid_form_data internal_error invalid_limit"

// checkRefusal is called for every refusal in every test of this package that
// no fault was made for.
func (w workspace) checkRefusal(t *testing.T, method string, answer obj) {
	t.Helper()
	code := str(answer["error"])
	if answer["ok"] != false || len(w.Faults()) > 0 || slices.Contains(strings.Fields(general), code) {
		return
	}
	listed, known := documented()[method]
	if known && !slices.Contains(strings.Fields(listed), code) && beyond[method+" "+code] == "" {
		t.Errorf("%s answered %s, which Slack's reference does not list for it", method, code)
	}
}
