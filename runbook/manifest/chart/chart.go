// Package chart renders Helm charts as `helm template` does, in memory and
// within bounds.
//
// It must never reach for the network, a cluster, another program or the file
// system, and no chart may make it run longer or grow larger than it is
// allowed to: whoever can write to a repository can write a template, and the
// process that renders it serves others too.
//
// Charts are loaded, and values are merged, checked and sorted, by Helm's own
// library. Why templates are not executed by it: its engine can be neither
// stopped nor bounded, so that one endless loop in a template would take the
// process with it. This package parses templates with text/template as Helm
// does, gives them the functions that Helm gives them, and puts a check into
// every loop, template and function call. What is random or depends on the
// time is the same in every render with the same seed, so that two renders
// differ by what was changed between them alone.
//
// The rules are those of helm.sh/helm/v3 v3.16.3, which Argo CD 2.14 has.
package chart

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	helm "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
)

// File is one file of a chart.
type File struct {
	// Name is its path in the chart, with slashes.
	Name string
	Data []byte
	// Path is where the file is kept, such as its path in a repository. It is
	// given back for what is rendered from it.
	Path string
}

// Chart is a loaded chart. It is safe for concurrent use.
type Chart struct {
	root *helm.Chart
	// paths are where files are kept, by the first byte of their content:
	// Helm's loader renames files and moves them between charts, and keeps
	// only the bytes as they are.
	paths   map[*byte]string
	trees   trees
	outputs outputs
}

// ErrTooLarge is the reason when a bound is reached.
var ErrTooLarge = errors.New("it takes more time or memory than it may")

// Load reads a chart from its files. Those that .helmignore names must have
// been left out.
func Load(files []File) (*Chart, error) {
	c := &Chart{paths: map[*byte]string{}}
	c.trees.known = map[treeKey]parsed{}
	c.outputs.known = map[treeKey]sorted{}
	buffered := make([]*loader.BufferedFile, 0, len(files))
	left := int64(maxArchive)
	for _, f := range files {
		data := bytes.TrimPrefix(f.Data, []byte("\xef\xbb\xbf"))
		if len(data) > 0 {
			// One content may be given for several files.
			data = slices.Clone(data)
			c.paths[&data[0]] = f.Path
		}
		if isArchive(f.Name) {
			if err := vetArchive(f.Name, data, &left); err != nil {
				return nil, err
			}
		}
		buffered = append(buffered, &loader.BufferedFile{Name: f.Name, Data: data})
	}
	var err error
	if c.root, err = loader.LoadFiles(buffered); err != nil {
		return nil, fmt.Errorf("load the chart: %w", err)
	}
	return c, ordered(c.root, 0)
}

// isArchive tells whether a file is a packaged subchart.
func isArchive(name string) bool {
	return path.Ext(name) == ".tgz" && path.Base(path.Dir(name)) == "charts"
}

// maxCharts bounds how deep charts may be within charts.
const maxCharts = 20

// ordered sorts subcharts by name: the loader leaves them in random order.
func ordered(c *helm.Chart, depth int) error {
	if depth > maxCharts {
		return fmt.Errorf("the charts lie too deep in each other: %w", ErrTooLarge)
	}
	deps := slices.Clone(c.Dependencies())
	slices.SortStableFunc(deps, func(a, b *helm.Chart) int { return strings.Compare(a.Name(), b.Name()) })
	c.SetDependencies(deps...)
	for _, d := range deps {
		if err := ordered(d, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// Name is the chart's name.
func (c *Chart) Name() string { return c.root.Name() }

// pathOf is where a file is kept; empty if it comes from an archive.
func (c *Chart) pathOf(data []byte) string {
	if len(data) == 0 {
		return ""
	}
	return c.paths[&data[0]]
}

// copied is a chart of its own for one render, which switches subcharts off
// and writes imported values into it.
func copied(c *helm.Chart) (*helm.Chart, error) {
	out := *c
	meta := *c.Metadata
	meta.Dependencies = nil
	for _, d := range c.Metadata.Dependencies {
		if d == nil {
			return nil, errors.New("a dependency in Chart.yaml is null")
		}
		own := *d
		meta.Dependencies = append(meta.Dependencies, &own)
	}
	out.Metadata = &meta
	out.Values, _ = clone(c.Values).(map[string]any)
	var deps []*helm.Chart
	for _, d := range c.Dependencies() {
		sub, err := copied(d)
		if err != nil {
			return nil, err
		}
		deps = append(deps, sub)
	}
	out.SetDependencies(deps...)
	return &out, nil
}

func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if v == nil {
			return v
		}
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = clone(item)
		}
		return out
	case chartutil.Values:
		return clone(map[string]any(v))
	case []any:
		if v == nil {
			return v
		}
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = clone(item)
		}
		return out
	}
	return v
}

// Missing names the dependencies that the chart asks for and that are not
// vendored with it.
func (c *Chart) Missing() (names []string) {
	for _, want := range c.root.Metadata.Dependencies {
		if want == nil {
			continue
		}
		if !slices.ContainsFunc(c.root.Dependencies(), func(d *helm.Chart) bool { return d.Name() == want.Name }) {
			names = append(names, want.Name)
		}
	}
	return names
}

// Values are the values that templates see, of the chart's defaults and of
// what overrides them.
func (c *Chart) Values(ctx context.Context, o Options) (map[string]any, error) {
	r := &render{chart: c, budget: newBudget(ctx, o.Limits), options: o}
	if err := r.prepare(); err != nil {
		return nil, err
	}
	return r.values, nil
}

// Defaults are the default values of a chart.
type Defaults struct {
	// Prefix are the keys below which they are in the values of the whole.
	Prefix []string
	// Path is where values.yaml is kept; empty if it is in an archive.
	Path   string
	Values map[string]any
}

// Defaults lists the default values, those of the chart itself first and
// those of its subcharts after it.
func (c *Chart) Defaults() []Defaults { return c.defaults(c.root, nil) }

func (c *Chart) defaults(of *helm.Chart, prefix []string) (list []Defaults) {
	d := Defaults{Prefix: prefix, Values: of.Values}
	for _, f := range of.Raw {
		if f.Name == "values.yaml" {
			d.Path = c.pathOf(f.Data)
		}
	}
	list = append(list, d)
	for _, sub := range of.Dependencies() {
		names := []string{sub.Name()}
		for _, want := range of.Metadata.Dependencies {
			if want != nil && want.Name == sub.Name() && want.Alias != "" {
				names = append(names, want.Alias)
			}
		}
		if len(names) > 1 {
			names = names[1:]
		}
		for _, name := range names {
			list = append(list, c.defaults(sub, append(slices.Clip(prefix), name))...)
		}
	}
	return list
}

// Files lists the files that templates may read, those of subcharts too.
func (c *Chart) Files() (list []File) {
	return c.files(c.root, nil, func(of *helm.Chart) []*helm.File { return of.Files })
}

// Templates lists the templates, those of subcharts too.
func (c *Chart) Templates() (list []File) {
	return c.files(c.root, nil, func(of *helm.Chart) []*helm.File { return of.Templates })
}

func (c *Chart) files(of *helm.Chart, list []File, which func(*helm.Chart) []*helm.File) []File {
	for _, f := range which(of) {
		if f != nil {
			list = append(list, File{Name: f.Name, Data: f.Data, Path: c.pathOf(f.Data)})
		}
	}
	for _, sub := range of.Dependencies() {
		list = c.files(sub, list, which)
	}
	return list
}
