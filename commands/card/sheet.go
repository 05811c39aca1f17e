package card

import (
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"
)

// sheet is a message being drawn, from top to bottom.
type sheet struct {
	blocks []slack.Block
	// spent counts the characters so far.
	spent int
	// unique makes block ids that no earlier drawing of the same card had, so
	// that a click says which drawing it was made on.
	unique string
}

func mrkdwn(s string) *slack.TextBlockObject {
	// Verbatim keeps Slack from making links and mentions of its own.
	return &slack.TextBlockObject{Type: slack.MarkdownType, Text: s, Verbatim: true}
}

func plainText(s string) *slack.TextBlockObject {
	emoji := false
	return &slack.TextBlockObject{Type: slack.PlainTextType, Text: s, Emoji: &emoji}
}

// title is the headline; it is plain text and takes no escapes.
func (s *sheet) title(parts ...string) {
	s.blocks = append(s.blocks, slack.NewHeaderBlock(plainText(cut(visible(strings.Join(parts, " · ")), 140))))
}

// budget is how many characters a message has in all: Slack refuses more than
// about 12,000 and does not document how it counts.
const budget = 7500

// afford tells whether a text still fits, and says once when none does.
func (s *sheet) afford(text string) bool {
	if text == "" || s.spent > budget {
		return false
	}
	if s.spent += utf8.RuneCountInString(text); s.spent > budget {
		s.blocks = append(s.blocks, slack.NewContextBlock("", mrkdwn("… the rest is too long to show here.")))
		return false
	}
	return true
}

// lines is a paragraph of lines; empty ones are left out.
func (s *sheet) lines(lines ...string) {
	if text := paragraph(lines); s.afford(text) {
		s.blocks = append(s.blocks, slack.NewSectionBlock(mrkdwn(text), nil, nil))
	}
}

// small is a line of lesser weight.
func (s *sheet) small(lines ...string) {
	if text := paragraph(lines); s.afford(text) {
		s.blocks = append(s.blocks, slack.NewContextBlock("", mrkdwn(text)))
	}
}

// paragraph joins lines within what one text may hold.
func paragraph(lines []string) string {
	var kept []string
	length := 0
	for _, line := range lines {
		if line == "" {
			continue
		}
		if length += utf8.RuneCountInString(line) + 1; length > 2800 {
			kept = append(kept, "…")
			break
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}

// fact is a labelled line.
func fact(label, text string) string {
	if text == "" {
		return ""
	}
	return "*" + label + "*  " + text
}

// literal shows text as it is: nothing in it is read as formatting, a link or
// a mention.
func (s *sheet) literal(text string) {
	if text = cut(visible(text), 2500); !s.afford(text) {
		return
	}
	s.blocks = append(s.blocks, slack.NewRichTextBlock("", &slack.RichTextPreformatted{
		Type:     slack.RTEPreformatted,
		Elements: []slack.RichTextSectionElement{slack.NewRichTextSectionTextElement(text, nil)},
	}))
}

// button is something to press.
type button struct {
	action, text string
	// label says what it does to what, for those who hear it.
	label, value string
	style        slack.Style
	confirm      *slack.ConfirmationBlockObject
}

func (s *sheet) buttons(list ...button) {
	if len(list) == 0 {
		return
	}
	elements := make([]slack.BlockElement, len(list))
	for i, b := range list {
		e := slack.NewButtonBlockElement(b.action, b.value, plainText(b.text))
		e.AccessibilityLabel = cut(visible(b.label), 75)
		e.Style, e.Confirm = b.style, b.confirm
		elements[i] = e
	}
	s.blocks = append(s.blocks, slack.NewActionBlock("act/"+s.unique, elements...))
}

// confirm is the question before something that can't be taken back.
func confirm(title, text, yes, no string) *slack.ConfirmationBlockObject {
	return slack.NewConfirmationBlockObject(plainText(cut(title, 100)), plainText(cut(visible(text), 300)), plainText(yes), plainText(no))
}

// message ends the drawing. first says in one line what the message says, for
// notifications; the rest of the fallback is made from the blocks.
func (s *sheet) message(first string) Message {
	text := fallback(first, s.blocks)
	return Message{Text: text, Blocks: s.blocks}
}
