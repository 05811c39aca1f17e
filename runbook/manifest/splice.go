package manifest

import (
	"bytes"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// splice replaces the bytes of one value.
type splice struct {
	// start and end are the bytes that go, text is what comes.
	start, end int
	text       string
}

func (s splice) apply(content []byte) []byte {
	return slices.Concat(content[:s.start], []byte(s.text), content[s.end:])
}

const byHand = "Edit the file by hand."

// spliceScalar finds the bytes of a scalar, or of the alias that stands for
// one, and what to write there.
func (t *text) spliceScalar(n *yaml.Node, value any, in setting) (splice, *Refusal) {
	start, ok := t.offset(n)
	if !ok {
		return splice{}, refuse(Unreadable, byHand, "line %d can't be found again in the file", n.Line)
	}
	in.style = n.Style
	if n.Kind == yaml.AliasNode {
		return t.spliceToken(start, start+1+len(n.Value), value, in)
	}
	start = t.skipProperties(start)
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return t.spliceBlock(n, start, value)
	case n.Style&yaml.DoubleQuotedStyle != 0:
		return t.spliceToken(start, t.endOfDouble(start), value, in)
	case n.Style&yaml.SingleQuotedStyle != 0:
		return t.spliceToken(start, t.endOfSingle(start), value, in)
	case n.Value == "" && n.Tag == "!!null":
		return t.spliceEmpty(start, value, in)
	}
	return t.spliceToken(start, t.endOfPlain(start, n.Value), value, in)
}

func (t *text) spliceToken(start, end int, value any, in setting) (splice, *Refusal) {
	if end < start || end > len(t.content) {
		return splice{}, refuse(Unreadable, byHand, "the end of the value in line %d can't be told", t.lineAt(start))
	}
	written, ok := encodeScalar(value, in)
	if !ok {
		return splice{}, refuse(Structure, byHand, "the live value can't be written in one piece")
	}
	return splice{start, end, written}, nil
}

// spliceEmpty writes where a key or a dash has nothing after it.
func (t *text) spliceEmpty(start int, value any, in setting) (splice, *Refusal) {
	s, r := t.spliceToken(start, start, value, in)
	if start > 0 && (t.content[start-1] == ':' || t.content[start-1] == '-') {
		s.text = " " + s.text
	}
	return s, r
}

// skipProperties steps over an anchor and a tag in front of a value.
func (t *text) skipProperties(at int) int {
	b := t.content
	for at < len(b) && (b[at] == '&' || b[at] == '!') {
		for at < len(b) && !isBlank(b[at]) && b[at] != '\n' && b[at] != '\r' {
			at++
		}
		for at < len(b) && isBlank(b[at]) {
			at++
		}
	}
	return at
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func (t *text) endOfDouble(start int) int {
	if start >= len(t.content) || t.content[start] != '"' {
		return -1
	}
	for i := start + 1; i < len(t.content); i++ {
		switch t.content[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

func (t *text) endOfSingle(start int) int {
	if start >= len(t.content) || t.content[start] != '\'' {
		return -1
	}
	for i := start + 1; i < len(t.content); i++ {
		if t.content[i] != '\'' {
			continue
		}
		if i+1 < len(t.content) && t.content[i+1] == '\'' {
			i++
			continue
		}
		return i + 1
	}
	return -1
}

// maxPlainLines bounds the lines of one unquoted value.
const maxPlainLines = 1000

// endOfPlain finds the end of an unquoted value, which may go on over further
// lines: it takes in lines until they read as the value.
func (t *text) endOfPlain(start int, value string) int {
	if bytes.HasPrefix(t.content[start:], []byte(value)) {
		return start + len(value)
	}
	end := start
	var words []string
	gap := 0
	for range maxPlainLines {
		if end >= len(t.content) {
			return -1
		}
		line := t.content[end:]
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line = line[:i]
		}
		from := end + len(line) - len(bytes.TrimLeft(line, " \t"))
		word := string(bytes.Trim(cutComment(line), " \t\r"))
		words, gap = fold(words, gap, word)
		if strings.Join(words, "") == value {
			return from + len(word)
		}
		end += len(line) + 1
	}
	return -1
}

// fold joins lines of an unquoted value as YAML does: one break is a space,
// an empty line is a break.
func fold(words []string, gap int, word string) ([]string, int) {
	if word == "" {
		return words, gap + 1
	}
	if len(words) > 0 && gap == 0 {
		word = " " + word
	}
	return append(words, strings.Repeat("\n", gap)+word), 0
}

func cutComment(line []byte) []byte {
	if i := bytes.Index(line, []byte(" #")); i >= 0 {
		return line[:i]
	}
	return line
}

// lineAt is the line that holds a byte, counted from 1.
func (t *text) lineAt(at int) int { return 1 + bytes.Count(t.content[:at], []byte("\n")) }

// lineOf is the text of the line that holds a byte, without its end.
func (t *text) lineOf(at int) string {
	start := bytes.LastIndexByte(t.content[:at], '\n') + 1
	end := len(t.content)
	if i := bytes.IndexByte(t.content[at:], '\n'); i >= 0 {
		end = at + i
	}
	return strings.TrimSuffix(string(t.content[start:end]), "\r")
}
