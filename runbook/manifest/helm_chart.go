package manifest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/ignore"
	sigsyaml "sigs.k8s.io/yaml"

	"reconcilebot/runbook/manifest/chart"
)

// maxChart bounds the files of one chart, in bytes.
const maxChart = 64 << 20

// chartFiles lists the files of a chart as Helm does: links followed, without
// what .helmignore names.
//
// Source: helm.sh/helm/v3 v3.16.3, pkg/chart/loader/directory.go, LoadDir.
func (f *files) chartFiles(dir string) ([]chart.File, error) {
	rules := ignore.Empty()
	if name := path.Join(dir, ignore.HelmIgnore); f.exists(name) {
		content, err := f.read(name)
		if err != nil {
			return nil, err
		}
		if rules, err = ignore.Parse(bytes.NewReader(content)); err != nil {
			return nil, refuse(Unreadable, "Mend the file first.", "%s can't be read", name)
		}
	}
	rules.AddDefaults()
	w := chartWalk{files: f, rules: rules, left: maxChart}
	if err := w.dir(dir, "", 0); err != nil {
		return nil, err
	}
	err := w.neighbours(dir)
	return w.found, err
}

// neighbours adds the subcharts that are kept elsewhere in the repository, as
// `helm dependency build` would, which Argo CD runs if they are missing.
//
// Source: https://helm.sh/docs/helm/helm_dependency/
func (w *chartWalk) neighbours(dir string) error {
	var meta struct {
		Dependencies []struct{ Name, Repository string } `json:"dependencies"`
	}
	content, err := w.files.read(path.Join(dir, "Chart.yaml"))
	if err != nil || sigsyaml.Unmarshal(content, &meta) != nil {
		return nil // loading the chart says so
	}
	for _, d := range meta.Dependencies {
		from, isFile := strings.CutPrefix(d.Repository, "file://")
		name := path.Join("charts", path.Base(d.Name))
		if !isFile || path.IsAbs(from) || d.Name == "" || slices.ContainsFunc(w.found, func(f chart.File) bool {
			return strings.HasPrefix(f.Name, name+"/") || strings.HasPrefix(f.Name, name+"-") && strings.HasSuffix(f.Name, ".tgz")
		}) {
			continue
		}
		sub := path.Join(dir, from)
		if !fs.ValidPath(sub) || strings.HasPrefix(dir+"/", sub+"/") {
			continue // it stays missing
		}
		real, err := w.files.follow(sub)
		if err != nil || real == "" {
			return err
		}
		if st, err := w.files.stat(real); err != nil || !st.IsDir() {
			continue
		}
		w.rules = ignore.Empty()
		w.rules.AddDefaults()
		if err := w.dir(real, name, 0); err != nil {
			return err
		}
	}
	return nil
}

type chartWalk struct {
	files *files
	rules *ignore.Rules
	left  int64
	found []chart.File
}

// dir adds the files of a directory of the tree, which in the chart is called
// name.
func (w *chartWalk) dir(dir, name string, depth int) error {
	tooLarge := refuse(TooLarge, "Edit it by hand.", "the chart in %s has too many files, or they are too large", dir)
	if depth > maxLinks {
		return tooLarge
	}
	entries, err := w.files.entries(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		in := path.Join(name, e.Name())
		real := path.Join(dir, e.Name())
		if e.Type()&fs.ModeSymlink != 0 {
			if real, err = w.files.follow(real); err != nil {
				return err
			}
			if real == "" {
				return refuse(Unreadable, "Mend the chart first.", "%s is a link that leads nowhere", path.Join(dir, e.Name()))
			}
		}
		st, err := w.files.stat(real)
		if err != nil {
			return fmt.Errorf("look at %s: %w", real, err)
		}
		if w.rules.Ignore(in, st) {
			continue
		}
		if st.IsDir() {
			if err := w.dir(real, in, depth+1); err != nil {
				return err
			}
			continue
		}
		if !st.Mode().IsRegular() {
			return refuse(Unreadable, "Mend the chart first.", "%s is no regular file", real)
		}
		content, err := w.files.read(real)
		if err != nil {
			return err
		}
		w.left -= int64(len(content))
		if w.found = append(w.found, chart.File{Name: in, Data: content, Path: real}); w.left < 0 || len(w.found) > w.files.limits.Files {
			return tooLarge
		}
	}
	return nil
}

// chartIn loads the chart of a directory. One of the same files is loaded
// once.
func (f *files) chartIn(dir string) (*chart.Chart, error) {
	list, err := f.chartFiles(dir)
	if err != nil {
		return nil, err
	}
	var all strings.Builder
	for _, file := range list {
		fmt.Fprintf(&all, "%q %q %s\n", file.Name, file.Path, hexDigest(file.Data))
	}
	key := hexDigest([]byte(all.String()))
	if c, ok := f.charts[key]; ok {
		return c, nil
	}
	c, err := chart.Load(list)
	if err != nil {
		return nil, refuse(classOf(err), "Mend the chart first: Helm can't load it either.", "the chart in %s can't be loaded: %s", dir, helmBriefly(err))
	}
	f.charts[key] = c
	return c, nil
}

func classOf(err error) Class {
	if errors.Is(err, chart.ErrTooLarge) {
		return TooLarge
	}
	return Unreadable
}

// run renders a release, with a seed for what is random.
func (f *files) run(ctx context.Context, r *release, seed int) ([]Resource, error) {
	options := r.render
	options.Seed = seed
	made, err := r.chart.Render(ctx, options)
	if err != nil {
		return nil, helmRefusal(ctx, r, err)
	}
	var list []Resource
	for _, m := range made {
		part, err := f.made(m)
		if err != nil {
			return nil, err
		}
		for _, one := range part {
			one.File, one.item = m.Path, -1
			list = append(list, one)
		}
	}
	return list, nil
}

// made reads what a template makes. Most of it is the same in the next render.
func (f *files) made(m chart.Manifest) ([]Resource, error) {
	key := sha256.Sum256([]byte(m.Text))
	d, ok := f.rendered[key]
	if !ok {
		if d.list, d.err = decodeYAML([]byte(m.Text), f.limits.Documents); d.err != nil {
			d.err = refuse(Unreadable, "Mend the chart first.", "what %s makes is no manifest", m.Template)
		}
		f.rendered[key] = d
	}
	return d.list, d.err
}

// helmRefusal says why a chart is not rendered.
func helmRefusal(ctx context.Context, r *release, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("render %s: %w", r.dir, context.Cause(ctx))
	}
	if missing, ok := errors.AsType[chart.MissingError](err); ok {
		return refuse(UnsupportedTool, "Vendor them with: helm dependency build "+r.dir, "%v", missing)
	}
	if errors.Is(err, chart.ErrTooLarge) {
		return refuse(TooLarge, byHand, "the chart in %s can't be rendered: %s", r.dir, helmBriefly(err))
	}
	return refuse(Unreadable, "Look at it with: helm template "+r.dir, "the chart in %s can't be rendered: %s", r.dir, helmBriefly(err))
}

// helmBriefly keeps an error of Helm short and free of content: it may quote
// values, and a secret with them.
func helmBriefly(err error) string {
	text := err.Error()
	if len(text) > 300 || strings.ContainsAny(text, "\n{}\"'`<>") {
		first, _, _ := strings.Cut(text, ":")
		return fmt.Sprintf("%.100s (run helm template to see all)", strings.Map(printable, first))
	}
	return text
}
