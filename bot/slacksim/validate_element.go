package slacksim

import "fmt"

// elementRule is what an element type is and how many options it may have.
type elementRule struct {
	acts    bool // has an action_id
	input   bool // may stand in an input block
	options int  // most options, 0 for none
	least   int
}

// elementLimits has every element of
// https://docs.slack.dev/reference/block-kit/block-elements.
func elementLimits() map[string]elementRule {
	selects := elementRule{acts: true, input: true}
	return map[string]elementRule{
		"button": {acts: true}, "image": {}, "workflow_button": {acts: true},
		"feedback_buttons": {acts: true}, "icon_button": {acts: true},
		"overflow":      {acts: true, options: 5, least: 1},
		"checkboxes":    {acts: true, input: true, options: 10, least: 1},
		"radio_buttons": {acts: true, input: true, options: 10, least: 1},
		"static_select": {acts: true, input: true, options: 100}, "multi_static_select": {acts: true, input: true, options: 100},
		"external_select": selects, "multi_external_select": selects,
		"users_select": selects, "multi_users_select": selects,
		"conversations_select": selects, "multi_conversations_select": selects,
		"channels_select": selects, "multi_channels_select": selects,
		"datepicker": selects, "timepicker": selects, "datetimepicker": selects,
		"plain_text_input": selects, "email_text_input": selects, "url_text_input": selects,
		"number_input": selects, "rich_text_input": selects, "file_input": selects,
	}
}

func (c *checker) element(e obj, at string) {
	kind := str(e["type"])
	rule, known := elementLimits()[kind]
	if !known {
		c.fault(at, "unsupported type: %s", kind)
		return
	}
	c.length(str(e["action_id"]), at+"/action_id", 0, 255)
	if e["placeholder"] != nil {
		c.text(e["placeholder"], at+"/placeholder", 150, "plain_text")
	}
	if e["confirm"] != nil {
		c.confirm(e["confirm"], at+"/confirm")
	}
	switch kind {
	case "button":
		c.button(e, at)
	case "image":
		c.image(e, at)
	case "plain_text_input":
		c.textInput(e, at)
	}
	if rule.options > 0 {
		c.options(e, at, rule)
	}
}

func (c *checker) button(e obj, at string) {
	c.text(e["text"], at+"/text", 75, "plain_text")
	c.length(str(e["value"]), at+"/value", 0, 2000)
	c.length(str(e["url"]), at+"/url", 0, 3000)
	c.length(str(e["accessibility_label"]), at+"/accessibility_label", 0, 75)
	if s, ok := e["style"]; ok && s != "primary" && s != "danger" {
		c.fault(at+"/style", "must be one of primary, danger")
	}
}

func (c *checker) textInput(e obj, at string) {
	if n, ok := e["max_length"].(float64); ok && (n < 1 || n > 3000) {
		c.fault(at+"/max_length", "must be between 1 and 3000")
	}
	c.length(str(e["initial_value"]), at+"/initial_value", 0, 3000)
}

func (c *checker) confirm(v any, at string) {
	o, _ := v.(obj)
	c.text(o["title"], at+"/title", 100, "plain_text")
	c.text(o["text"], at+"/text", 300, "")
	for _, k := range []string{"confirm", "deny"} {
		if o[k] != nil {
			c.text(o[k], at+"/"+k, 30, "plain_text")
		}
	}
}

func (c *checker) options(e obj, at string, rule elementRule) {
	if e["option_groups"] != nil {
		c.many(e["option_groups"], at+"/option_groups", 1, 100, func(g obj, at string) {
			c.text(g["label"], at+"/label", 75, "plain_text")
			c.many(g["options"], at+"/options", 1, rule.options, c.option)
		})
		return
	}
	seen := map[string]bool{}
	for i, o := range list(e["options"]) {
		o, _ := o.(obj)
		if v := str(o["value"]); seen[v] {
			c.fault(fmt.Sprintf("%s/options/%d/value", at, i), "option values must be unique: %s", v)
		} else {
			seen[v] = true
		}
	}
	c.many(e["options"], at+"/options", max(rule.least, 1), rule.options, c.option)
}

func (c *checker) option(o obj, at string) {
	c.text(o["text"], at+"/text", 75, "")
	c.length(str(o["value"]), at+"/value", 1, 150)
	if o["description"] != nil {
		c.text(o["description"], at+"/description", 75, "")
	}
}
