package ticket

import (
	"strings"
	"unicode"
)

// jiraLimit is how long a comment in Jira may be, in characters: the usual
// setting of jira.text.field.character.limit.
// https://confluence.atlassian.com/jirakb/the-entered-text-is-too-long-it-exceeds-the-allowed-limit-of-32-767-characters-461504707.html
const jiraLimit = 32_767

// wiki draws the record as the wiki markup that Jira's REST API of version 2
// takes.
// https://jira.atlassian.com/secure/WikiRendererHelpAction.jspa?section=all
func wiki(r Record) string {
	var b strings.Builder
	b.WriteString("h3. " + escapeWiki(r.Title) + "\n\n" + escapeWiki(header(r)) + "\n\n")
	for _, l := range r.Lines {
		if text := drawLine(l, wikiPart); text != "" {
			b.WriteString("* *" + escapeWiki(l.Label) + ":* " + strings.ReplaceAll(text, "\n", `\\ `) + "\n")
		}
	}
	for _, l := range r.Links {
		if web(l.URL) {
			b.WriteString("* [" + escapeWiki(l.Label) + "|" + l.URL + "]\n")
		}
	}
	marker := "\n" + textMarker(r.ID) + "\n"
	return shorten(b.String(), jiraLimit-len(marker)) + marker
}

func wikiPart(p Part) string {
	text := escapeWiki(p.Text)
	switch {
	case text == "":
		return ""
	case web(p.URL):
		return "[" + text + "|" + p.URL + "]"
	case p.Code:
		return "{{" + text + "}}"
	}
	return text
}

// escapeWiki takes the meaning from what has one. Numeric entities are used
// and not backslashes, because a backslash is itself read as a line break
// before another one, and is shown as it is before what it can't escape.
func escapeWiki(s string) string {
	var b strings.Builder
	runes := []rune(flat(s))
	for i, r := range runes {
		entity, ok := wikiEntities[r]
		if !ok || r == '-' && within(runes, i) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(entity)
	}
	return b.String()
}

// within tells whether a mark stands between letters or digits: a hyphen there
// has no meaning, and dates stay readable to those who edit them.
func within(runes []rune, i int) bool {
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	return i > 0 && i+1 < len(runes) && word(runes[i-1]) && word(runes[i+1])
}

var wikiEntities = map[rune]string{
	'&': "&#38;", '\\': "&#92;", '*': "&#42;", '_': "&#95;", '-': "&#45;", '+': "&#43;", '^': "&#94;",
	'~': "&#126;", '?': "&#63;", '{': "&#123;", '}': "&#125;", '[': "&#91;", ']': "&#93;", '|': "&#124;",
	'!': "&#33;", '#': "&#35;", '<': "&#60;", '>': "&#62;", '@': "&#64;", '(': "&#40;", ')': "&#41;",
}
