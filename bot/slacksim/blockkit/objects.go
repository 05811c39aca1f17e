package blockkit

// objects are what blocks and elements are composed of,
// https://docs.slack.dev/reference/block-kit/composition-objects: those that
// say their type, by type, and those that do not, by a name of ours.
func objects() map[string]shape {
	typed := shape{"type": someChars(0)}
	option := func(text field) shape {
		// The reference says 150 for values, @slack/types 75.
		return shape{"text": needed(text), "value": needed(someChars(150)), "description": text.as(75)}
	}
	return map[string]shape{
		"plain_text": shape{"text": needed(someChars(3000)), "emoji": flag()}.with(typed),
		"mrkdwn":     shape{"text": needed(someChars(3000)), "verbatim": flag()}.with(typed),
		"raw_text":   shape{"text": needed(someChars(0))}.with(typed),
		"raw_number": shape{"text": needed(someChars(0)), "value": needed(number(0, 0))}.with(typed),

		"option":       option(text(75)),
		"plain_option": option(plain(75)),
		"link_option":  option(plain(75)).with(shape{"url": chars(3000)}),
		"option_group": {"label": needed(plain(75)), "options": needed(listOf("plain_option", 1, 100))},
		"confirm": {
			"title": needed(plain(100)), "text": needed(text(300)), "confirm": plain(30), "deny": plain(30),
			"style": oneOf("primary", "danger"),
		},
		"dispatch_action_config": {"trigger_actions_on": {want: wantStrings, least: 1, enum: []string{"on_enter_pressed", "on_character_entered"}}},
		"filter": {
			"include":                          {want: wantStrings, least: 1, enum: []string{"im", "mpim", "private", "public"}},
			"exclude_external_shared_channels": flag(), "exclude_bot_users": flag(),
		},
		"slack_file":      {"id": chars(0), "url": chars(0)},
		"feedback_button": {"text": needed(plain(75)), "value": needed(someChars(2000)), "accessibility_label": chars(75)},
		"column_settings": {"align": oneOf("left", "center", "right"), "is_wrapped": flag()},
	}
}

func (f field) as(most int) field {
	f.most = most
	return f
}

// richTexts are the parts of rich text,
// https://docs.slack.dev/reference/block-kit/blocks/rich-text-block.
func richTexts() map[string]shape {
	typed := shape{"type": someChars(0)}
	styled := shape{"style": {want: wantAny}}.with(typed)
	border := shape{"border": number(0, 1)}
	return map[string]shape{
		"rich_text_section":      shape{"elements": needed(list(0, 0, richParts...))}.with(typed),
		"rich_text_quote":        shape{"elements": needed(list(0, 0, richParts...))}.with(typed, border),
		"rich_text_preformatted": shape{"elements": needed(list(0, 0, "text", "link"))}.with(typed, border),
		"rich_text_list": shape{
			"elements": needed(list(1, 0, "rich_text_section")), "style": needed(oneOf("bullet", "ordered")),
			"indent": number(0, 8), "offset": number(0, 0),
		}.with(typed, border),

		"text":      shape{"text": needed(someChars(0))}.with(styled),
		"link":      shape{"url": needed(someChars(3000)), "text": chars(0), "unsafe": flag()}.with(styled),
		"user":      shape{"user_id": needed(someChars(0))}.with(styled),
		"usergroup": shape{"usergroup_id": needed(someChars(0))}.with(styled),
		"channel":   shape{"channel_id": needed(someChars(0))}.with(styled),
		"team":      shape{"team_id": needed(someChars(0))}.with(styled),
		"broadcast": shape{"range": needed(oneOf("here", "channel", "everyone"))}.with(styled),
		"emoji":     shape{"name": needed(someChars(0)), "unicode": chars(0), "url": chars(0)}.with(styled),
		"color":     shape{"value": needed(someChars(0))}.with(styled),
		"date":      shape{"timestamp": needed(number(0, 0)), "format": needed(someChars(0)), "url": chars(0), "fallback": chars(0)}.with(styled),
	}
}
