package slacksim

import (
	"fmt"
	"unicode/utf8"
)

// checker walks blocks and collects what Slack would refuse.
// https://docs.slack.dev/reference/block-kit/blocks
type checker struct {
	on       surface
	faults   blockFaults
	blockIDs map[string]bool
	markdown int // characters over all markdown blocks
	tables   int
}

func checkBlocks(bodies []obj, on surface) blockFaults {
	c := &checker{on: on, blockIDs: map[string]bool{}}
	most := 50
	if on != surfaceMessage {
		most = 100
	}
	if len(bodies) > most {
		c.fault("/blocks", "no more than %d items allowed", most)
	}
	for i, b := range bodies {
		c.block(b, fmt.Sprintf("/blocks/%d", i))
	}
	if c.markdown > maxMarkdownText {
		c.fault("/blocks", "markdown blocks hold more than %d characters together", maxMarkdownText)
	}
	if c.tables > 1 {
		c.fault("/blocks", "only_one_table_allowed")
	}
	return c.faults
}

func (c *checker) fault(pointer, format string, args ...any) {
	c.faults = append(c.faults, blockFault{fmt.Sprintf(format, args...), pointer})
}

func (c *checker) block(b obj, at string) {
	if id := str(b["block_id"]); id != "" {
		if c.blockIDs[id] {
			c.fault(at+"/block_id", "block_id already exists: %s", id)
		}
		c.blockIDs[id] = true
		c.length(id, at+"/block_id", 1, 255)
	}
	c.actionIDs(b, at)
	switch kind := str(b["type"]); kind {
	case "header":
		c.text(b["text"], at+"/text", 150, "plain_text")
	case "section":
		c.section(b, at)
	case "context":
		c.many(b["elements"], at+"/elements", 1, 10, c.contextElement)
	case "actions":
		c.many(b["elements"], at+"/elements", 1, 25, c.actionElement)
	case "divider", "call", "context_actions", "alert", "card", "carousel", "plan", "task_card":
	case "image":
		c.image(b, at)
		if b["title"] != nil {
			c.text(b["title"], at+"/title", 2000, "plain_text")
		}
	case "video":
		c.needs(b, at, "alt_text", "title", "thumbnail_url", "video_url")
	case "rich_text":
		c.many(b["elements"], at+"/elements", 1, 1000, c.rich)
	case "markdown":
		c.markdownBlock(b, at)
	case "input":
		c.input(b, at)
	case "table":
		c.table(b, at)
	default:
		c.fault(at, "unsupported type: %s", kind)
	}
}

// actionIDs must be unique within one block.
func (c *checker) actionIDs(b obj, at string) {
	seen := map[string]bool{}
	for _, key := range []string{"elements"} {
		for i, e := range list(b[key]) {
			o, _ := e.(obj)
			id := str(o["action_id"])
			if id != "" && seen[id] {
				c.fault(fmt.Sprintf("%s/%s/%d/action_id", at, key, i), "action_id already exists: %s", id)
			}
			seen[id] = true
		}
	}
}

func (c *checker) section(b obj, at string) {
	if b["text"] == nil && b["fields"] == nil {
		c.fault(at, "missing required field: text or fields")
	}
	if b["text"] != nil {
		c.text(b["text"], at+"/text", 3000, "")
	}
	if b["fields"] != nil {
		c.many(b["fields"], at+"/fields", 1, 10, func(o obj, at string) { c.text(o, at, 2000, "") })
	}
	if e, ok := b["accessory"].(obj); ok {
		c.element(e, at+"/accessory")
	}
}

func (c *checker) contextElement(o obj, at string) {
	if o["type"] == "image" {
		c.image(o, at)
		return
	}
	c.text(o, at, 3000, "")
}

func (c *checker) actionElement(o obj, at string) {
	if k := str(o["type"]); k == "image" || k == "plain_text_input" {
		c.fault(at, "unsupported type: %s", k)
		return
	}
	c.element(o, at)
}

func (c *checker) image(o obj, at string) {
	if str(o["image_url"]) == "" && o["slack_file"] == nil {
		c.fault(at, "missing required field: image_url")
	}
	c.length(str(o["image_url"]), at+"/image_url", 0, 3000)
	c.length(str(o["alt_text"]), at+"/alt_text", 1, 2000)
}

