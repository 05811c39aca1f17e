package manifest

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// readers knows which other sources read which files.
type readers struct {
	files    *files
	accepted []string
	index    *Index
	target   Source
	// rendered are those whose files are known, opaque those that can't be
	// rendered here.
	rendered []*reader
	opaque   []opaque
}

type reader struct {
	src   Source
	reads reach
	// before is the digest of what it renders; empty if that is not known.
	before string
}

// opaque is a source that can't be rendered here: what it may read is
// estimated, and estimated high.
type opaque struct {
	src   Source
	why   string
	reads reach
}

// newReaders looks up what the consumers read, all but the target itself.
func newReaders(ctx context.Context, f *files, req Request) (*readers, error) {
	rs := &readers{files: f, accepted: req.Accepted, index: req.Index, target: req.Target}
	for _, src := range req.Consumers {
		if src.Name == req.Target.Name && path.Clean(src.Dir) == path.Clean(req.Target.Dir) {
			continue
		}
		if err := rs.add(ctx, src); err != nil {
			return nil, err
		}
	}
	return rs, nil
}

func (rs *readers) add(ctx context.Context, src Source) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	k, ok := rs.index.get(src)
	if !ok {
		var err error
		if k, err = rs.files.lookUp(ctx, src); err != nil {
			return err
		}
		rs.index.put(src, k)
	}
	if k.opaque != nil {
		rs.opaque = append(rs.opaque, *k.opaque)
	} else {
		own := *k.reader
		rs.rendered = append(rs.rendered, &own)
	}
	return nil
}

// lookUp finds out what a source reads.
func (f *files) lookUp(ctx context.Context, src Source) (known, error) {
	r, err := f.rendererOf(src)
	var reads reach
	if err == nil {
		reads, err = r.reads(ctx, f.unrecorded(), src)
	}
	if isRefusal(err) {
		// A render that was given up has not read everything.
		reads.add(f.unrecorded().reach(src))
		return known{opaque: &opaque{src, err.Error(), reads}}, nil
	}
	for _, name := range src.Reads {
		reads.files[name], reads.dirs[name] = true, true
	}
	return known{reader: &reader{src: src, reads: reads}}, err
}

// anyReads tells whether anybody but the target may read a file, apart from
// those that are accepted unseen.
func (rs *readers) anyReads(file string) bool {
	return slices.ContainsFunc(rs.rendered, func(r *reader) bool { return r.reads.has(file) }) ||
		slices.ContainsFunc(rs.opaque, func(o opaque) bool { return o.reads.has(file) && !slices.Contains(rs.accepted, o.src.Name) })
}

// check renders everyone who reads one of the files before and after the
// edit, and names whom the edit would change and who can't be told.
func (rs *readers) check(ctx context.Context, writes []write) (changed []string, unbuildable []Unbuildable, err error) {
	reads := func(r reach) bool {
		return slices.ContainsFunc(writes, func(w write) bool { return r.has(w.file) })
	}
	for _, r := range rs.rendered {
		if !reads(r.reads) {
			continue
		}
		same, err := rs.same(ctx, r, writes)
		if err != nil && !isRefusal(err) {
			return nil, nil, err
		}
		if err != nil {
			unbuildable = append(unbuildable, Unbuildable{r.src.Name, err.Error()})
		} else if !same {
			changed = append(changed, r.src.Name)
		}
	}
	for _, o := range rs.opaque {
		if reads(o.reads) {
			unbuildable = append(unbuildable, Unbuildable{o.src.Name, o.why})
		}
	}
	unbuildable = slices.DeleteFunc(unbuildable, func(u Unbuildable) bool { return slices.Contains(rs.accepted, u.Name) })
	return changed, unbuildable, nil
}

// same tells whether a reader renders the same before and after. Where the
// target's own Application is edited, that may change.
func (rs *readers) same(ctx context.Context, r *reader, writes []write) (bool, error) {
	own, configs := rs.files.own(rs.target)
	if slices.ContainsFunc(writes, func(w write) bool { return own[w.file] }) {
		before, err := rs.files.render(ctx, r.src)
		if err != nil {
			return false, err
		}
		undo := rs.files.lay(writes)
		defer undo()
		after, err := rs.files.render(ctx, r.src)
		return digest(rs.withoutTarget(before, configs)) == digest(rs.withoutTarget(after, configs)), err
	}
	if r.before == "" {
		list, err := rs.files.render(ctx, r.src)
		if err != nil {
			return false, err
		}
		r.before = digest(list)
		if len(rs.files.edited) == 0 {
			rs.index.put(r.src, known{reader: &reader{src: r.src, reads: r.reads, before: r.before}})
		}
	}
	undo := rs.files.lay(writes)
	defer undo()
	list, err := rs.files.render(ctx, r.src)
	return digest(list) == r.before, err
}

