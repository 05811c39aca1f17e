package manifest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
)

// maxKustomizations bounds the kustomizations that one source may reach.
const maxKustomizations = 5_000

// reads follows everything in a kustomization that is, or could be, a path in
// the tree, and what that names in turn.
func (kustomizeRenderer) reads(ctx context.Context, f *files, src Source) (reach, error) {
	dir, err := f.dirOf(src)
	if err != nil {
		return reach{}, err
	}
	g := newGrasp(f)
	if err := g.source(ctx, src, dir); err != nil {
		return reach{}, err
	}
	if g.refusal != nil {
		return g.out, g.refusal
	}
	return g.out, nil
}

func newGrasp(f *files) *grasp {
	return &grasp{files: f, out: newReach(), seen: map[string]bool{}, depth: map[string]int{}}
}

// grasp collects what a kustomization may read.
type grasp struct {
	files *files
	out   reach
	seen  map[string]bool
	// order are the files found, in the order found; depth is how many
	// kustomizations are between each of them and the first.
	order []string
	depth map[string]int
	// refusal is why it can't be rendered: the first reason found.
	refusal *Refusal
}

// pass notes a refusal and goes on: what the rest reads counts all the same.
func (g *grasp) pass(err error) error {
	if r, ok := errors.AsType[*Refusal](err); ok {
		if g.refusal == nil {
			g.refusal = r
		}
		return nil
	}
	return err
}

// source follows a source's kustomization, and what its Application adds.
func (g *grasp) source(ctx context.Context, src Source, dir string) error {
	if err := g.kustomization(ctx, dir, 0); err != nil {
		return err
	}
	if src.Manifest != "" {
		g.out.files[src.Manifest] = true
	}
	options, err := g.files.options(src)
	if err != nil || options.isEmpty() {
		return err
	}
	for _, text := range options.Components {
		if err := g.pass(vetPath(path.Join(dir, "kustomization.yaml"), text)); err != nil {
			return err
		}
		if err := g.path(ctx, dir, text, 0); err != nil {
			return err
		}
	}
	return nil
}

// add notes a file.
func (g *grasp) add(file string, depth int) {
	g.out.files[file] = true
	if _, known := g.depth[file]; !known {
		g.order = append(g.order, file)
		g.depth[file] = depth
	}
	g.depth[file] = min(g.depth[file], depth)
}

func (g *grasp) kustomization(ctx context.Context, dir string, depth int) error {
	if g.seen[dir] {
		return nil
	}
	g.seen[dir] = true
	if len(g.seen) > maxKustomizations {
		g.out.dirs["."] = true
		return refuse(TooLarge, "Edit it by hand.", "the kustomization reaches more than %d others", maxKustomizations)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if g.files.kustomizationIn(dir) == "" {
		// Kustomize fails here, or another program knows better.
		g.out.dirs[dir] = true
	}
	for _, name := range kustomizationNames() {
		file := path.Join(dir, name)
		g.out.files[file] = true
		if !g.files.exists(file) {
			continue
		}
		real, err := g.files.follow(file)
		if err != nil || real == "" {
			return cmpErr(err, refuse(Unreadable, byHand, "%s leads nowhere", file))
		}
		g.add(real, depth)
		t, err := g.files.parsed(real)
		if err != nil {
			return err
		}
		if err := g.pass(g.files.vet(real, t.content)); err != nil {
			return err
		}
		if len(t.docs) > 0 && child(t.docs[0], "helmCharts") != nil {
			g.out.dirs[path.Join(dir, "charts")] = true
		}
		if err := g.pass(g.texts(ctx, dir, t, depth)); err != nil {
			return err
		}
	}
	return nil
}

// texts follows every scalar in a file that is a path seen from a directory.
func (g *grasp) texts(ctx context.Context, dir string, t *text, depth int) error {
	if t.err != nil {
		return refuse(Unreadable, "Mend the file first.", "a file of %s can't be read", dir)
	}
	for _, doc := range t.docs {
		for _, text := range textsIn(doc, nil) {
			if err := g.text(ctx, dir, text, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *grasp) text(ctx context.Context, dir, text string, depth int) error {
	if strings.Contains(text, "\n") {
		// A plugin's configuration may be written inline.
		if strings.Contains(text, "builtin") {
			return g.texts(ctx, dir, parseText([]byte(text)), depth)
		}
		return nil
	}
	if err := g.path(ctx, dir, text, depth); err != nil {
		return err
	}
	// A generator may give a file another name: key=path.
	if _, value, ok := strings.Cut(text, "="); ok {
		return g.path(ctx, dir, value, depth)
	}
	return nil
}

// maxText bounds what can be a path, in bytes.
const maxText = 1000

func (g *grasp) path(ctx context.Context, dir, text string, depth int) error {
	name := path.Join(dir, text)
	if text == "" || len(text) > maxText || !fs.ValidPath(name) || name == dir {
		return nil
	}
	real, err := g.files.follow(name)
	if g.files.edited[name] != nil {
		real, err = name, nil
	}
	if isRefusal(err) || errors.Is(err, fs.ErrInvalid) {
		return nil // Kustomize would be refused it, and then the source can't be rendered
	}
	if err != nil || real == "" {
		// It may be made by an edit.
		g.out.files[name] = true
		return nil // what can't be looked at is no file
	}
	st, err := g.files.stat(real)
	switch {
	case err != nil:
		return nil // as above
	case st.IsDir():
		return g.kustomization(ctx, real, depth+1)
	}
	g.out.files[name] = true
	g.add(real, depth)
	return g.plugin(ctx, dir, real, depth)
}

// plugin follows what a plugin's configuration names.
func (g *grasp) plugin(ctx context.Context, dir, file string, depth int) error {
	if g.seen[dir+"\x00"+file] || !isManifest(file) {
		return nil
	}
	g.seen[dir+"\x00"+file] = true
	if may, known := g.files.plugins[file]; known && !may {
		return nil
	}
	content, err := g.files.read(file)
	if err != nil {
		return err
	}
	may := bytes.Contains(content, []byte("builtin"))
	if len(g.files.edited) == 0 {
		g.files.plugins[file] = may
	}
	if !may {
		return nil
	}
	if err := g.pass(g.files.vet(file, content)); err != nil {
		return err
	}
	return g.texts(ctx, dir, parseText(content), depth)
}
