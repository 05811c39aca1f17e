package card

import (
	"strings"

	"github.com/slack-go/slack"
)

// maxFallback is what chat.update takes, in bytes, with some room: it refuses
// more than 4,000, and it is not documented whether it counts bytes.
const maxFallback = 3800

// fallback says in text what the blocks say.
func fallback(first string, blocks []slack.Block) string {
	lines := []string{first}
	for _, b := range blocks {
		lines = append(lines, drawn(b)...)
	}
	var out strings.Builder
	for _, line := range lines {
		if line == "" {
			continue
		}
		if out.Len()+len(line)+len("\n…") > maxFallback {
			out.WriteString("\n…")
			break
		}
		if out.Len() > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(line)
	}
	return out.String()
}

// drawn is a block as lines of mrkdwn. Headers repeat what the first line
// says, and buttons can't be pressed in a text: both are left out.
func drawn(b slack.Block) []string {
	switch b := b.(type) {
	case *slack.SectionBlock:
		return strings.Split(b.Text.Text, "\n")
	case *slack.ContextBlock:
		var lines []string
		for _, e := range b.ContextElements.Elements {
			if t, ok := e.(*slack.TextBlockObject); ok {
				lines = append(lines, strings.Split(t.Text, "\n")...)
			}
		}
		return lines
	case *slack.RichTextBlock:
		return strings.Split(escape(literalText(b)), "\n")
	}
	return nil
}

func literalText(b *slack.RichTextBlock) string {
	var out strings.Builder
	for _, e := range b.Elements {
		if p, ok := e.(*slack.RichTextPreformatted); ok {
			for _, t := range p.Elements {
				if t, ok := t.(*slack.RichTextSectionTextElement); ok {
					out.WriteString(t.Text)
				}
			}
		}
	}
	return out.String()
}
