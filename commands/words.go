package commands

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"reconcilebot/runbook/fault"
)

// Bounds on what people may send. The longest reason has to fit into a commit
// message, a pull request and a card.
const (
	maxText   = 3000
	maxWord   = 300
	maxReason = 1000
)

// words are what somebody typed, taken apart.
type words struct {
	list []string
	// reason is what followed "because", as a sentence; because tells that
	// the word was there.
	reason  string
	because bool
}

// split takes a text apart: words between spaces, quotes of any shape around
// words with spaces, Slack's escapes as what they stand for, and everything
// after "because" as one sentence.
func split(text string) (words, error) {
	if utf8.RuneCountInString(text) > maxText {
		return words{}, fault.New(fault.Invalid, fmt.Sprintf("That is longer than %d characters. Say it shorter.", maxText))
	}
	var w words
	rest := strings.TrimSpace(spaces(strings.ToValidUTF8(text, "")))
	for rest != "" {
		var word string
		var quoted bool
		word, rest, quoted = next(rest)
		if !quoted && strings.EqualFold(strings.TrimSuffix(word, ":"), "because") {
			w.because, w.reason = true, sentence(rest)
			break
		}
		if utf8.RuneCountInString(word) > maxWord {
			return words{}, fault.New(fault.Invalid, fmt.Sprintf("One word is longer than %d characters. Is a space missing?", maxWord))
		}
		w.list = append(w.list, word)
	}
	if utf8.RuneCountInString(w.reason) > maxReason {
		return words{}, fault.New(fault.Invalid, fmt.Sprintf("The reason is longer than %d characters. Say it shorter; the ticket has room for more.", maxReason))
	}
	return w, nil
}

// next cuts the first word off. text begins with no space.
func next(text string) (word, rest string, quoted bool) {
	if text[0] == '<' {
		if end := strings.IndexByte(text, '>'); end > 0 {
			return standsFor(text[1:end]), strings.TrimLeft(text[end+1:], " "), false
		}
	}
	first, size := utf8.DecodeRuneInString(text)
	if closing, ok := quotes(first); ok {
		inner := text[size:]
		if end := strings.IndexFunc(inner, func(r rune) bool { return strings.ContainsRune(closing, r) }); end >= 0 {
			_, after := utf8.DecodeRuneInString(inner[end:])
			return plain(inner[:end]), strings.TrimLeft(inner[end+after:], " "), true
		}
		// A quote that never ends quotes the rest.
		return plain(inner), "", true
	}
	word, rest, _ = strings.Cut(text, " ")
	return plain(word), strings.TrimLeft(rest, " "), false
}

// quotes gives the marks that may end what a mark opens. Phones and macOS
// turn straight quotes into curly ones, not always in matching pairs.
func quotes(opening rune) (closing string, ok bool) {
	switch opening {
	case '"', '“', '”', '„':
		return `"“”`, true
	case '\'', '‘', '’', '‚':
		return `'‘’`, true
	case '«':
		return "»", true
	case '`':
		return "`", true
	}
	return "", false
}

// spaces makes every kind of white space, such as the no-break spaces that
// come with pasting, a plain space.
func spaces(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '\u2060' || r == '\u3164' {
			return ' '
		}
		return r
	}, s)
}

// sentence is free text: escapes are replaced by what they show, quotes
// around the whole are dropped, and so is what can't be seen.
func sentence(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "<")
		b.WriteString(plain(before))
		if !found {
			break
		}
		token, rest, closed := strings.Cut(after, ">")
		if !closed {
			b.WriteString(plain(after))
			break
		}
		b.WriteString(shows(token))
		s = rest
	}
	out := strings.Join(strings.Fields(visible(b.String())), " ")
	first, size := utf8.DecodeRuneInString(out)
	if closing, ok := quotes(first); ok {
		last, tail := utf8.DecodeLastRuneInString(out)
		if len(out) > size && strings.ContainsRune(closing, last) && !strings.ContainsAny(out[size:len(out)-tail], closing) {
			out = strings.TrimSpace(out[size : len(out)-tail])
		}
	}
	return out
}

// visible drops control, bidirectional and zero-width characters: a person
// who reads the text must see all of it, in its order.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if invisible(r) {
			return -1
		}
		return r
	}, s)
}

func invisible(r rune) bool { return unicode.Is(unicode.C, r) || r == utf8.RuneError }
