package chart

import (
	"encoding/base64"
	"path"
	"strings"

	"github.com/gobwas/glob"
	helm "helm.sh/helm/v3/pkg/chart"
)

// contents are a chart's files that are no templates, as templates see them
// in .Files.
//
// Source: helm.sh/helm/v3 v3.16.3, pkg/engine/files.go.
type contents map[string][]byte

func newContents(from []*helm.File) contents {
	out := contents{}
	for _, f := range from {
		out[f.Name] = f.Data
	}
	return out
}

// GetBytes gives a file's content; none for a file that is not there.
func (c contents) GetBytes(name string) []byte {
	if v, ok := c[name]; ok {
		return v
	}
	return []byte{}
}

// Get gives a file's content as text.
func (c contents) Get(name string) string { return string(c.GetBytes(name)) }

// Glob gives the files whose path fits a pattern.
func (c contents) Glob(pattern string) contents {
	out := contents{}
	if len(pattern) > 1000 {
		return out
	}
	g, err := glob.Compile(pattern, '/')
	if err != nil {
		g, _ = glob.Compile("**")
	}
	for name, data := range c {
		if g.Match(name) {
			out[name] = data
		}
	}
	return out
}

// AsConfig gives the files as the data of a ConfigMap.
func (c contents) AsConfig() string {
	if c == nil {
		return ""
	}
	m := map[string]string{}
	for name, data := range c {
		m[path.Base(name)] = string(data)
	}
	return toYAML(m)
}

// AsSecrets gives the files as the data of a Secret.
func (c contents) AsSecrets() string {
	if c == nil {
		return ""
	}
	m := map[string]string{}
	for name, data := range c {
		m[path.Base(name)] = base64.StdEncoding.EncodeToString(data)
	}
	return toYAML(m)
}

// Lines gives the lines of a file.
func (c contents) Lines(name string) []string {
	if len(c[name]) == 0 {
		return []string{}
	}
	return strings.Split(strings.TrimSuffix(string(c[name]), "\n"), "\n")
}
