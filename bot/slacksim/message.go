package slacksim

import (
	"encoding/json"
	"slices"
	"strings"
)

// Message is a message as the workspace holds it.
type Message struct {
	TS        string          `json:"ts"`
	ThreadTS  string          `json:"thread_ts,omitempty"` // the parent's ts, when in a thread
	Channel   string          `json:"channel"`
	User      string          `json:"user"`
	BotID     string          `json:"bot_id,omitempty"`
	Subtype   string          `json:"subtype,omitempty"`
	Text      string          `json:"text"`
	Blocks    []Block         `json:"blocks,omitempty"`
	Metadata  *Metadata       `json:"metadata,omitempty"`
	Files     []File          `json:"files,omitempty"`
	Reactions []Reaction      `json:"reactions,omitempty"`
	Attach    json.RawMessage `json:"attachments,omitempty"`
	Edited    bool            `json:"edited,omitempty"`
	Versions  int             `json:"versions"` // 1 when never edited
	Replies   int             `json:"reply_count,omitempty"`
	Latest    string          `json:"latest_reply,omitempty"` // ts of the last reply
	Ephemeral bool            `json:"is_ephemeral,omitempty"`
	To        string          `json:"to,omitempty"` // who sees an ephemeral message
	Broadcast bool            `json:"reply_broadcast,omitempty"`
}

// Metadata is what an app leaves on its message for machines.
type Metadata struct {
	EventType    string          `json:"event_type"`
	EventPayload json.RawMessage `json:"event_payload"`
}

// Reaction is an emoji under a message.
type Reaction struct {
	Name  string   `json:"name"`
	Users []string `json:"users"`
}

// Block is one Block Kit block, kept as the app sent it with the ids that
// Slack adds.
type Block struct {
	Type string
	ID   string
	Raw  json.RawMessage
}

// MarshalJSON gives the block back as it is.
func (b Block) MarshalJSON() ([]byte, error) { return b.Raw, nil }

// UnmarshalJSON keeps the raw form and reads type and block_id from it.
func (b *Block) UnmarshalJSON(raw []byte) error {
	var head struct {
		Type string `json:"type"`
		ID   string `json:"block_id"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return err
	}
	*b = Block{head.Type, head.ID, slices.Clone(raw)}
	return nil
}

// Button is a button of a message or view, for those who press it.
type Button struct {
	Text     string
	ActionID string
	BlockID  string
	Value    string
	Style    string
	URL      string
	Confirm  *Confirm
}

// Confirm is the dialog that a button asks before it acts.
type Confirm struct{ Title, Text, Yes, No string }

// PlainText is everything a reader sees in the message's blocks, a line per
// text, or its text when it has no blocks.
func (m Message) PlainText() string {
	lines := []string{m.Text}
	if len(m.Blocks) > 0 {
		lines[0] = blocksText(m.Blocks)
	}
	for _, a := range m.attachments() {
		lines = append(lines, a.words())
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// Buttons are the message's buttons from top to bottom.
func (m Message) Buttons() []Button { return buttons(m.allBlocks()) }

// Button finds a button by its text or its action id.
func (m Message) Button(textOrAction string) (Button, bool) {
	return findButton(m.allBlocks(), textOrAction)
}

func (m Message) allBlocks() []Block {
	var out []Block
	for _, b := range m.everyBlock() {
		out = append(out, b.Block)
	}
	return out
}

func findButton(blocks []Block, textOrAction string) (Button, bool) {
	for _, b := range buttons(blocks) {
		if b.Text == textOrAction || b.ActionID == textOrAction {
			return b, true
		}
	}
	return Button{}, false
}

func buttons(blocks []Block) []Button {
	var out []Button
	for _, e := range elements(blocks) {
		if str(e.body["type"]) != "button" {
			continue
		}
		b := Button{
			Text: textOf(e.body["text"]), ActionID: str(e.body["action_id"]), BlockID: e.block,
			Value: str(e.body["value"]), Style: str(e.body["style"]), URL: str(e.body["url"]),
		}
		if c, ok := e.body["confirm"].(obj); ok {
			b.Confirm = &Confirm{textOf(c["title"]), textOf(c["text"]), textOf(c["confirm"]), textOf(c["deny"])}
		}
		out = append(out, b)
	}
	return out
}

// element is an interactive part of a block.
type element struct {
	block string
	kind  string // the block's type
	body  obj

	attachment int // the number of the attachment it stands in, or 0
}

func elements(blocks []Block) []element {
	var placed []placedBlock
	for _, b := range blocks {
		placed = append(placed, placedBlock{b, 0})
	}
	return placedElements(placed)
}

func placedElements(blocks []placedBlock) []element {
	var out []element
	for _, b := range blocks {
		body := decode(b.Raw)
		for _, key := range []string{"accessory", "element"} {
			if e, ok := body[key].(obj); ok {
				out = append(out, element{b.ID, b.Type, e, b.attachment})
			}
		}
		for _, e := range list(body["elements"]) {
			if e, ok := e.(obj); ok {
				out = append(out, element{b.ID, b.Type, e, b.attachment})
			}
		}
	}
	return out
}

func blocksText(blocks []Block) string {
	var lines []string
	for _, b := range blocks {
		lines = append(lines, texts(decode(b.Raw))...)
	}
	return strings.Join(lines, "\n")
}

// texts walks a block in reading order.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return nil
	case []any:
		var out []string
		for _, e := range v {
			out = append(out, texts(e)...)
		}
		return out
	case obj:
		if strings.HasPrefix(str(v["type"]), "rich_text_") && v["type"] != "rich_text_list" {
			return []string{richLine(list(v["elements"]))}
		}
		var out []string
		if t, ok := v["text"].(string); ok {
			out = append(out, t)
		}
		for _, key := range []string{"title", "label", "text", "fields", "rows", "elements", "accessory", "element", "placeholder", "options", "hint", "alt_text"} {
			if s, ok := v[key].(string); ok && (key == "alt_text" || key == "title") {
				out = append(out, s)
				continue
			}
			out = append(out, texts(v[key])...)
		}
		return out
	}
	return nil
}

func richLine(elements []any) string {
	var b strings.Builder
	for _, e := range elements {
		e, _ := e.(obj)
		switch str(e["type"]) {
		case "user":
			b.WriteString("<@" + str(e["user_id"]) + ">")
		case "usergroup":
			b.WriteString("<!subteam^" + str(e["usergroup_id"]) + ">")
		case "channel":
			b.WriteString("<#" + str(e["channel_id"]) + ">")
		case "emoji":
			b.WriteString(":" + str(e["name"]) + ":")
		case "link":
			if t := str(e["text"]); t != "" {
				b.WriteString(t)
			} else {
				b.WriteString(str(e["url"]))
			}
		default:
			b.WriteString(str(e["text"]))
		}
	}
	return b.String()
}
