package blockkit

// What stands where. https://docs.slack.dev/reference/block-kit/block-elements
// names for each element the blocks it works in.
var (
	pickers = []string{
		"checkboxes", "datepicker", "datetimepicker", "radio_buttons", "timepicker",
		"static_select", "external_select", "users_select", "conversations_select", "channels_select",
		"multi_static_select", "multi_external_select", "multi_users_select", "multi_conversations_select", "multi_channels_select",
	}
	inActions = append([]string{"button", "overflow", "workflow_button", "rich_text_input"}, pickers...)
	inSection = append([]string{"button", "image", "overflow", "workflow_button"}, pickers...)
	inInput   = append([]string{
		"plain_text_input", "email_text_input", "url_text_input", "number_input", "rich_text_input", "file_input",
	}, pickers...)
	inContainer = []string{
		"actions", "context", "divider", "file", "header", "image", "input", "rich_text", "section", "table", "video",
	}
	richBlocks = []string{"rich_text_section", "rich_text_list", "rich_text_quote", "rich_text_preformatted"}
	richParts  = []string{"text", "link", "user", "usergroup", "channel", "broadcast", "emoji", "date", "color", "team"}
	cells      = []string{"rich_text", "raw_text", "raw_number"}
)

// blocks are the blocks of https://docs.slack.dev/reference/block-kit/blocks.
func blocks() map[string]shape {
	common := shape{"type": someChars(0), "block_id": chars(255)}
	all := map[string]shape{
		"actions": {"elements": needed(list(1, 25, inActions...))},
		"alert":   {"text": needed(text(0)), "level": oneOf("default", "info", "warning", "error", "success")},
		// A call can be shown only after calls.add; its shape is not checked.
		"call": {"call_id": needed(someChars(0)), "api_decoration_available": flag(), "call": {want: wantAny}},
		"card": {
			"hero_image": object("image"), "icon": object("image"), "title": mrkdwn(150), "subtitle": mrkdwn(150),
			"body": mrkdwn(200), "actions": list(1, 0, "button"),
		},
		"carousel": {"elements": needed(list(1, 10, "card"))},
		"container": {
			"title": plain(150), "rich_text_title": object("rich_text"), "subtitle": text(150),
			"child_blocks": needed(field{want: wantList, least: 1, most: 10, types: inContainer, blocks: true}), "width": oneOf("narrow", "standard", "wide", "full"),
			"icon": object("image"), "is_collapsible": flag(), "default_collapsed": flag(), "has_header_divider": flag(),
		},
		"context":         {"elements": needed(list(1, 10, "image", "plain_text", "mrkdwn"))},
		"context_actions": {"elements": needed(list(1, 5, "feedback_buttons", "icon_button"))},
		"data_table": {
			"rows":    needed(field{want: wantRows, least: 1, most: 100, each: 20, types: cells}),
			"caption": needed(someChars(0)), "page_size": number(1, 100), "row_header_column_index": number(0, 0),
		},
		"divider": {},
		"file":    {"source": needed(oneOf("remote")), "external_id": needed(someChars(0))},
		"header":  {"text": needed(plain(150))},
		"image": {
			"alt_text": needed(someChars(2000)), "title": plain(2000), "image_url": chars(3000), "slack_file": shaped("slack_file"),
		},
		"input": {
			"label": needed(plain(2000)), "hint": plain(2000), "optional": flag(), "dispatch_action": flag(),
			"element": needed(object(inInput...)),
		},
		"markdown":  {"text": needed(someChars(12_000))},
		"rich_text": {"elements": needed(list(1, 0, richBlocks...))},
		"section": {
			"text": text(3000), "fields": {want: wantList, least: 1, most: 10, each: 2000, types: []string{"plain_text", "mrkdwn"}},
			"accessory": object(inSection...), "expand": flag(),
		},
		"table": {
			"rows":            needed(field{want: wantRows, least: 1, most: 100, each: 20, types: cells}),
			"column_settings": listOf("column_settings", 0, 20),
		},
		"task_card": {
			"task_id": needed(someChars(0)), "title": needed(someChars(0)), "details": object("rich_text"), "output": object("rich_text"),
			"sources": list(0, 0, "url"), "status": needed(oneOf("pending", "in_progress", "complete", "error")),
		},
		"plan": {"title": needed(someChars(0)), "tasks": {want: wantAny}},
		"video": {
			"video_url": needed(someChars(3000)), "thumbnail_url": needed(someChars(3000)), "alt_text": needed(someChars(2000)),
			"title": needed(plain(200)), "title_url": chars(3000), "author_name": chars(50), "provider_name": chars(0),
			"provider_icon_url": chars(3000), "description": plain(200),
		},
	}
	for name, s := range all {
		all[name] = s.with(common)
	}
	return all
}

// onlyIn are the blocks and elements that not every surface shows.
func onlyIn() map[string][]Surface {
	return map[string][]Surface{
		"markdown": {Message}, "table": {Message}, "data_table": {Message}, "file": {Message}, "context_actions": {Message},
		"plan": {Message}, "task_card": {Message}, "carousel": {Message}, "call": {Message}, "file_input": {Modal},
	}
}