// own are the files that hold the target itself: whoever renders it sees it
// change, and nothing else. Configs are ConfigMaps that only carry its values.
func (f *files) own(src Source) (files map[string]bool, configs []string) {
	files = map[string]bool{}
	if src.Manifest != "" {
		files[src.Manifest] = true
	}
	if !src.Release {
		if dir, err := f.dirOf(src); err == nil {
			files[overrideFiles(src, dir)[1]] = true
		}
		return files, nil
	}
	rel, _, err := f.unrecorded().fluxRelease(src)
	if err != nil {
		return files, nil
	}
	from, _ := f.unrecorded().valuesFrom(src)
	for _, l := range from {
		files[l.file] = true
	}
	for _, v := range rel.ValuesFrom {
		configs = append(configs, v.Name)
	}
	return files, configs
}

// withoutTarget leaves the target's Application, or its HelmRelease with the
// ConfigMaps of its values, out of a render.
func (rs *readers) withoutTarget(list []Resource, configs []string) []Resource {
	return slices.DeleteFunc(slices.Clone(list), func(r Resource) bool {
		o := r.Object()
		is := o.Kind == "Application" && o.Group() == "argoproj.io"
		if o.Kind == "ConfigMap" && (slices.Contains(configs, o.Name) || slices.Contains(configs, hashed.ReplaceAllString(o.Name, "$1"))) {
			return true
		}
		if rs.target.Release {
			is = o.Kind == "HelmRelease" && o.Group() == "helm.toolkit.fluxcd.io"
		}
		return is && o.Name == rs.target.appName()
	})
}

// settle forgets what was rendered from files that are now edited. Those who
// read them render the same, or the edit would not be there.
func (rs *readers) settle(writes []write) {
	for _, r := range rs.rendered {
		for _, w := range writes {
			if r.reads.has(w.file) {
				r.before = ""
			}
		}
	}
}

// maxReach bounds the places that are looked at for one opaque source.
const maxReach = 2000

// reach lists the files and directories that a source may read: its own
// directory, what it is said to read, and everything within the repository
// that a string in one of its kustomizations names.
func (f *files) reach(src Source) reach {
	out := newReach()
	todo := append([]string{src.Dir}, src.Reads...)
	seen := map[string]bool{}
	for len(todo) > 0 && len(seen) < maxReach {
		dir, err := cleanDir(todo[0])
		todo = todo[1:]
		if err != nil || seen[dir] {
			continue
		}
		seen[dir] = true
		out.dirs[dir] = true
		out.files[dir] = true // it may be a file
		todo = append(todo, f.namedBy(dir)...)
	}
	if len(todo) > 0 {
		out.dirs["."] = true // too much to follow: it may read anything
	}
	return out
}

// namedBy lists what a directory's kustomization names, and where its links
// lead.
func (f *files) namedBy(dir string) (list []string) {
	entries, err := fs.ReadDir(f.tree, dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			if to, err := follow(f.tree, name); err == nil && to != "" {
				list = append(list, to)
			}
		case e.Name() == "kustomization.yaml" || e.Name() == "kustomization.yml" || e.Name() == "Kustomization":
			content, err := f.original(name)
			if err != nil {
				continue
			}
			parsed := parseText(content)
			if parsed.err != nil {
				list = append(list, ".") // what can't be read may name anything
			}
			for _, doc := range parsed.docs {
				list = append(list, f.paths(dir, doc)...)
			}
		}
	}
	return list
}

// paths lists the strings below a node that are paths in the tree.
func (f *files) paths(dir string, n *yaml.Node) (list []string) {
	for _, c := range n.Content {
		list = append(list, f.paths(dir, c)...)
	}
	if n.Kind != yaml.ScalarNode || n.Value == "" || len(n.Value) > 1000 || strings.Contains(n.Value, "\n") {
		return list
	}
	// A generator may give a file another name: key=path.
	_, value, ok := strings.Cut(n.Value, "=")
	if !ok {
		value = n.Value
	}
	name := path.Join(dir, value)
	if !fs.ValidPath(name) {
		return list
	}
	if _, err := lstat(f.tree, name); !errors.Is(err, fs.ErrNotExist) && name != "." {
		list = append(list, name)
	}
	return list
}
