package blockkit

// elements are the elements of
// https://docs.slack.dev/reference/block-kit/block-elements.
func elements() map[string]shape {
	acts := shape{"type": someChars(0), "action_id": chars(255)}
	asks := shape{"confirm": shaped("confirm")}
	focus := shape{"focus_on_load": flag()}
	hint := shape{"placeholder": plain(150)}
	sends := shape{"dispatch_action_config": shaped("dispatch_action_config")}
	several := shape{"max_selected_items": number(1, 0)}
	answers := shape{"response_url_enabled": flag()}
	ids := stringList(0)
	choice := shape{"options": listOf("plain_option", 1, 100), "option_groups": listOf("option_group", 1, 100)}
	rooms := shape{"default_to_current_conversation": flag(), "filter": shaped("filter")}
	return map[string]shape{
		"button": shape{
			"text": needed(plain(75)), "value": chars(2000), "url": chars(3000), "style": oneOf("primary", "danger"),
			"accessibility_label": chars(75),
		}.with(acts, asks),
		"checkboxes":     shape{"options": needed(listOf("option", 1, 10)), "initial_options": listOf("option", 1, 10)}.with(acts, asks, focus),
		"radio_buttons":  shape{"options": needed(listOf("option", 1, 10)), "initial_option": shaped("option")}.with(acts, asks, focus),
		"datepicker":     shape{"initial_date": chars(0)}.with(acts, asks, focus, hint),
		"timepicker":     shape{"initial_time": chars(0), "timezone": chars(0)}.with(acts, asks, focus, hint),
		"datetimepicker": shape{"initial_date_time": number(0, 0)}.with(acts, asks, focus),
		"overflow":       shape{"options": needed(listOf("link_option", 1, 5))}.with(acts, asks),
		"feedback_buttons": shape{
			"positive_button": needed(shaped("feedback_button")), "negative_button": needed(shaped("feedback_button")),
		}.with(acts),
		"icon_button": shape{
			"icon": needed(someChars(0)), "text": needed(plain(75)), "value": chars(2000), "accessibility_label": chars(75),
			"visible_to_user_ids": ids,
		}.with(acts, asks),
		"workflow_button": shape{
			"text": needed(plain(75)), "workflow": needed(field{want: wantAny}), "style": oneOf("primary", "danger"),
			"accessibility_label": chars(75),
		}.with(acts, asks),
		"image": {
			"type": someChars(0), "alt_text": needed(someChars(2000)), "image_url": chars(3000), "slack_file": shaped("slack_file"),
		},
		"url": {"type": someChars(0), "url": needed(someChars(0)), "text": needed(someChars(0))},

		"static_select":              shape{"initial_option": shaped("plain_option")}.with(choice, acts, asks, focus, hint),
		"external_select":            shape{"initial_option": shaped("plain_option"), "min_query_length": number(0, 0)}.with(acts, asks, focus, hint),
		"users_select":               shape{"initial_user": chars(0)}.with(acts, asks, focus, hint),
		"conversations_select":       shape{"initial_conversation": chars(0)}.with(rooms, acts, asks, focus, hint, answers),
		"channels_select":            shape{"initial_channel": chars(0)}.with(acts, asks, focus, hint, answers),
		"multi_static_select":        shape{"initial_options": listOf("plain_option", 1, 100)}.with(choice, acts, asks, focus, hint, several),
		"multi_external_select":      shape{"initial_options": listOf("plain_option", 1, 100), "min_query_length": number(0, 0)}.with(acts, asks, focus, hint, several),
		"multi_users_select":         shape{"initial_users": ids}.with(acts, asks, focus, hint, several),
		"multi_conversations_select": shape{"initial_conversations": ids}.with(rooms, acts, asks, focus, hint, several),
		"multi_channels_select":      shape{"initial_channels": ids}.with(acts, asks, focus, hint, several),

		"plain_text_input": shape{
			"initial_value": chars(3000), "multiline": flag(), "min_length": number(0, 3000), "max_length": number(1, 3000),
		}.with(acts, sends, focus, hint),
		"email_text_input": shape{"initial_value": chars(0)}.with(acts, sends, focus, hint),
		"url_text_input":   shape{"initial_value": chars(0)}.with(acts, sends, focus, hint),
		"number_input": shape{
			"is_decimal_allowed": needed(flag()), "initial_value": chars(0), "min_value": chars(0), "max_value": chars(0),
		}.with(acts, sends, focus, hint),
		"rich_text_input": shape{
			"initial_value": object("rich_text"), "min_lines": number(1, 100), "max_lines": number(1, 100),
		}.with(acts, sends, focus, hint),
		"file_input": shape{"filetypes": ids, "max_files": number(1, 10)}.with(acts),
	}
}

// Acts tells whether an element of that type is acted on, and so has an
// action_id.
func Acts(kind string) bool {
	_, ok := elements()[kind]["action_id"]
	return ok
}
