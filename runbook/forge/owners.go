package forge

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// CodeownersPaths are the places where GitHub looks for the file of code
// owners; the first that exists counts.
// https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
var CodeownersPaths = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"}

// maxCodeowners is the size from which on GitHub does not load the file, so
// that nobody owns anything; bytes.
// https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners#codeowners-file-size
const maxCodeowners = 3 << 20

// Codeowners reads the file that GitHub reads: the first of the three places
// that has one. No file, and one that is too large, give nothing.
func Codeowners(tree fs.FS) ([]byte, error) {
	for _, path := range CodeownersPaths {
		raw, err := fs.ReadFile(tree, path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", path, err)
		case len(raw) >= maxCodeowners:
			return nil, nil
		default:
			return raw, nil
		}
	}
	return nil, nil
}

// OwnerSets gives the owners of files, each set once, in the files' order: a
// review by one of each set is what a code owner review means. Files that
// nobody owns need none.
func OwnerSets(codeowners []byte, files []string) (sets [][]string) {
	for _, file := range files {
		owners := Owners(codeowners, file)
		if len(owners) > 0 && !slices.ContainsFunc(sets, func(have []string) bool { return slices.Equal(have, owners) }) {
			sets = append(sets, owners)
		}
	}
	return sets
}

// Owners gives the owners of a path: "@user", "@org/team" or an email. The
// last line that matches counts; one without owners means that nobody owns
// it. Lines that GitHub does not accept (with !, [ ] or an owner that cannot
// be one) are skipped, as GitHub skips them. The path is relative to the
// root, without a slash in front.
func Owners(codeowners []byte, path string) []string {
	var owners []string
	for line := range strings.Lines(string(codeowners)) {
		pattern, names, ok := parseOwners(line)
		if ok && matches(pattern, strings.TrimPrefix(path, "/")) {
			owners = names
		}
	}
	return owners
}

// parseOwners splits a line. A space in a pattern is written "\ "; a # after
// white space starts a comment.
func parseOwners(line string) (pattern string, owners []string, ok bool) {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "#") {
		return "", nil, false
	}
	fields := strings.Fields(strings.ReplaceAll(line, `\ `, "\x00"))
	if len(fields) == 0 {
		return "", nil, false
	}
	pattern = strings.ReplaceAll(fields[0], "\x00", " ")
	if strings.HasPrefix(pattern, "!") || strings.HasPrefix(pattern, `\#`) || strings.ContainsAny(pattern, "[]") {
		return "", nil, false
	}
	for _, f := range fields[1:] {
		if strings.HasPrefix(f, "#") {
			break
		}
		if !strings.Contains(f, "@") || strings.ContainsAny(f, "\x00") {
			return "", nil, false
		}
		owners = append(owners, f)
	}
	return pattern, owners, true
}

// matches follows .gitignore with GitHub's difference: dir/* takes the files
// directly inside and nothing deeper. Matching is case-sensitive.
func matches(pattern, path string) bool {
	re, err := regexp.Compile(ownerRegexp(pattern))
	return err == nil && re.MatchString(path)
}

func ownerRegexp(pattern string) string {
	body := strings.TrimSuffix(strings.TrimPrefix(pattern, "/"), "/")
	out := strings.Builder{}
	out.WriteString("^")
	// A slash in front or in the middle ties a pattern to the root.
	if !strings.HasPrefix(pattern, "/") && !strings.Contains(body, "/") {
		out.WriteString("(?:.*/)?")
	}
	parts := strings.Split(body, "/")
	for i, part := range parts {
		last := i == len(parts)-1
		switch {
		case part == "**" && last:
			out.WriteString(".*")
		case part == "**":
			out.WriteString("(?:.*/)?")
		default:
			out.WriteString(segment(part))
			if !last {
				out.WriteString("/")
			}
		}
	}
	switch last := parts[len(parts)-1]; {
	case strings.HasSuffix(pattern, "/"):
		out.WriteString("/.*")
	case last == "*" && len(parts) > 1: // files directly inside
	case last != "**":
		out.WriteString("(?:/.*)?") // a directory's name takes all inside it
	}
	out.WriteString("$")
	return out.String()
}

func segment(part string) string {
	out := strings.Builder{}
	for i := 0; i < len(part); i++ {
		switch c := part[i]; {
		case c == '*':
			if !strings.HasSuffix(out.String(), "[^/]*") {
				out.WriteString("[^/]*")
			}
		case c == '?':
			out.WriteString("[^/]")
		case c == '\\' && i+1 < len(part):
			i++
			out.WriteString(regexp.QuoteMeta(part[i : i+1]))
		default:
			j := i + 1
			for j < len(part) && !strings.ContainsRune(`*?\`, rune(part[j])) {
				j++
			}
			out.WriteString(regexp.QuoteMeta(part[i:j]))
			i = j - 1
		}
	}
	return out.String()
}
