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
	files *files
	// rendered are those whose files are known, opaque those that can't be
	// rendered here.
	rendered []reader
	opaque   []opaque
}

type reader struct {
	src   Source
	reads map[string]bool
}

// opaque is a source that can't be rendered here: what it may read is
// estimated, and estimated high.
type opaque struct {
	src  Source
	why  string
	dirs []string
}

// newReaders looks up what the consumers read, all but the target itself.
func newReaders(ctx context.Context, f *files, req Request) (*readers, error) {
	rs := &readers{files: f}
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
	if src.Unsupported != "" {
		rs.opaque = append(rs.opaque, opaque{src, src.Unsupported, rs.files.reach(src)})
		return nil
	}
	members, err := rs.files.list(ctx, src)
	if err == nil {
		err = rs.files.checkKind(src)
	}
	if isRefusal(err) {
		rs.opaque = append(rs.opaque, opaque{src, err.Error(), rs.files.reach(src)})
		return nil
	}
	if err != nil {
		return err
	}
	reads := map[string]bool{}
	for _, m := range members {
		reads[m.real] = true
	}
	rs.rendered = append(rs.rendered, reader{src, reads})
	return nil
}

// check renders everyone who reads a file before and after its edit, and
// names whom the edit would change and who can't be told.
func (rs *readers) check(ctx context.Context, file string, edited []byte, accepted []string) (changed []string, unbuildable []Unbuildable, err error) {
	for _, r := range rs.rendered {
		if !r.reads[file] {
			continue
		}
		before, after, err := rs.compare(ctx, r.src, file, edited)
		if err != nil && !isRefusal(err) {
			return nil, nil, err
		}
		if err != nil {
			unbuildable = append(unbuildable, Unbuildable{r.src.Name, err.Error()})
		} else if before != after {
			changed = append(changed, r.src.Name)
		}
	}
	for _, o := range rs.opaque {
		if o.mayRead(file) {
			unbuildable = append(unbuildable, Unbuildable{o.src.Name, o.why})
		}
	}
	unbuildable = slices.DeleteFunc(unbuildable, func(u Unbuildable) bool { return slices.Contains(accepted, u.Name) })
	return changed, unbuildable, nil
}

func (rs *readers) compare(ctx context.Context, src Source, file string, edited []byte) (before, after string, err error) {
	list, err := rs.files.render(ctx, src)
	if err != nil {
		return "", "", err
	}
	before = digest(list)
	undo := rs.files.lay(file, edited)
	defer undo()
	list, err = rs.files.render(ctx, src)
	return before, digest(list), err
}

// lay puts an edit over the tree; undo takes it away again.
func (f *files) lay(file string, content []byte) (undo func()) {
	old, had := f.edited[file]
	f.edited[file] = content
	return func() {
		if had {
			f.edited[file] = old
		} else {
			delete(f.edited, file)
		}
	}
}

func (o opaque) mayRead(file string) bool {
	for _, dir := range o.dirs {
		if dir == "." || file == dir || strings.HasPrefix(file, dir+"/") {
			return true
		}
	}
	return false
}

// maxReach bounds the places that are looked at for one opaque source.
const maxReach = 2000

// reach lists the files and directories that a source may read: its own
// directory, what it is said to read, and everything within the repository
// that a string in one of its kustomizations names.
func (f *files) reach(src Source) []string {
	var dirs []string
	todo := append([]string{src.Dir}, src.Reads...)
	seen := map[string]bool{}
	for len(todo) > 0 && len(seen) < maxReach {
		dir, err := cleanDir(todo[0])
		todo = todo[1:]
		if err != nil || seen[dir] {
			continue
		}
		seen[dir] = true
		dirs = append(dirs, dir)
		todo = append(todo, f.namedBy(dir)...)
	}
	if len(todo) > 0 {
		return []string{"."} // too much to follow: it may read anything
	}
	return dirs
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
			for _, doc := range parseText(content).docs {
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
