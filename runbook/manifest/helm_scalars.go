package manifest

import (
	"encoding/json"
	"regexp"
	"strings"
)

// textOf is a scalar as text; ok is false for what is none.
func textOf(v any) (text string, ok bool) {
	if s, isText := v.(string); isText {
		return s, true
	}
	if !isScalar(v) {
		return "", false
	}
	return encodeJSON(v)
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9]\d*)(\.\d+)?$`)

// as writes a new value in the type that the old one has, where that can be.
func as(old any, text string, live any) any {
	switch old.(type) {
	case string:
		return text
	case bool:
		if text == "true" || text == "false" {
			return text == "true"
		}
	case nil:
		return live
	default:
		if jsonNumber.MatchString(text) {
			return json.Number(text)
		}
	}
	return text
}

// isField tells whether the change is one of a single value.
func (s *helmSearch) isField() (git, live string, ok bool) {
	if s.change.Op == Remove || s.git == nil {
		return "", "", false
	}
	git, okGit := textOf(s.git)
	live, okLive := textOf(s.change.Live)
	return git, live, okGit && okLive
}

// equal finds values that are what the field is.
func (s *helmSearch) equal() (list []wish) {
	git, live, ok := s.isField()
	if !ok {
		return nil
	}
	for _, l := range s.leaves {
		text, ok := textOf(l.value)
		if !ok {
			continue
		}
		now := live
		if text != git {
			if trimmed := strings.TrimSpace(text); trimmed == "" || trimmed != strings.TrimSpace(git) {
				continue
			}
			// A block of text ends in a line break that templates cut off.
			now = text[:strings.Index(text, strings.TrimSpace(text))] + strings.TrimSpace(live) + text[len(strings.TrimRight(text, " \t\n")):]
		}
		list = append(list, wish{[]valueSetting{{path: l.path, value: as(l.value, now, s.change.Live)}}, l.score})
	}
	return list
}

// replacement is a piece of a text, as it is and as it is to be.
type replacement struct{ old, new string }

// pieces are the pieces in which two texts differ, the smallest first.
func pieces(git, live string) (list []replacement) {
	add := func(old, new string) {
		for _, have := range list {
			if have.old == old {
				return
			}
		}
		if old != "" && old != new {
			list = append(list, replacement{old, new})
		}
	}
	for _, inWord := range []func(byte) bool{
		func(c byte) bool { return isWord(rune(c)) || c == '.' || c == '-' || c == '_' },
		func(c byte) bool { return c != ' ' && c != '\n' && c != '"' && c != '=' && c != ',' },
		func(c byte) bool { return c != '\n' },
	} {
		old, now := differing(git, live, inWord)
		add(old, now)
	}
	return list
}

// differing cuts from both texts what they share at both ends, as far as no
// word is cut in two.
func differing(a, b string, inWord func(byte) bool) (string, string) {
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	for start > 0 && inWord(a[start-1]) {
		start--
	}
	for end > 0 && inWord(a[len(a)-end]) {
		end--
	}
	return a[start : len(a)-end], b[start : len(b)-end]
}

// parts finds values of which the field is made, such as the tag of an image.
func (s *helmSearch) parts() (list []wish) {
	git, live, ok := s.isField()
	if _, isText := s.git.(string); !ok || !isText {
		return nil
	}
	list = s.imageParts(git, live)
	for _, l := range s.leaves {
		text, ok := textOf(l.value)
		if !ok || text == "" || len(text) >= len(git) {
			continue
		}
		for from := 0; ; {
			i := strings.Index(git[from:], text)
			if i < 0 {
				break
			}
			i += from
			from = i + 1
			before, after := git[:i], git[i+len(text):]
			if !strings.HasPrefix(live, before) || !strings.HasSuffix(live, after) || len(live) < len(before)+len(after) {
				continue
			}
			now := live[len(before) : len(live)-len(after)]
			list = append(list, wish{[]valueSetting{{path: l.path, value: as(l.value, now, now)}}, l.score + min(len(text), 8)})
		}
	}
	return list
}

// imageParts finds the values of an image's name, tag and digest, which
// change together.
func (s *helmSearch) imageParts(git, live string) (list []wish) {
	if lastKey(s.change.Path) != "image" {
		return nil
	}
	was, is := parseImage(git), parseImage(live)
	combined := []wish{{}}
	for _, part := range []struct{ key, old, new string }{{"repository", was.name, is.name}, {"tag", was.tag, is.tag}, {"digest", was.digest, is.digest}} {
		if part.old == part.new {
			continue
		}
		options := s.partOf(part.key, part.old, part.new)
		if len(options) == 0 {
			return nil
		}
		var next []wish
		for _, w := range combined {
			for _, o := range options {
				next = append(next, wish{append(w.settings[:len(w.settings):len(w.settings)], o.settings...), w.score + o.score})
			}
		}
		combined = next
	}
	if len(combined[0].settings) == 0 {
		return nil
	}
	return combined
}

// maxOptions bounds the values that are tried for one part of an image.
const maxOptions = 4

// partOf finds values that are one part of an image, or are empty and may
// become it.
func (s *helmSearch) partOf(key, old, now string) (list []wish) {
	add := func(path Path, value any, score int) {
		list = append(list, wish{[]valueSetting{{path: path, value: value}}, score})
	}
	for _, l := range s.leaves {
		text, ok := textOf(l.value)
		switch {
		case l.value == nil || text == "":
			if lastKey(l.path) == key && (old == "" || key == "tag") {
				add(l.path, now, l.score)
			}
		case !ok:
		case text == old:
			add(l.path, as(l.value, now, now), l.score+10)
		case key == "repository" && strings.HasSuffix(old, "/"+text) && strings.HasPrefix(now, strings.TrimSuffix(old, text)):
			add(l.path, strings.TrimPrefix(now, strings.TrimSuffix(old, text)), l.score+8)
		case key == "digest" && old == "sha256:"+text && strings.HasPrefix(now, "sha256:"):
			add(l.path, strings.TrimPrefix(now, "sha256:"), l.score+8)
		}
	}
	for _, n := range s.named {
		if _, there, found := lookup(s.values, n.path); !found && there != nil && lastKey(n.path) == key {
			add(n.path, now, n.score)
		}
	}
	sortWishes(list)
	return list[:min(len(list), maxOptions)]
}

// maxTimes bounds the places in one text that are tried.
const maxTimes = 4

// within finds texts among the values that hold a piece of the field, such as
// a manifest in a block of text.
func (s *helmSearch) within() (list []wish) {
	git, live, ok := s.isField()
	if !ok {
		return nil
	}
	for _, l := range s.leaves {
		text, isText := l.value.(string)
		if !isText {
			continue
		}
		for _, p := range append([]replacement{{git, live}}, pieces(git, live)...) {
			if len(p.old) < 2 && !s.words[strings.ToLower(lastKey(l.path))] || text == p.old {
				continue
			}
			for from, n := 0, 0; n < maxTimes; n++ {
				i := strings.Index(text[from:], p.old)
				if i < 0 {
					break
				}
				i += from
				from = i + len(p.old)
				if !stands(text, i, from) {
					continue
				}
				list = append(list, wish{[]valueSetting{{path: l.path, value: text[:i] + p.new + text[from:]}}, l.score + min(len(p.old), 12) - n})
			}
		}
	}
	return list
}

// stands tells whether a piece of a text is not a part of a longer word.
func stands(text string, from, to int) bool {
	return (from == 0 || !isWord(rune(text[from-1])) || !isWord(rune(text[from]))) &&
		(to == len(text) || !isWord(rune(text[to])) || !isWord(rune(text[to-1])))
}

// alike finds values whose names are like the field's, whatever they are now:
// one that is not set, so that the chart's own default is used, or a switch.
func (s *helmSearch) alike() (list []wish) {
	if s.change.Op == Remove || !isScalar(s.change.Live) {
		return nil
	}
	live, _ := textOf(s.change.Live)
	const atLeast = 4
	for _, n := range s.named {
		if n.score >= atLeast && (n.value == nil || isScalar(n.value)) {
			list = append(list, wish{[]valueSetting{{path: n.path, value: as(n.value, live, s.change.Live)}}, n.score})
		}
	}
	for _, l := range s.leaves {
		if l.score >= atLeast {
			list = append(list, wish{[]valueSetting{{path: l.path, value: as(l.value, live, s.change.Live)}}, l.score - 1})
		}
	}
	return list
}
