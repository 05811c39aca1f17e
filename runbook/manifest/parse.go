package manifest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxPath bounds a path's text, in bytes: far more than any field needs.
const maxPath = 64 << 10

// ParsePath reads a path as String writes it.
func ParsePath(text string) (Path, error) {
	if len(text) > maxPath {
		return nil, fmt.Errorf("path of %d bytes is longer than %d", len(text), maxPath)
	}
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("path %.100q is not UTF-8", text)
	}
	p := pathParser{rest: text}
	path := Path{}
	for p.rest != "" {
		e, err := p.elem(len(path) == 0)
		if err != nil {
			return nil, fmt.Errorf("path %.100q, at character %d: %w", text, len(text)-len(p.rest)+1, err)
		}
		path = append(path, e)
	}
	return path, nil
}

type pathParser struct{ rest string }

func (p *pathParser) elem(first bool) (Elem, error) {
	if p.take("[") {
		return p.bracket()
	}
	if !first && !p.take(".") {
		return Elem{}, fmt.Errorf(`expected "." or "["`)
	}
	key := p.until(`.[]=,"`)
	if !isBareKey(key) {
		return Elem{}, fmt.Errorf(`expected a key; write keys with dots, spaces or only digits as ["a.b/c"]`)
	}
	return Key(key), nil
}

// bracket reads what follows "[": a quoted key, an index, or fields and
// values of a list item.
func (p *pathParser) bracket() (Elem, error) {
	if digits, _, ok := strings.Cut(p.rest, "]"); ok && isDigits(digits) {
		p.rest = p.rest[len(digits)+1:]
		return position(digits)
	}
	item := map[string]string{}
	for {
		field, quoted, err := p.word(`[],"=`)
		if err != nil {
			return Elem{}, err
		}
		if quoted && len(item) == 0 && p.take("]") {
			return Key(field), nil
		}
		if !p.take("=") {
			return Elem{}, fmt.Errorf(`expected "=" after %.40q; write a map's key as ["key"]`, field)
		}
		value, quoted, err := p.word(`[],"`)
		if err != nil {
			return Elem{}, err
		}
		if value == "" && !quoted {
			return Elem{}, fmt.Errorf(`expected a value after "="`)
		}
		if _, twice := item[field]; twice {
			return Elem{}, fmt.Errorf("field %.40q is named twice", field)
		}
		item[field] = value
		if p.take("]") {
			return Elem{Item: item}, nil
		}
		if !p.take(",") {
			return Elem{}, fmt.Errorf(`expected "," or "]"`)
		}
	}
}

func position(digits string) (Elem, error) {
	n, err := strconv.ParseInt(digits, 10, 31)
	if err != nil || n == 1<<31-1 {
		return Elem{}, fmt.Errorf("index %.20s is too large", digits)
	}
	return At(int(n)), nil
}

// word reads a quoted string, or all up to one of the stop characters.
func (p *pathParser) word(stop string) (text string, quoted bool, err error) {
	if !strings.HasPrefix(p.rest, `"`) {
		return p.until(stop), false, nil
	}
	end := 1
	for end < len(p.rest) && p.rest[end] != '"' {
		if p.rest[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(p.rest) {
		return "", false, fmt.Errorf("the quote is not closed")
	}
	if err := json.Unmarshal([]byte(p.rest[:end+1]), &text); err != nil {
		return "", false, fmt.Errorf("the quoted text is no JSON string")
	}
	p.rest = p.rest[end+1:]
	return text, true, nil
}

func (p *pathParser) take(s string) bool {
	rest, ok := strings.CutPrefix(p.rest, s)
	p.rest = rest
	return ok
}

func (p *pathParser) until(stop string) string {
	end := strings.IndexAny(p.rest, stop)
	if end < 0 {
		end = len(p.rest)
	}
	text := p.rest[:end]
	p.rest = p.rest[end:]
	return text
}
