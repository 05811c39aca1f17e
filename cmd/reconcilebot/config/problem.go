package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one mistake in the file.
type Problem struct {
	File string
	Line int    // 1 is the first; 0 when it concerns the file as a whole
	Key  string // clusters[0].argocd.server; "" when it concerns the file
	Say  string // what is wrong and the cure; never a secret
}

func (p Problem) String() string {
	at := p.File
	if p.Line > 0 {
		at = fmt.Sprintf("%s:%d", at, p.Line)
	}
	if p.Key != "" {
		at += ": " + p.Key
	}
	return at + ": " + p.Say
}

// Problems is all that is wrong with a file, by line.
type Problems []Problem

// Error puts each problem on a line of its own.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// notes collects problems while a file is read.
type notes struct {
	file     string
	lines    map[string]int // of each key that the file has
	problems Problems
}

// add notes a problem with a key, at its line, or at the line of the nearest
// key around it when the file does not have that key. The first problem with a
// key stands alone: a value that could not be read is not missing as well.
func (n *notes) add(key, format string, args ...any) {
	if slices.ContainsFunc(n.problems, func(p Problem) bool { return p.Key == key }) {
		return
	}
	n.problems = append(n.problems, Problem{File: n.file, Line: n.line(key), Key: key, Say: fmt.Sprintf(format, args...)})
}

func (n *notes) line(key string) int {
	for key != "" {
		if line, ok := n.lines[key]; ok {
			return line
		}
		key = key[:max(strings.LastIndexAny(key, ".["), 0)]
	}
	return n.lines[""]
}

// err is nil when nothing was noted.
func (n *notes) err() error {
	if len(n.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(n.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return n.problems
}
