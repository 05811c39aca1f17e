package manifest

import (
	"bytes"
	"strings"

	"gopkg.in/yaml.v3"
)

// spliceKey adds a key with a value to a mapping, behind its last one.
func (t *text) spliceKey(n *yaml.Node, key string, value any, in setting) (splice, *Refusal) {
	writtenKey, okKey := encodeScalar(key, in)
	written, ok := encodeScalar(value, in)
	if !ok || !okKey {
		return splice{}, refuse(Structure, byHand, "the live value can't be written in one piece")
	}
	pair := writtenKey + ": " + written
	if n.Style&yaml.FlowStyle != 0 {
		return t.spliceFlowKey(n, pair)
	}
	if len(n.Content) < 2 {
		return splice{}, refuse(Structure, byHand, "the map in line %d is empty", n.Line)
	}
	last, lastValue := n.Content[len(n.Content)-2], n.Content[len(n.Content)-1]
	at, ok := t.offset(last)
	if !ok {
		return splice{}, refuse(Unreadable, byHand, "line %d can't be found again in the file", last.Line)
	}
	indent := last.Column - 1
	end := t.pairEnd(at, indent, resolve(lastValue).Kind == yaml.SequenceNode && lastValue.Kind != yaml.AliasNode)
	line := strings.Repeat(" ", indent) + pair
	if end == len(t.content) && !bytes.HasSuffix(t.content, []byte("\n")) {
		return splice{end, end, t.lineEnding() + line}, nil
	}
	return splice{end, end, line + t.lineEnding()}, nil
}

// pairEnd is where the line behind a pair begins: behind its last line that
// is indented deeper than its key. The items of a list may stand as deep as
// the key. Empty lines and comments that follow stay behind.
func (t *text) pairEnd(key, indent int, list bool) int {
	at := t.nextLine(key)
	end := at
	for at < len(t.content) {
		next := t.nextLine(at)
		line := bytes.TrimRight(t.content[at:next], "\r\n")
		rest := bytes.TrimLeft(line, " ")
		width := len(line) - len(rest)
		at = next
		switch {
		case len(bytes.TrimSpace(line)) == 0, rest[0] == '#' && width <= indent:
			continue
		case width == 0 && (bytes.HasPrefix(line, []byte("---")) || bytes.HasPrefix(line, []byte("..."))):
			return end
		case width > indent, list && width == indent && (string(rest) == "-" || bytes.HasPrefix(rest, []byte("- "))):
			end = next
			continue
		}
		return end
	}
	return end
}

func (t *text) nextLine(at int) int {
	if i := bytes.IndexByte(t.content[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(t.content)
}

// spliceFlowKey adds a pair within brackets, on a line of its own if the last
// pair has one.
func (t *text) spliceFlowKey(n *yaml.Node, pair string) (splice, *Refusal) {
	no := refuse(Structure, byHand, "the end of the map in line %d can't be told", n.Line)
	start, ok := t.offset(n)
	if !ok {
		return splice{}, no
	}
	start = t.skipProperties(start)
	closing := t.flowEnd(start)
	if closing < 0 {
		return splice{}, no
	}
	if len(n.Content) == 0 {
		return splice{start + 1, start + 1, pair}, nil
	}
	end := closing
	for end > start && (isBlank(t.content[end-1]) || t.content[end-1] == '\n' || t.content[end-1] == '\r') {
		end--
	}
	if t.content[end-1] == ',' {
		return splice{}, refuse(Structure, byHand, "the map in line %d ends with a comma", n.Line)
	}
	last := n.Content[len(n.Content)-2]
	at, ok := t.offset(last)
	if !ok {
		return splice{}, no
	}
	lead := t.lineOf(at)
	lead = lead[:min(len(lead), at-t.lineStart(at))]
	if strings.TrimSpace(lead) == "" && at > start && bytes.Contains(t.content[start:at], []byte("\n")) {
		return splice{end, end, "," + t.lineEnding() + lead + pair}, nil
	}
	return splice{end, end, ", " + pair}, nil
}

func (t *text) lineStart(at int) int { return bytes.LastIndexByte(t.content[:at], '\n') + 1 }

// flowEnd finds the bracket that closes the one at start. Quotes within
// unquoted words can lead it astray; reading the file again shows that.
func (t *text) flowEnd(start int) int {
	if start >= len(t.content) || t.content[start] != '{' {
		return -1
	}
	depth := 0
	for i := start; i < len(t.content); i++ {
		switch t.content[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i
			}
		case '"':
			if i = t.endOfDouble(i) - 1; i < 0 {
				return -1
			}
		case '\'':
			if i = t.endOfSingle(i) - 1; i < 0 {
				return -1
			}
		case '#':
			if isBlank(t.content[i-1]) || t.content[i-1] == '\n' {
				return -1 // a comment may hold anything
			}
		}
	}
	return -1
}
