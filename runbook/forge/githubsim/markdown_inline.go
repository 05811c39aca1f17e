package githubsim

import (
	"html/template"
	"net/url"
	"strings"
)

// maxDepth bounds how deep bold, links and <sub> may hold each other.
const maxDepth = 4

// inline renders what is within a line.
func inline(text string) string {
	var out strings.Builder
	spans{out: &out}.write(text)
	return out.String()
}

type spans struct {
	out   *strings.Builder
	depth int
}

func (s spans) write(text string) {
	for text != "" {
		at := strings.IndexAny(text, "\\`*[<&")
		if at < 0 {
			s.plain(text)
			return
		}
		s.plain(text[:at])
		text = text[at:]
		if n := s.span(text); n > 0 {
			text = text[n:]
			continue
		}
		s.plain(text[:1])
		text = text[1:]
	}
}

func (s spans) plain(text string) { s.out.WriteString(template.HTMLEscapeString(text)) }

// span renders the construct that a text begins with, and tells its length; 0
// if there is none.
func (s spans) span(text string) int {
	switch text[0] {
	case '\\':
		if len(text) > 1 && strings.IndexByte("\\`*_{}[]()#+-.!|<>@~&\"'", text[1]) >= 0 {
			s.plain(text[1:2])
			return 2
		}
	case '`':
		if code, _, ok := strings.Cut(text[1:], "`"); ok && code != "" {
			s.out.WriteString("<code>" + template.HTMLEscapeString(code) + "</code>")
			return len(code) + 2
		}
	case '*':
		return s.between(text, "**", "**", "strong")
	case '<':
		return s.between(text, "<sub>", "</sub>", "sub")
	case '[':
		return s.link(text)
	case '&':
		// These are written by who escapes a text for GitHub.
		for entity, meant := range map[string]string{"&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": `"`} {
			if strings.HasPrefix(text, entity) {
				s.plain(meant)
				return len(entity)
			}
		}
	}
	return 0
}

func (s spans) between(text, open, end, tag string) int {
	rest, ok := strings.CutPrefix(text, open)
	if !ok || s.depth >= maxDepth {
		return 0
	}
	inner, _, ok := strings.Cut(rest, end)
	if !ok || inner == "" {
		return 0
	}
	s.out.WriteString("<" + tag + ">")
	spans{s.out, s.depth + 1}.write(inner)
	s.out.WriteString("</" + tag + ">")
	return len(open) + len(inner) + len(end)
}

// link is [words](address). Only addresses on the web become links.
func (s spans) link(text string) int {
	end := closing(text)
	if end < 0 || s.depth >= maxDepth {
		return 0
	}
	rest, ok := strings.CutPrefix(text[end+1:], "(")
	if !ok {
		return 0
	}
	address, _, ok := strings.Cut(rest, ")")
	u, err := url.Parse(address)
	if !ok || err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return 0
	}
	s.out.WriteString(`<a rel="noreferrer" href="` + template.HTMLEscapeString(u.String()) + `">`)
	spans{s.out, s.depth + 1}.write(text[1:end])
	s.out.WriteString("</a>")
	return end + len(address) + 3
}

// closing finds the bracket that ends a link's words; -1 if there is none.
func closing(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			return -1
		case ']':
			return i
		}
	}
	return -1
}
