package githubsim

import (
	"html/template"
	"regexp"
	"strings"
)

// markdown renders a small part of GitHub's: paragraphs, headings, lists,
// tables, fenced code, bold, code, links and <sub>. Everything else stays
// text. https://github.github.com/gfm/
//
// Why no library: a text here comes from anybody, and what is not written out
// below cannot become an element.
func markdown(source string) template.HTML {
	b := blocks{lines: strings.Split(strings.ReplaceAll(source, "\r\n", "\n"), "\n")}
	for len(b.lines) > 0 {
		b.next()
	}
	// Every text in b went through html.EscapeString; the elements are ours.
	return template.HTML(b.out.String())
}

// blocks takes a text apart line by line.
type blocks struct {
	lines []string
	out   strings.Builder
}

var (
	heading   = regexp.MustCompile(`^(#{1,6}) +(.*)$`)
	item      = regexp.MustCompile(`^(?:[-*]|\d+\.) +(.*)$`)
	delimiter = regexp.MustCompile(`^\|(?: *:?-+:? *\|)+$`)
	comments  = regexp.MustCompile(`^<!--.*-->$`)
)

func (b *blocks) take() string {
	line := b.lines[0]
	b.lines = b.lines[1:]
	return line
}

func (b *blocks) next() {
	line := strings.TrimSpace(b.lines[0])
	switch {
	case line == "" || comments.MatchString(line):
		b.take()
	case strings.HasPrefix(line, "```"):
		b.fence()
	case heading.MatchString(line):
		m := heading.FindStringSubmatch(strings.TrimSpace(b.take()))
		level := string('0' + byte(min(len(m[1])+1, 6)))
		b.out.WriteString("<h" + level + ">" + inline(m[2]) + "</h" + level + ">\n")
	case b.atTable():
		b.table()
	case item.MatchString(line):
		b.list()
	default:
		b.paragraph()
	}
}

// starts tells whether a line ends the paragraph before it.
func (b *blocks) starts() bool {
	line := strings.TrimSpace(b.lines[0])
	return line == "" || strings.HasPrefix(line, "```") || heading.MatchString(line) || item.MatchString(line) || b.atTable()
}

func (b *blocks) paragraph() {
	text := []string{strings.TrimSpace(b.take())}
	for len(b.lines) > 0 && !b.starts() {
		text = append(text, strings.TrimSpace(b.take()))
	}
	b.out.WriteString("<p>" + inline(strings.Join(text, "\n")) + "</p>\n")
}

func (b *blocks) list() {
	tag := "ul"
	if c := strings.TrimSpace(b.lines[0])[0]; c >= '0' && c <= '9' {
		tag = "ol"
	}
	b.out.WriteString("<" + tag + ">\n")
	for len(b.lines) > 0 {
		m := item.FindStringSubmatch(strings.TrimSpace(b.lines[0]))
		if m == nil {
			break
		}
		b.take()
		b.out.WriteString("<li>" + inline(m[1]) + "</li>\n")
	}
	b.out.WriteString("</" + tag + ">\n")
}

// fence is code between ``` lines; a diff gets colours.
func (b *blocks) fence() {
	language := strings.Trim(strings.TrimSpace(b.take()), "` ")
	b.out.WriteString(`<pre class="code">`)
	for len(b.lines) > 0 {
		line := b.take()
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			break
		}
		text := template.HTMLEscapeString(line)
		switch {
		case language == "diff" && strings.HasPrefix(line, "+"):
			text = `<span class="add">` + text + `</span>`
		case language == "diff" && strings.HasPrefix(line, "-"):
			text = `<span class="del">` + text + `</span>`
		}
		b.out.WriteString(text + "\n")
	}
	b.out.WriteString("</pre>\n")
}

func (b *blocks) atTable() bool {
	return len(b.lines) > 1 && strings.HasPrefix(strings.TrimSpace(b.lines[0]), "|") && delimiter.MatchString(strings.TrimSpace(b.lines[1]))
}

func (b *blocks) table() {
	head := cells(b.take())
	b.take()
	b.out.WriteString(`<div class="scroll"><table>`)
	// A table without words in its head is a list of names and values.
	if strings.Join(head, "") != "" {
		b.row("th", head)
	}
	for len(b.lines) > 0 && strings.HasPrefix(strings.TrimSpace(b.lines[0]), "|") {
		b.row("td", cells(b.take()))
	}
	b.out.WriteString("</table></div>\n")
}

func (b *blocks) row(tag string, cells []string) {
	b.out.WriteString("<tr>")
	for _, cell := range cells {
		b.out.WriteString("<" + tag + ">" + inline(cell) + "</" + tag + ">")
	}
	b.out.WriteString("</tr>\n")
}

// cells splits a table's row at the bars that are not escaped.
func cells(line string) []string {
	line = strings.TrimPrefix(strings.TrimSpace(line), "|")
	var list []string
	begin := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '|':
			list = append(list, strings.TrimSpace(line[begin:i]))
			begin = i + 1
		}
	}
	if rest := strings.TrimSpace(line[min(begin, len(line)):]); rest != "" {
		list = append(list, rest)
	}
	return list
}
