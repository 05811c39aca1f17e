package card

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds on single things from outside, in characters, so that no one of them
// can push the rest out of a card.
const (
	longName   = 120
	longValue  = 160
	longPhrase = 600
)

// say makes a piece of text from outside safe to stand in a line of mrkdwn:
// one line, nothing invisible, nothing that Slack would read as a mention, a
// link or formatting. Slack knows no escape for its formatting marks, so look-
// alikes take their place.
func say(s string, most int) string {
	s = " " + cut(flat(s), most) + " "
	return escape(strings.TrimSpace(lookalike.Replace(s)))
}

// flat is a text as one line in which everything can be seen. What nobody
// would read to the end is not even looked at.
func flat(s string) string {
	return strings.Join(strings.Fields(visible(s[:min(len(s), 1<<14)])), " ")
}

// lookalike replaces the marks of mrkdwn. The underscore stays: it is common
// in names, and formats only at both ends of a word.
var lookalike = strings.NewReplacer("*", "∗", "~", "∼", "`", "'", " _", " ＿", "_ ", "＿ ")

// name is a short thing from outside: an object, a person, a branch.
func name(s string) string { return say(s, longName) }

// code is something from outside in a code span, where only the backtick has
// a meaning.
func code(s string, most int) string {
	s = flat(s)
	if s == "" {
		return "_empty_"
	}
	return "`" + escape(strings.ReplaceAll(cut(s, most), "`", "'")) + "`"
}

// paragraphs is text from outside that may have lines of its own.
func paragraphs(s string, most int) string {
	var lines []string
	for line := range strings.Lines(cut(s, most)) {
		line = say(line, most)
		// A leading mark makes a quotation even when it is escaped.
		if rest, ok := strings.CutPrefix(line, "&gt;"); ok {
			line = "›" + rest
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// escape hides Slack's three control characters.
// https://docs.slack.dev/messaging/formatting-message-text#escaping
func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// visible drops control, bidirectional and zero-width characters: whoever
// approves must see all there is, in its order. White space stays.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return r
		case unicode.Is(unicode.C, r), r == utf8.RuneError:
			return -1
		}
		return r
	}, s)
}

// cut shortens a text that is not escaped yet, at a border between
// characters, and says that it did. A mark that belongs to the letter before
// it is not left without it.
func cut(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	runes, end := []rune(s), max(most-1, 0)
	for end > 0 && unicode.Is(unicode.M, runes[end]) {
		end--
	}
	return strings.TrimRight(string(runes[:end]), " ") + "…"
}

// link makes a label that leads somewhere; the label is escaped already. An
// address that is no plain web address is left out.
func link(url, label string) string {
	web := strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://")
	if !web || len(url) > 1000 || strings.ContainsAny(url, `<>|"`) || url != visible(url) || strings.ContainsFunc(url, unicode.IsSpace) || label == "" {
		return label
	}
	return "<" + strings.ReplaceAll(url, "&", "&amp;") + "|" + strings.Trim(label, "`") + ">"
}

// value shows a decoded JSON value as people write it.
func value(v any) string {
	switch v := v.(type) {
	case nil:
		return "absent"
	case string:
		if v == "" {
			return `""`
		}
		return v
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}

// short is a commit or a digest as people say it.
func short(sha string) string {
	if len(sha) > 7 {
		return sha[:7]
	}
	return sha
}

// count says how many, with the noun in its right form.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "ch") {
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// either joins names with "or", both with "and".
func either(list []string) string { return join(list, "or") }
func both(list []string) string   { return join(list, "and") }

func join(list []string, word string) string {
	switch len(list) {
	case 0:
		return ""
	case 1:
		return list[0]
	}
	return strings.Join(list[:len(list)-1], ", ") + " " + word + " " + list[len(list)-1]
}
