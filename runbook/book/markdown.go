package book

import (
	"regexp"
	"strings"
)

// text takes the Markdown, the HTML and the mentions out of what came from
// outside.
func text(s string) string {
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", ">", "&gt;", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "#", "\\#").Replace(mention.ReplaceAllString(s, "$1@\u200b"))
}

// mention is an @ at which GitHub would call somebody: an address such as
// alice@example.com calls nobody, and is left to be copied.
var mention = regexp.MustCompile(`(^|[^0-9A-Za-z._%+-])@`)

// anchor is a link, or its words alone where it has no address.
func anchor(words, url string) string {
	if url == "" {
		return text(words)
	}
	return "[" + text(words) + "](" + strings.NewReplacer("(", "%28", ")", "%29", "<", "%3C", ">", "%3E", " ", "%20", "\n", "", "|", "%7C").Replace(url) + ")"
}

func code(s string) string {
	return "`" + strings.NewReplacer("`", "'", "|", "¦").Replace(oneLine(s)) + "`"
}

func fenced(s string) string { return strings.ReplaceAll(s, "```", "'''") }
