package githubsim

import (
	"fmt"
	"strings"
)

// fileDiff is what a change does to one file, to be shown.
type fileDiff struct {
	Name           string
	Note           string // such as that it is binary or new
	Added, Removed int
	Lines          []diffLine
}

// diffLine is a line of a diff. Kind is add, del, hunk or same; a number is 0
// on the side that has no such line.
type diffLine struct {
	Kind     string
	Old, New int
	Text     string
}

// parseDiff reads what git diff prints.
func parseDiff(out string) []*fileDiff {
	var list []*fileDiff
	var oldLine, newLine, oldLeft, newLeft int
	for line := range strings.SplitSeq(out, "\n") {
		if names, ok := strings.CutPrefix(line, "diff --git "); ok && oldLeft == 0 && newLeft == 0 {
			_, name, _ := strings.Cut(names, " b/")
			list = append(list, &fileDiff{Name: name})
			continue
		}
		if len(list) == 0 {
			continue
		}
		f := list[len(list)-1]
		if oldLeft == 0 && newLeft == 0 {
			if !strings.HasPrefix(line, "@@ ") {
				f.header(line)
				continue
			}
			oldLine, oldLeft, newLine, newLeft = hunk(line)
			f.Lines = append(f.Lines, diffLine{Kind: "hunk", Text: line})
			continue
		}
		switch {
		case strings.HasPrefix(line, "+"):
			f.Lines = append(f.Lines, diffLine{"add", 0, newLine, line[1:]})
			f.Added, newLine, newLeft = f.Added+1, newLine+1, newLeft-1
		case strings.HasPrefix(line, "-"):
			f.Lines = append(f.Lines, diffLine{"del", oldLine, 0, line[1:]})
			f.Removed, oldLine, oldLeft = f.Removed+1, oldLine+1, oldLeft-1
		case strings.HasPrefix(line, " "):
			f.Lines = append(f.Lines, diffLine{"same", oldLine, newLine, line[1:]})
			oldLine, newLine, oldLeft, newLeft = oldLine+1, newLine+1, oldLeft-1, newLeft-1
		}
	}
	return list
}

// header reads a line between a file's name and its first hunk.
func (f *fileDiff) header(line string) {
	switch {
	case strings.HasPrefix(line, "+++ b/"):
		f.Name = strings.TrimPrefix(line, "+++ b/")
	case strings.HasPrefix(line, "new file"):
		f.Note = "new"
	case strings.HasPrefix(line, "deleted file"):
		f.Note = "removed"
	case strings.HasPrefix(line, "rename from "):
		f.Note = "was " + strings.TrimPrefix(line, "rename from ")
	case strings.HasPrefix(line, "Binary files"):
		f.Note = "binary"
	}
}

// hunk reads "@@ -3,7 +3,8 @@": where a hunk begins on either side, and how
// many lines it has there.
func hunk(line string) (oldAt, oldSize, newAt, newSize int) {
	side := func(s string) (at, size int) {
		size = 1
		if _, err := fmt.Sscanf(s, "%d,%d", &at, &size); err != nil {
			size = 1
		}
		return at, size
	}
	words := strings.Fields(line)
	if len(words) < 3 {
		return 0, 0, 0, 0
	}
	oldAt, oldSize = side(strings.TrimPrefix(words[1], "-"))
	newAt, newSize = side(strings.TrimPrefix(words[2], "+"))
	return oldAt, oldSize, newAt, newSize
}

// diff is what git says about a range, or about one commit.
func (r *repo) diff(args ...string) ([]*fileDiff, error) {
	out, err := r.git(append([]string{"-c", "core.quotePath=false"}, args...)...)
	if err != nil {
		return nil, err
	}
	return parseDiff(out), nil
}
