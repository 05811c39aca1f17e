package forge

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestPullTemplate(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for name, tt := range map[string]struct {
		tree fstest.MapFS
		want string
	}{
		"none":                    {fstest.MapFS{"README.md": file("x")}, ""},
		"in .github":              {fstest.MapFS{".github/PULL_REQUEST_TEMPLATE.md": file("## Why\n"), "pull_request_template.md": file("root")}, "## Why"},
		"at the root":             {fstest.MapFS{"Pull_Request_Template.txt": file("root"), "docs/pull_request_template.md": file("docs")}, "root"},
		"in docs":                 {fstest.MapFS{"docs/pull_request_template.md": file("docs")}, "docs"},
		"several to choose from":  {fstest.MapFS{".github/PULL_REQUEST_TEMPLATE/a.md": file("a")}, ""},
		"one that is no template": {fstest.MapFS{".github/pull_request_template.md/x": file("a")}, ""},
		"too long":                {fstest.MapFS{"pull_request_template.md": file(strings.Repeat("x", 20_000))}, ""},
	} {
		if got, err := PullTemplate(tt.tree); err != nil || got != tt.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, tt.want)
		}
	}
}
