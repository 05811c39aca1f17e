package manifest

import (
	"bytes"
	"strings"

	"gopkg.in/yaml.v3"
)

// spliceBlock changes the lines of a block scalar that differ and leaves the
// others as they are, byte by byte.
func (t *text) spliceBlock(n *yaml.Node, start int, value any) (splice, *Refusal) {
	s, ok := value.(string)
	if !ok {
		return splice{}, refuse(Structure, byHand, "line %d holds a block of text, and the live value is none", n.Line)
	}
	if n.Style&yaml.FoldedStyle != 0 {
		return t.spliceFolded(n, start, s)
	}
	old, trailing := cutBreaks(n.Value)
	wanted, newTrailing := cutBreaks(s)
	if trailing != newTrailing || old == "" || wanted == "" {
		return splice{}, refuse(Structure, byHand, "the block of text in line %d would begin or end differently", n.Line)
	}
	if hasControl(strings.NewReplacer("\n", "", "\t", "").Replace(s)) {
		return splice{}, refuse(Structure, byHand, "the live text holds characters that a block of text can't hold")
	}
	body, indent, ok := t.blockBody(start, strings.Count(old, "\n")+1)
	if !ok {
		return splice{}, refuse(Structure, byHand, "the indentation of the block of text in line %d can't be told", n.Line)
	}
	return t.replaceLines(body, indent, strings.Split(old, "\n"), strings.Split(wanted, "\n")), nil
}

func cutBreaks(s string) (text string, breaks int) {
	text = strings.TrimRight(s, "\n")
	return text, len(s) - len(text)
}

// blockBody gives the offsets at which the body's lines begin, one more than
// there are lines, and their indentation.
func (t *text) blockBody(header, count int) (lines []int, indent string, ok bool) {
	b := t.content
	if head := t.lineOf(header); strings.ContainsAny(cutHeader(head), "123456789") {
		return nil, "", false // the indentation is given, and may not be the first line's
	}
	at := header
	for range count + 1 {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			lines = append(lines, len(b))
			break
		}
		at += i + 1
		lines = append(lines, at)
	}
	if len(lines) != count+1 {
		return nil, "", false
	}
	for i := range count {
		line := b[lines[i]:lines[i+1]]
		if rest := bytes.TrimLeft(line, " "); len(bytes.TrimRight(rest, "\r\n")) > 0 {
			return lines, string(line[:len(line)-len(rest)]), true
		}
	}
	return nil, "", false
}

// cutHeader is the indicator of a block scalar: what follows the last | or >
// of its line, without a comment.
func cutHeader(line string) string {
	line, _, _ = strings.Cut(line, " #")
	return line[strings.LastIndexAny(line, "|>")+1:]
}

func (t *text) replaceLines(body []int, indent string, old, wanted []string) splice {
	first := 0
	for first < len(old) && first < len(wanted) && old[first] == wanted[first] {
		first++
	}
	last, lastNew := len(old), len(wanted)
	for last > first && lastNew > first && old[last-1] == wanted[lastNew-1] {
		last, lastNew = last-1, lastNew-1
	}
	ending := t.lineEnding()
	var text strings.Builder
	for _, line := range wanted[first:lastNew] {
		if line != "" {
			text.WriteString(indent + line)
		}
		text.WriteString(ending)
	}
	end := body[last]
	written := text.String()
	if end == len(t.content) && !bytes.HasSuffix(t.content, []byte("\n")) {
		written = strings.TrimSuffix(written, ending)
	}
	return splice{body[first], end, written}
}

// lineEnding is how the file ends its lines.
func (t *text) lineEnding() string {
	if bytes.Contains(t.content, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// spliceFolded replaces the words of a folded block that differ, if they are
// within one line and there only once.
func (t *text) spliceFolded(n *yaml.Node, start int, wanted string) (splice, *Refusal) {
	no := refuse(Structure, byHand, "the folded text in line %d would have to be wrapped anew", n.Line)
	old, now := differingWords(n.Value, wanted)
	i := bytes.IndexByte(t.content[start:], '\n')
	if i < 0 || old == "" || now == "" || strings.ContainsAny(old+now, "\n") {
		return splice{}, no
	}
	body := start + i + 1
	end := t.blockEnd(body)
	at := bytes.Index(t.content[body:end], []byte(old))
	if at < 0 || bytes.Count(t.content[body:end], []byte(old)) > 1 {
		return splice{}, no
	}
	return splice{body + at, body + at + len(old), now}, nil
}

// differingWords cuts from both texts what they share at both ends, up to
// the border of a word.
func differingWords(a, b string) (string, string) {
	start, border := 0, 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		if start++; a[start-1] == ' ' || a[start-1] == '\n' {
			border = start
		}
	}
	a, b = a[border:], b[border:]
	end, border := 0, 0
	for end < len(a) && end < len(b) && a[len(a)-1-end] == b[len(b)-1-end] {
		if end++; a[len(a)-end] == ' ' || a[len(a)-end] == '\n' {
			border = end
		}
	}
	return a[:len(a)-border], b[:len(b)-border]
}

// blockEnd is where the first line after a block's body begins: the first
// that is not empty and not indented as the body's first line is.
func (t *text) blockEnd(body int) int {
	indent := -1
	at := body
	for at < len(t.content) {
		next := len(t.content)
		if i := bytes.IndexByte(t.content[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		line := bytes.TrimRight(t.content[at:next], "\r\n")
		if rest := bytes.TrimLeft(line, " "); len(rest) > 0 {
			width := len(line) - len(rest)
			if indent < 0 {
				indent = width
			}
			if width < indent {
				return at
			}
		}
		at = next
	}
	return at
}
