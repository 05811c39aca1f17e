package ticket

import (
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/gobwas/glob"
)

// Pattern is which addresses of tickets may be written to, for example
// https://github.com/acme/*/issues/*: a star stands for any run of characters
// but the slash, two stars for any at all.
type Pattern struct {
	text string
	glob glob.Glob
}

// ParsePattern reads a pattern. The scheme and the host must be written out,
// except for the first label of the host: a record goes to nobody by accident.
func ParsePattern(text string) (Pattern, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	host, _, slash := strings.Cut(rest, "/")
	wrong := scheme != "https" && scheme != "http" || !ok || !slash || strings.ContainsAny(text, "?#@[]{}!\\ ")
	if wrong || strings.Contains(strings.TrimPrefix(host, "*."), "*") || strings.HasPrefix(host, "*.") && strings.Count(host, ".") < 2 || host == "" {
		return Pattern{}, fmt.Errorf("%q is not the pattern of a ticket's address; write it like https://github.com/acme/*/issues/*", text)
	}
	g, err := glob.Compile(scheme+"://"+strings.ToLower(host)+strings.TrimPrefix(rest, host), '/')
	if err != nil {
		return Pattern{}, fmt.Errorf("%q is not the pattern of a ticket's address: %w", text, err)
	}
	return Pattern{text, g}, nil
}

func (p Pattern) String() string { return p.text }

// Patterns are those of one system; an address has to fit one of them.
type Patterns []Pattern

// ParsePatterns reads a list of patterns.
func ParsePatterns(texts []string) (list Patterns, err error) {
	for _, text := range texts {
		p, err := ParsePattern(text)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

func (list Patterns) fit(plain string) bool {
	for _, p := range list {
		if p.glob.Match(plain) {
			return true
		}
	}
	return false
}

// plainAddress is an address in the one form in which it is compared: without
// query and fragment, in which nothing means anything else to a server than it
// does to a person. ok is false for what has no such form.
func plainAddress(address string) (plain string, ok bool) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.Opaque != "" {
		return "", false
	}
	p := strings.TrimRight(u.Path, "/")
	// An escaped character could be a slash to the server and none to us.
	if u.RawPath != "" || p != "" && path.Clean(p) != p || strings.ContainsAny(p, "\\%*") {
		return "", false
	}
	for _, c := range p {
		if c <= ' ' || c > '~' {
			return "", false
		}
	}
	return u.Scheme + "://" + strings.ToLower(u.Host) + p, true
}

// below cuts the address of a system off a ticket's.
func below(base, address string) (rest string, ok bool) {
	plain, ok := plainAddress(address)
	if !ok {
		return "", false
	}
	root, ok := plainAddress(base)
	if !ok {
		return "", false
	}
	rest, ok = strings.CutPrefix(plain, root+"/")
	return rest, ok
}

// allowed tells whether the address fits the patterns.
func (list Patterns) allowed(address string) bool {
	plain, ok := plainAddress(address)
	return ok && list.fit(plain)
}
