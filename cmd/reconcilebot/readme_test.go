package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// named matches what is a path of the tree where it stands alone: in back
// quotes, in a link, or as a word of a command.
var named = regexp.MustCompile("(?m)(?:^|[\\s`(./])((?:cmd|bot|commands|runbook|state|deploy)/[A-Za-z0-9_./-]*[A-Za-z0-9_/]|Dockerfile|LICENSE|\\.ci/run)")

// TestReadmeNamesWhatIsThere looks for every path that the README names.
func TestReadmeNamesWhatIsThere(t *testing.T) {
	raw, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]bool{}
	for _, found := range named.FindAllStringSubmatch(string(raw), -1) {
		paths[found[1]] = true
	}
	if len(paths) < 20 {
		t.Errorf("only %d paths were found; is the pattern still right?", len(paths))
	}
	for path := range paths {
		if _, err := os.Stat(filepath.Join("../..", path)); err != nil {
			t.Errorf("the README names %s, which is not there", path)
		}
	}
}
