package forge

import (
	"bufio"
	"bytes"
	"path"
	"strings"
)

// CodeownersPaths are the places where GitHub looks for code owners; the
// first file found is the one that counts.
var CodeownersPaths = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"}

// Owners lists the owners of a file by GitHub's rules: of the patterns that
// match, the last one counts, also when it names nobody. An owner is @user,
// @org/team or an e-mail address. Patterns are those of gitignore without
// negation, character ranges and escaped comments.
// https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
func Owners(codeowners []byte, file string) []string {
	var owners []string
	lines := bufio.NewScanner(bytes.NewReader(codeowners))
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		fields := splitFields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "!") || strings.ContainsAny(fields[0], "[]") {
			continue
		}
		if owns(fields[0], file) {
			owners = fields[1:]
		}
	}
	if len(owners) == 0 {
		return nil
	}
	return owners
}

// splitFields splits at blanks that no backslash escapes.
func splitFields(line string) []string {
	const escaped = "\x00"
	fields := strings.Fields(strings.ReplaceAll(line, `\ `, escaped))
	for i := range fields {
		fields[i] = strings.ReplaceAll(fields[i], escaped, " ")
	}
	return fields
}

// owns tells whether a pattern covers a file.
func owns(pattern, file string) bool {
	anchored := strings.HasPrefix(pattern, "/")
	trimmed := strings.TrimPrefix(pattern, "/")
	folder := strings.HasSuffix(trimmed, "/")
	trimmed = strings.TrimSuffix(trimmed, "/")
	if strings.Contains(trimmed, "/") {
		anchored = true
	}
	want := strings.Split(trimmed, "/")
	have := strings.Split(strings.TrimPrefix(file, "/"), "/")
	if !anchored {
		want = append([]string{"**"}, want...)
	}
	// A pattern for a folder, or for a name that turns out to be a folder,
	// covers what is in it; "docs/*" covers the files of that folder only.
	below := folder || want[len(want)-1] != "*"
	return match(want, have, folder, below)
}

func match(want, have []string, folder, below bool) bool {
	switch {
	case len(want) == 0 && len(have) == 0:
		return !folder
	case len(want) == 0:
		return below
	case want[0] == "**" && len(want) == 1:
		return len(have) > 0
	case want[0] == "**":
		for skip := 0; skip <= len(have); skip++ {
			if match(want[1:], have[skip:], folder, below) {
				return true
			}
		}
		return false
	case len(have) == 0:
		return false
	}
	ok, err := path.Match(want[0], have[0])
	return err == nil && ok && match(want[1:], have[1:], folder, below)
}
