package manifest

import (
	"context"
	"maps"
	"path"
)

// renderer is one way in which a controller makes objects of a source: plain
// manifests, Kustomize, a Helm chart. It knows how to render, which files that
// takes, and where a value may come from.
//
// It may guess as it likes: whatever it suggests is rendered before and after
// by the caller, and thrown away unless that shows the change and nothing else.
type renderer interface {
	// library names what renders, with its version, for the record.
	library() string
	// render gives the source's objects, always in the same order for the same
	// files. It reads through files alone, so that bounds and the edits made
	// so far hold. What can't be rendered is answered with a *Refusal.
	render(ctx context.Context, f *files, src Source) ([]Resource, error)
	// reads tells what render may read, without rendering. Too much costs
	// time, too little would hide whom an edit changes. What it can tell it
	// gives also with a *Refusal, for a source that can't be rendered.
	reads(ctx context.Context, f *files, src Source) (reach, error)
	// suggest calls q.try with edits that may make q.change true, the best
	// first, until one is proven. It answers with where the value was found
	// and, if nothing was proven, the refusal that tells a person the most.
	suggest(ctx context.Context, q *question) (*Refusal, error)
}

// question is a change for which an edit is looked for.
type question struct {
	files  *files
	source Source
	change Change
	// rendered are the source's objects with the edits made so far; at is the
	// one that changes, -1 if it is to be added.
	rendered []Resource
	at       int
	// structure allows more than to change single values.
	structure bool
	// shared tells whether anybody but the target reads a file.
	shared func(file string) bool
	// found is where the value lives, to be told also if nothing is proven.
	found origin
	// try proves an edit and keeps it if that works; else it says why not.
	try func(suggestion) (*Refusal, error)
}

// object is the object that changes, as it is rendered now.
func (q *question) object() Resource { return q.rendered[q.at] }

// origin is where a value lives.
type origin struct {
	file string
	// line counts from 1.
	line int
	// layer names the kind of source in people's words, such as "overlay
	// patch".
	layer string
}

// suggestion is an edit that is not proven yet.
type suggestion struct {
	origin
	// hint is what a person should know if it is taken.
	hint   string
	writes []write
}

// write is a file as it is to be.
type write struct {
	file string
	// content is nil for a file that is deleted.
	content []byte
}

// reach tells which files a source may read.
type reach struct {
	files map[string]bool
	// dirs are directories below which any file counts, also a new one.
	dirs map[string]bool
}

func newReach() reach { return reach{files: map[string]bool{}, dirs: map[string]bool{}} }

// add takes in what another one reaches.
func (r *reach) add(other reach) {
	if r.files == nil {
		*r = newReach()
	}
	maps.Copy(r.files, other.files)
	maps.Copy(r.dirs, other.dirs)
}

// has tells whether a file may be read.
func (r reach) has(file string) bool {
	if r.files[file] {
		return true
	}
	for dir := path.Dir(file); len(r.dirs) > 0; dir = path.Dir(dir) {
		if r.dirs[dir] {
			return true
		}
		if dir == "." {
			break
		}
	}
	return false
}

// rendererOf chooses the renderer of a source as Argo CD does: options of one
// kind make the source one of that kind, and else a kustomization wins over a
// chart.
//
// Source: argo-cd v2.14.21, util/app/discovery/discovery.go, Discover.
func (f *files) rendererOf(src Source) (renderer, error) {
	if src.Unsupported != "" {
		return nil, refuse(UnsupportedTool, "Edit the source by hand and let the controller render it.", "%s is %s, which can't be rendered here", src.Name, src.Unsupported)
	}
	dir, err := cleanDir(src.Dir)
	if err != nil {
		return nil, err
	}
	if src.Helm != nil || src.Release || !src.isPlain() && f.kustomizationIn(dir) == "" && f.exists(path.Join(dir, "Chart.yaml")) {
		return helmRenderer{}, nil
	}
	if err := f.checkOverrides(src, dir); err != nil {
		return nil, err
	}
	if !src.isPlain() && f.kustomizationIn(dir) != "" {
		return kustomizeRenderer{}, nil
	}
	return plainRenderer{}, nil
}

// isPlain tells whether the source has options that only plain directories
// have.
func (src Source) isPlain() bool { return src.Recurse || src.Include != "" || src.Exclude != "" }

// listed adds directories whose every file counts.
func (r reach) listed(dirs []string) {
	for _, d := range dirs {
		r.dirs[d] = true
	}
}
