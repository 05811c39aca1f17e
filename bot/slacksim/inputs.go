package slacksim

import (
	"fmt"
	"strconv"
	"strings"
)

// inputValue is an input's state. Untouched inputs keep what they begin with,
// or null.
func inputValue(e obj, typed string, given bool) (obj, error) {
	value := obj{"type": e["type"]}
	if given {
		got, err := valueOf(e, typed)
		if err != nil {
			return nil, err
		}
		for k, x := range got {
			value[k] = x
		}
		return value, nil
	}
	key := valueKey(str(e["type"]))
	value[key] = nil
	for name, initial := range e {
		if strings.HasPrefix(name, "initial_") && initial != nil {
			value[key] = initial
		}
	}
	if value[key] == nil && several(key) {
		value[key] = []any{}
	}
	return value, nil
}

// valueKey is the field of a state in which a kind of element has its value,
// https://docs.slack.dev/reference/views.
func valueKey(kind string) string {
	switch kind {
	case "static_select", "radio_buttons", "external_select", "overflow":
		return "selected_option"
	case "checkboxes", "multi_static_select", "multi_external_select":
		return "selected_options"
	case "users_select":
		return "selected_user"
	case "multi_users_select":
		return "selected_users"
	case "conversations_select":
		return "selected_conversation"
	case "multi_conversations_select":
		return "selected_conversations"
	case "channels_select":
		return "selected_channel"
	case "multi_channels_select":
		return "selected_channels"
	case "datepicker":
		return "selected_date"
	case "timepicker":
		return "selected_time"
	case "datetimepicker":
		return "selected_date_time"
	case "rich_text_input":
		return "rich_text_value"
	case "file_input":
		return "files"
	}
	return "value"
}

// several tells whether a field of a state holds a list.
func several(key string) bool {
	return strings.HasPrefix(key, "selected_") && strings.HasSuffix(key, "s") || key == "files"
}

// valueOf is what an element sends for what was typed or chosen.
func valueOf(e obj, typed string) (obj, error) {
	key := valueKey(str(e["type"]))
	switch key {
	case "selected_option":
		o, err := option(e, typed)
		return obj{key: o}, err
	case "selected_options":
		chosen := []any{}
		for _, t := range strings.FieldsFunc(typed, func(r rune) bool { return r == ',' }) {
			o, err := option(e, strings.TrimSpace(t))
			if err != nil {
				return nil, err
			}
			chosen = append(chosen, o)
		}
		return obj{key: chosen}, nil
	case "selected_date_time":
		return dateTime(typed)
	case "rich_text_value":
		return obj{key: richText(typed)}, nil
	}
	if several(key) {
		return obj{key: words(typed)}, nil
	}
	if typed == "" {
		return obj{key: nil}, nil
	}
	return obj{key: typed}, nil
}

// words are the entries of a list that was typed with commas.
func words(typed string) []any {
	out := []any{}
	for _, w := range strings.FieldsFunc(typed, func(r rune) bool { return r == ',' }) {
		out = append(out, strings.TrimSpace(w))
	}
	return out
}

// dateTime is seconds since 1970, as the element sends them.
func dateTime(typed string) (obj, error) {
	if typed == "" {
		return obj{"selected_date_time": nil}, nil
	}
	n, err := strconv.ParseInt(typed, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("a date and time is given in seconds since 1970, not as %q", typed)
	}
	return obj{"selected_date_time": n}, nil
}

// richText is what the composer of a rich text input makes of plain words.
func richText(typed string) any {
	if typed == "" {
		return nil
	}
	return obj{"type": "rich_text", "elements": []any{
		obj{"type": "rich_text_section", "elements": []any{obj{"type": "text", "text": typed}}},
	}}
}

// option finds an option by value or text.
func option(e obj, wanted string) (any, error) {
	if wanted == "" {
		return nil, nil
	}
	all := list(e["options"])
	for _, g := range list(e["option_groups"]) {
		g, _ := g.(obj)
		all = append(all, list(g["options"])...)
	}
	for _, o := range all {
		o, _ := o.(obj)
		if str(o["value"]) == wanted || textOf(o["text"]) == wanted {
			return o, nil
		}
	}
	return nil, fmt.Errorf("there is no option %q", wanted)
}
