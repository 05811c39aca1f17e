package slacksim

import (
	"encoding/json"
	"strings"

	"reconcilebot/bot/slacksim/blockkit"
)

// maxAttachments is from https://docs.slack.dev/reference/methods/chat.postMessage.
const maxAttachments = 100

// attachments reads, checks and completes secondary attachments as Slack keeps
// them: each has a number and a fallback, and its blocks are as strict as a
// message's. https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments
func (s *Sim) attachments(raw string) (json.RawMessage, *failure) {
	if raw == "" || raw == "null" {
		return nil, nil
	}
	var all []obj
	if json.Unmarshal([]byte(raw), &all) != nil {
		return nil, fail("invalid_attachments")
	}
	if len(all) > maxAttachments {
		return nil, fail("too_many_attachments")
	}
	for i, a := range all {
		if a == nil {
			return nil, fail("invalid_attachments")
		}
		a["id"] = i + 1
		if str(a["fallback"]) == "" {
			a["fallback"] = fallback(a)
		}
		if c := str(a["color"]); c != "" {
			a["color"] = strings.TrimPrefix(c, "#")
		}
		if a["blocks"] == nil {
			continue
		}
		blocks, f := s.blocks(string(encode(a["blocks"])), blockkit.Message)
		if f != nil {
			f.code = "invalid_attachments"
			return nil, f
		}
		a["blocks"] = blocks
	}
	return encode(all), nil
}

// fallback is what is shown where an attachment can't be.
func fallback(a obj) string {
	for _, k := range []string{"text", "title", "pretext"} {
		if t := str(a[k]); t != "" {
			return t
		}
	}
	return "[no preview available]"
}

// attachment is a secondary attachment that has blocks.
type attachment struct {
	ID     int     `json:"id"`
	Text   string  `json:"text"`
	Title  string  `json:"title"`
	Pre    string  `json:"pretext"`
	Blocks []Block `json:"blocks"`
}

// attachments are the message's secondary attachments.
func (m Message) attachments() []attachment {
	var all []attachment
	if len(m.Attach) == 0 || json.Unmarshal(m.Attach, &all) != nil {
		return nil
	}
	return all
}

// words is everything a reader sees in the attachment.
func (a attachment) words() string {
	var lines []string
	for _, t := range []string{a.Pre, a.Title, a.Text, blocksText(a.Blocks)} {
		if t != "" {
			lines = append(lines, t)
		}
	}
	return strings.Join(lines, "\n")
}

// everyBlock is the message's blocks with those of its attachments, each with
// the number of its attachment or 0.
func (m Message) everyBlock() []placedBlock {
	var out []placedBlock
	for _, b := range m.Blocks {
		out = append(out, placedBlock{b, 0})
	}
	for _, a := range m.attachments() {
		for _, b := range a.Blocks {
			out = append(out, placedBlock{b, a.ID})
		}
	}
	return out
}

type placedBlock struct {
	Block
	attachment int
}
