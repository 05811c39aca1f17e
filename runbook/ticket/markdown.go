package ticket

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// githubLimit is how long a comment on GitHub may be, in characters. It is
// what the API answers to a longer one: "body is too long (maximum is 65536
// characters)".
const githubLimit = 65_536

// markdown draws the record for GitHub.
// https://github.github.com/gfm/
func markdown(r Record) string {
	var b strings.Builder
	b.WriteString(githubMarker(r.ID) + "\n")
	b.WriteString("### " + escapeMarkdown(r.Title) + "\n\n")
	if head := header(r); head != "" {
		b.WriteString(escapeMarkdown(head) + "\n\n")
	}
	for _, l := range r.Lines {
		if text := drawLine(l, markdownPart); text != "" {
			// Two spaces at the end of a line keep the next one below it.
			b.WriteString("- **" + escapeMarkdown(l.Label) + ":** " + strings.ReplaceAll(text, "\n", "  \n  ") + "\n")
		}
	}
	for _, l := range r.Links {
		if web(l.URL) {
			b.WriteString("- [" + escapeMarkdown(l.Label) + "](" + l.URL + ")\n")
		}
	}
	b.WriteString("\n<sub>Reconciliation `" + r.ID + "`, kept by reconcilebot</sub>\n")
	return shorten(b.String(), githubLimit)
}

// githubMarker is a comment that nobody sees.
func githubMarker(id string) string { return "<!-- reconcilebot record " + id + " -->" }

func markdownPart(p Part) string {
	text := escapeMarkdown(p.Text)
	if p.Code {
		text = "`" + strings.ReplaceAll(flat(p.Text), "`", "'") + "`"
	}
	if web(p.URL) {
		return "[" + text + "](" + p.URL + ")"
	}
	return text
}

// escapeMarkdown takes the meaning from what has one within a line, and from
// what GitHub makes of a name: a mention would call people who have nothing to
// do with it, and a number would link to another issue.
// https://github.github.com/gfm/#backslash-escapes
func escapeMarkdown(s string) string {
	var b strings.Builder
	before := ' '
	for i, r := range flat(s) {
		switch {
		case r == '@' && !unicode.IsLetter(before) && !unicode.IsDigit(before):
			b.WriteString("@\u200b") // a space of no width
		case strings.ContainsRune("\\`*_{}[]<>()#|~&", r), i == 0 && strings.ContainsRune("-+=>:", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case (r == '.' || r == ')') && numbered(b.String()):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

// numbered tells whether a line so far would begin a list with a dot after it.
func numbered(s string) bool {
	return s != "" && len(s) < 10 && strings.Trim(s, "0123456789") == ""
}

// drawLine joins the parts of a line; a new line is "\n".
func drawLine(l Line, one func(Part) string) string {
	var b strings.Builder
	for i, p := range l.Parts {
		switch {
		case p.Break && i > 0:
			b.WriteByte('\n')
		case i > 0:
			b.WriteByte(' ')
		}
		b.WriteString(one(p))
	}
	return b.String()
}

// header says since when, until when, and where it stands.
func header(r Record) string {
	text := r.Incident + ", opened " + stamp(r.Opened)
	if r.Final() {
		text += ", closed " + stamp(r.Closed)
	}
	if r.State != "" {
		text += ": " + r.State
	}
	return text
}

// flat is a text as one line in which everything can be seen: control,
// bidirectional and zero-width characters are dropped.
func flat(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.C, r), r == utf8.RuneError:
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// web tells whether an address can stand in every system's link.
func web(url string) bool {
	return (strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://")) &&
		len(url) < 2000 && url == flat(url) && !strings.ContainsAny(url, " ()<>|[]{}\"\\^`")
}

// shorten cuts a text at the end of a line and says that it did.
func shorten(s string, most int) string {
	const rest = "\n… the rest is too long for this ticket; the Slack thread has it.\n"
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	cut := string([]rune(s)[:most-utf8.RuneCountInString(rest)])
	if end := strings.LastIndexByte(cut, '\n'); end > 0 {
		cut = cut[:end+1]
	}
	return cut + rest
}