func (c *checker) rich(o obj, at string) {
	switch k := str(o["type"]); k {
	case "rich_text_section", "rich_text_preformatted", "rich_text_quote":
		if o["elements"] == nil {
			c.fault(at, "missing required field: elements")
		}
		for i, e := range list(o["elements"]) {
			c.richPart(e, fmt.Sprintf("%s/elements/%d", at, i))
		}
	case "rich_text_list":
		if s := str(o["style"]); s != "bullet" && s != "ordered" {
			c.fault(at+"/style", "must be one of bullet, ordered")
		}
		c.many(o["elements"], at+"/elements", 1, 1000, c.rich)
	default:
		c.fault(at, "unsupported type: %s", k)
	}
}

func (c *checker) richPart(e any, at string) {
	o, _ := e.(obj)
	switch k := str(o["type"]); k {
	case "text":
		c.length(str(o["text"]), at+"/text", 1, 0)
	case "link":
		c.length(str(o["url"]), at+"/url", 1, 3000)
	case "user", "usergroup", "channel", "broadcast", "emoji", "date", "color", "team":
	default:
		c.fault(at, "unsupported type: %s", k)
	}
}

func (c *checker) markdownBlock(b obj, at string) {
	if c.on != surfaceMessage {
		c.fault(at, "unsupported type: markdown")
	}
	c.length(str(b["text"]), at+"/text", 1, 0)
	c.markdown += utf8.RuneCountInString(str(b["text"]))
}

func (c *checker) input(b obj, at string) {
	c.text(b["label"], at+"/label", 2000, "plain_text")
	if b["hint"] != nil {
		c.text(b["hint"], at+"/hint", 2000, "plain_text")
	}
	e, ok := b["element"].(obj)
	if !ok {
		c.fault(at, "missing required field: element")
		return
	}
	if !elementLimits()[str(e["type"])].input {
		c.fault(at+"/element", "unsupported type: %s", str(e["type"]))
		return
	}
	c.element(e, at+"/element")
}

func (c *checker) table(b obj, at string) {
	c.tables++
	c.count(b["rows"], at+"/rows", 1, 100)
	for i, row := range list(b["rows"]) {
		c.count(row, fmt.Sprintf("%s/rows/%d", at, i), 1, 20)
	}
}

// many checks the number of items in a list and each of them.
func (c *checker) many(v any, at string, least, most int, each func(obj, string)) {
	c.count(v, at, least, most)
	for i, e := range list(v) {
		o, ok := e.(obj)
		if !ok {
			c.fault(fmt.Sprintf("%s/%d", at, i), "must be an object")
			continue
		}
		each(o, fmt.Sprintf("%s/%d", at, i))
	}
}

func (c *checker) count(v any, at string, least, most int) {
	switch n := len(list(v)); {
	case v == nil:
		c.fault(at, "missing required field: %s", at[len(parent(at))+1:])
	case n < least:
		c.fault(at, "no fewer than %d items allowed", least)
	case n > most:
		c.fault(at, "no more than %d items allowed", most)
	}
}

func parent(pointer string) string {
	for i := len(pointer) - 1; i >= 0; i-- {
		if pointer[i] == '/' {
			return pointer[:i]
		}
	}
	return ""
}

// length counts characters, as Slack does; most 0 means no limit.
func (c *checker) length(text, at string, least, most int) {
	n := utf8.RuneCountInString(text)
	switch {
	case n < least:
		c.fault(at, "must be more than %d characters", least-1)
	case most > 0 && n > most:
		c.fault(at, "must be less than %d characters", most+1)
	}
}

// text checks a text object; kind restricts its type when not empty.
func (c *checker) text(v any, at string, most int, kind string) {
	o, ok := v.(obj)
	if !ok {
		c.fault(at, "missing required field: %s", at[len(parent(at))+1:])
		return
	}
	k := str(o["type"])
	if k != "plain_text" && k != "mrkdwn" || kind != "" && k != kind {
		c.fault(at+"/type", "unsupported type: %s", k)
		return
	}
	c.length(str(o["text"]), at+"/text", 1, most)
}

func (c *checker) needs(o obj, at string, keys ...string) {
	for _, k := range keys {
		if o[k] == nil {
			c.fault(at, "missing required field: %s", k)
		}
	}
}
