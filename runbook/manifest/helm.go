package manifest

import (
	"context"
	"path"
	"slices"

	"gopkg.in/yaml.v3"
)

// helmRenderer renders charts that are in the repository, as Argo CD has Helm
// render them.
type helmRenderer struct{}

const helmModule = "helm.sh/helm/v3"

func (helmRenderer) library() string { return helmModule + " " + versionOf(helmModule) }

func (helmRenderer) render(ctx context.Context, f *files, src Source) ([]Resource, error) {
	r, err := f.release(src)
	if err != nil {
		return nil, err
	}
	return f.run(ctx, r, 0)
}

// reads are all files of the chart, the values files, and the files that may
// change the options. A new file in the chart may be read, too.
func (helmRenderer) reads(_ context.Context, f *files, src Source) (reach, error) {
	out := newReach()
	dir, err := f.dirOf(src)
	if err != nil {
		return out, err
	}
	out.dirs[dir] = true
	list, err := f.chartFiles(dir)
	for _, file := range list {
		out.files[file.Path] = true
	}
	if err != nil {
		return out, err
	}
	if src.Manifest != "" {
		out.files[src.Manifest] = true
	}
	if src.Release {
		from, err := f.valuesFrom(src)
		for _, l := range from {
			out.files[l.file] = true
		}
		if err != nil {
			return out, err
		}
		// Which ConfigMap is meant may change with what is beside it.
		out.dirs[path.Dir(src.Manifest)] = true
	}
	o, err := f.helmOptions(src, dir)
	if err != nil {
		return out, err
	}
	names := slices.Clone(o.ValueFiles)
	for _, p := range o.FileParameters {
		names = append(names, p.Path)
	}
	for _, name := range names {
		file, err := f.valueFile(src, dir, name)
		if err != nil {
			return out, err
		}
		if file != "" {
			out.files[file] = true
		}
	}
	return out, nil
}

// helmNode finds spec.source.helm of the Application's manifest in the tree;
// nil if it has none.
func (f *files) helmNode(src Source) (*text, *yaml.Node, error) {
	t, doc, err := f.application(src)
	if err != nil {
		return nil, nil, err
	}
	n := resolve(child(sourceOf(doc, src), "helm"))
	if n == nil || n.Kind != yaml.MappingNode {
		return t, nil, nil
	}
	return t, n, nil
}

// sourceOf is the source of an Application that is meant: of several, the one
// with the directory.
func sourceOf(doc *yaml.Node, src Source) *yaml.Node {
	if n := sourceNode(doc); n != nil {
		return n
	}
	for _, n := range contentOf(child(resolve(child(doc, "spec")), "sources")) {
		n = resolve(n)
		if at := resolve(child(n, "path")); at != nil && path.Clean(at.Value) == path.Clean(src.Dir) {
			return n
		}
	}
	return nil
}
