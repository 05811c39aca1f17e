package manifest

import (
	"fmt"
	"strconv"
	"strings"
)

// hunk is a run of lines that differ: before[a:b] becomes after[c:d].
type hunk struct{ a, b, c, d int }

// splitLines keeps the ends of lines.
func splitLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// compareLines finds what differs. Edits are few and small, so a search for
// the next lines that agree is enough; it need not find the shortest diff.
func compareLines(before, after []string) (hunks []hunk) {
	i, j := 0, 0
	for i < len(before) || j < len(after) {
		if i < len(before) && j < len(after) && before[i] == after[j] {
			i, j = i+1, j+1
			continue
		}
		b, d := nextAgreement(before, after, i, j)
		hunks = append(hunks, hunk{i, b, j, d})
		i, j = b, d
	}
	return hunks
}

// nextAgreement finds the nearest pair of lines from which two lines in a row
// agree, or the ends of both.
func nextAgreement(before, after []string, i, j int) (int, int) {
	rest := max(len(before)-i, len(after)-j)
	for distance := 1; distance <= 2*rest && distance < 4000; distance++ {
		for down := 0; down <= distance; down++ {
			b, d := i+distance-down, j+down
			if b <= len(before) && d <= len(after) && agree(before, after, b, d) {
				return b, d
			}
		}
	}
	return len(before), len(after)
}

func agree(before, after []string, b, d int) bool {
	for k := range 2 {
		endB, endD := b+k >= len(before), d+k >= len(after)
		if endB || endD {
			return endB && endD
		}
		if before[b+k] != after[d+k] {
			return false
		}
	}
	return true
}

// around is how many lines of context a diff shows.
const around = 3

// unified writes a diff that `git apply` takes.
func unified(e Edit, before, after []string, hunks []hunk) string {
	var out strings.Builder
	old, now := quotePath("a/"+e.File), quotePath("b/"+e.File)
	fmt.Fprintf(&out, "diff --git %s %s\n", old, now)
	switch {
	case e.Created:
		old = "/dev/null"
		out.WriteString("new file mode 100644\n")
	case e.Deleted:
		now = "/dev/null"
		out.WriteString("deleted file mode 100644\n")
	}
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", old, now)
	for len(hunks) > 0 {
		n := 1
		for n < len(hunks) && hunks[n].a-hunks[n-1].b <= 2*around {
			n++
		}
		writeGroup(&out, before, after, hunks[:n])
		hunks = hunks[n:]
	}
	return out.String()
}

func writeGroup(out *strings.Builder, before, after []string, hunks []hunk) {
	first, last := hunks[0], hunks[len(hunks)-1]
	from := max(first.a-around, 0)
	to := min(last.b+around, len(before))
	newFrom := first.c - (first.a - from)
	newTo := last.d + (to - last.b)
	fmt.Fprintf(out, "@@ -%s +%s @@\n", span(from, to), span(newFrom, newTo))
	at := from
	for _, h := range hunks {
		writeLines(out, " ", before[at:h.a])
		writeLines(out, "-", before[h.a:h.b])
		writeLines(out, "+", after[h.c:h.d])
		at = h.b
	}
	writeLines(out, " ", before[at:to])
}

func span(from, to int) string {
	if to == from {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func writeLines(out *strings.Builder, mark string, lines []string) {
	for _, line := range lines {
		out.WriteString(mark + line)
		if !strings.HasSuffix(line, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// quotePath quotes a path as Git does in diffs, if it has to.
func quotePath(p string) string {
	for _, r := range p {
		if r < ' ' || r == '"' || r == '\\' || r == 0x7f {
			return strconv.Quote(p)
		}
	}
	return p
}
