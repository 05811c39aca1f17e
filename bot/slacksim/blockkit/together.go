package blockkit

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxMarkdown is how many characters all markdown blocks of a message may have
// together, https://docs.slack.dev/reference/block-kit/blocks/markdown-block.
const maxMarkdown = 12_000

// together checks what concerns several fields of one object.
func (c *checker) together(o Object, kind, at string) {
	switch kind {
	case "section":
		c.anyOf(o, at, "text", "fields")
	case "card":
		c.anyOf(o, at, "hero_image", "title", "actions", "body")
	case "container":
		c.anyOf(o, at, "title", "rich_text_title")
	case "image":
		c.anyOf(o, at, "image_url", "slack_file")
	case "static_select", "multi_static_select":
		c.choices(o, at)
	case "checkboxes", "radio_buttons", "overflow":
		c.unique(o["options"], at+"/options")
	case "plain_text_input":
		c.ordered(o, at, "min_length", "max_length")
	case "rich_text_input":
		c.ordered(o, at, "min_lines", "max_lines")
	case "markdown":
		c.markdown += utf8.RuneCountInString(str(o["text"]))
	case "table", "data_table":
		c.tables++
	}
	c.actionIDs(o, at)
}

// sums checks what concerns all blocks of a message.
func (c *checker) sums() {
	if c.markdown > maxMarkdown {
		c.add("/blocks", fmt.Sprintf("markdown blocks hold more than %d characters together", maxMarkdown), "max_length", maxMarkdown)
	}
	if c.tables > 1 {
		c.add("/blocks", "only_one_table_allowed", "max_items", 1)
	}
}

func (c *checker) anyOf(o Object, at string, names ...string) {
	for _, name := range names {
		if o[name] != nil {
			return
		}
	}
	c.add(at, "must define either `"+strings.Join(names, "` or `")+"`", "any_of", names)
}

func (c *checker) choices(o Object, at string) {
	switch {
	case o["options"] == nil && o["option_groups"] == nil:
		c.add(at+"/options", "missing required field: options", "required", nil)
	case o["options"] != nil && o["option_groups"] != nil:
		c.add(at, "options and option_groups exclude each other", "one_of", []string{"options", "option_groups"})
	}
	c.unique(o["options"], at+"/options")
}

func (c *checker) unique(options any, at string) {
	l, _ := options.([]any)
	seen := map[string]bool{}
	for i, e := range l {
		o, _ := e.(Object)
		v := str(o["value"])
		if seen[v] {
			c.add(fmt.Sprintf("%s/%d/value", at, i), "option values must be unique: "+v, "unique", nil)
		}
		seen[v] = true
	}
}

func (c *checker) ordered(o Object, at, least, most string) {
	a, ok := o[least].(float64)
	b, both := o[most].(float64)
	if ok && both && a > b {
		c.add(at+"/"+least, fmt.Sprintf("must be at most %s", most), "maximum", b)
	}
}

// actionIDs must be unique within one block.
func (c *checker) actionIDs(o Object, at string) {
	l, _ := o["elements"].([]any)
	seen := map[string]bool{}
	for i, e := range l {
		e, _ := e.(Object)
		id := str(e["action_id"])
		if id != "" && seen[id] {
			c.add(fmt.Sprintf("%s/elements/%d/action_id", at, i), "action_id already exists: "+id, "unique", nil)
		}
		seen[id] = true
	}
}
