package ticket

import "strings"

// node is a node of the Atlassian Document Format, which Jira Cloud's REST API
// of version 3 takes and gives.
// https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/
type node struct {
	Type    string         `json:"type"`
	Version int            `json:"version,omitempty"` // of the document alone
	Attrs   map[string]any `json:"attrs,omitempty"`
	Content []node         `json:"content,omitempty"`
	Text    string         `json:"text,omitempty"`
	Marks   []mark         `json:"marks,omitempty"`
}

type mark struct {
	Type  string         `json:"type"`
	Attrs map[string]any `json:"attrs,omitempty"`
}

// adf draws the record as a document. Nothing in it needs an escape: text in
// it has no meaning, so that a mention can't be made by writing one.
func adf(r Record) node {
	doc := node{Type: "doc", Version: 1, Content: []node{
		{Type: "heading", Attrs: map[string]any{"level": 3}, Content: words(r.Title)},
		{Type: "paragraph", Content: words(header(r))},
	}}
	var items []node
	// How Jira counts a document is not documented: all of its JSON is more
	// than what it can mean. Some is kept back for the links and the marker.
	left, whole := jiraLimit-4000, true
	for _, l := range r.Lines {
		content := adfLine(l)
		if content == nil {
			continue
		}
		one := item(content)
		if left -= size(one); left < 0 {
			whole = false
			break
		}
		items = append(items, one)
	}
	if !whole {
		items = append(items, item(words("The rest is too long for this ticket; the Slack thread has it.")))
	}
	for _, l := range r.Links {
		if web(l.URL) {
			items = append(items, item(words(l.Label, link(l.URL))))
		}
	}
	if len(items) > 0 {
		doc.Content = append(doc.Content, node{Type: "bulletList", Content: items})
	}
	doc.Content = append(doc.Content, node{Type: "paragraph", Content: words(textMarker(r.ID))})
	return doc
}

func item(content []node) node {
	return node{Type: "listItem", Content: []node{{Type: "paragraph", Content: content}}}
}

// words is text; none for an empty one, which a document can't hold.
func words(s string, marks ...mark) []node {
	if s = flat(s); s == "" {
		return nil
	}
	return []node{{Type: "text", Text: s, Marks: marks}}
}

func link(url string) mark { return mark{Type: "link", Attrs: map[string]any{"href": url}} }

func adfLine(l Line) []node {
	var content []node
	for i, p := range l.Parts {
		var marks []mark
		if p.Code {
			marks = append(marks, mark{Type: "code"})
		}
		if web(p.URL) {
			marks = append(marks, link(p.URL))
		}
		text := words(p.Text, marks...)
		switch {
		case text == nil:
			continue
		case p.Break && i > 0:
			content = append(content, node{Type: "hardBreak"})
		case i > 0:
			content = append(content, node{Type: "text", Text: " "})
		}
		content = append(content, text...)
	}
	if content == nil {
		return nil
	}
	label := node{Type: "text", Text: flat(l.Label) + ":", Marks: []mark{{Type: "strong"}}}
	return append([]node{label, {Type: "text", Text: " "}}, content...)
}

func size(n node) int {
	raw, err := encode(n)
	if err != nil { // strings and numbers encode
		return jiraLimit
	}
	return len(raw)
}

// text is what a document says, a block a line.
func (n node) text() string {
	switch n.Type {
	case "text":
		return n.Text
	case "hardBreak":
		// No new line: a marker is a paragraph of its own, and nobody's words
		// within one may look like it.
		return " "
	}
	var b strings.Builder
	for _, c := range n.Content {
		b.WriteString(c.text())
	}
	if n.Type == "paragraph" || n.Type == "heading" {
		b.WriteByte('\n')
	}
	return b.String()
}
