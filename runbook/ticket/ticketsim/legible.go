package ticketsim

import (
	"encoding/json"
	"strings"
)

// node is what of a document's node people read.
// https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/
type node struct {
	Type    string
	Text    string
	Content []node
	Marks   []struct {
		Type  string
		Attrs struct{ Href string }
	}
}

// legible is a comment's text as people read it: a document without its
// braces, everything else as it is.
func (s *Sim) legible(text string) string {
	if s.kind != JiraCloud {
		return text
	}
	var doc node
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return text
	}
	var b strings.Builder
	doc.read(&b)
	return strings.TrimSpace(b.String())
}

func (n node) read(b *strings.Builder) {
	switch n.Type {
	case "text":
		b.WriteString(n.Text)
		for _, m := range n.Marks {
			if m.Type == "link" {
				b.WriteString(" <" + m.Attrs.Href + ">")
			}
		}
	case "hardBreak":
		b.WriteString("\n  ")
	case "listItem":
		b.WriteString("- ")
	}
	for _, c := range n.Content {
		c.read(b)
	}
	switch n.Type {
	case "paragraph", "heading":
		b.WriteByte('\n')
	}
}
