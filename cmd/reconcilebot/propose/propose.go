// Package propose compares a render of a Git tree with live objects from a
// file, and proposes proven edits that make the two agree. It needs neither a
// cluster nor Slack.
//
// It must never write to the tree unless it is told to, and never return an
// edit that is not proven.
//
// Why what can't be rendered is a refusal and no error: whoever runs this in
// a pipeline wants to know that a person has to look, which is an answer.
package propose

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"reconcilebot/runbook/manifest"
)

// Options say what to compare.
type Options struct {
	// Repo is a directory that holds the tree.
	Repo string
	// Target is a file with one Application; Path a directory of the tree.
	// One of them is set.
	Target, Path string
	// Live is a file with the live objects.
	Live string
	// Values are values files of the chart at Path, as paths in the tree; Set
	// are values of it as NAME=VALUE.
	Values, Set []string
	// Release is the name of the chart's release, the directory's name if it
	// is empty.
	Release string
	// Namespace is where objects go that name no namespace.
	Namespace string
	// Select are Kind/namespace/name[:path]; without any, all is compared.
	Select []string
	// Write makes the edits in the tree.
	Write bool
	// Known is what earlier runs on the same tree have found out, if it has
	// not changed since.
	Known *Known
	// Now is the time, for measuring.
	Now func() time.Time
}

// Run compares and proposes.
func Run(ctx context.Context, o Options) (Result, error) {
	began := o.Now()
	root, err := os.OpenRoot(o.Repo)
	if err != nil {
		return Result{}, fmt.Errorf("open the repository: %w", err)
	}
	defer func() { _ = root.Close() }() // it was only read through
	live, err := readObjects(o.Live)
	if err != nil {
		return Result{}, err
	}
	src, pinned, err := o.source()
	if err != nil {
		return Result{}, err
	}
	read := o.Now()
	out, err := o.propose(ctx, root.FS(), src, live, pinned)
	if err != nil {
		return Result{}, err
	}
	out.Ms = map[string]int64{"read": read.Sub(began).Milliseconds(), "propose": o.Now().Sub(read).Milliseconds(), "total": o.Now().Sub(began).Milliseconds()}
	if o.Write {
		err = write(root, out.Edits)
	}
	return out, err
}

// source is what is to be rendered, and why no commit can change it.
func (o Options) source() (src manifest.Source, pinned *manifest.Refusal, err error) {
	if o.Target != "" {
		src, pinned, err = readTarget(o.Target)
		if src.Manifest = inRepo(o.Repo, o.Target); src.Manifest == "" && src.Release && src.Unsupported == "" {
			src.Unsupported = "a HelmRelease that is not in the repository"
		}
	} else {
		src = o.directory()
	}
	if o.Namespace != "" {
		src.Namespace = o.Namespace
	}
	return src, pinned, err
}

// directory is the source at Path.
func (o Options) directory() manifest.Source {
	src := manifest.Source{Name: path.Base(path.Clean(o.Path)), Dir: path.Clean(o.Path), App: o.Release}
	if len(o.Values)+len(o.Set) == 0 {
		return src
	}
	src.Helm = &manifest.HelmOptions{}
	for _, file := range o.Values {
		// Argo CD takes a path with a slash in front for one in the repository.
		src.Helm.ValueFiles = append(src.Helm.ValueFiles, "/"+path.Clean(filepath.ToSlash(file)))
	}
	for _, set := range o.Set {
		name, value, _ := strings.Cut(set, "=")
		src.Helm.Parameters = append(src.Helm.Parameters, manifest.HelmParameter{Name: name, Value: value})
	}
	return src
}

// inRepo is the path in the repository of a file; empty if it is not in it.
func inRepo(repo, file string) string {
	root, err := filepath.Abs(repo)
	if err != nil {
		return ""
	}
	whole, err := filepath.Abs(file)
	if err != nil {
		return ""
	}
	rel, err := filepath.Rel(root, whole)
	if err != nil || !fs.ValidPath(filepath.ToSlash(rel)) {
		return ""
	}
	return filepath.ToSlash(rel)
}

func (o Options) propose(ctx context.Context, tree fs.FS, src manifest.Source, live []map[string]any, pinned *manifest.Refusal) (Result, error) {
	limits := manifest.Limits{}
	known := o.Known
	if known == nil {
		known = &Known{index: manifest.NewIndex()}
	}
	rendered, err := known.index.Render(ctx, tree, src, limits)
	if r, ok := errors.AsType[*manifest.Refusal](err); ok {
		if pinned != nil {
			r = pinned
		}
		return refuseAll(live, o.Select, r)
	}
	if err != nil {
		return Result{}, fmt.Errorf("render %s: %w", src.Name, err)
	}
	changes, err := differences(src, rendered, live, o.Select)
	if err != nil {
		return Result{}, err
	}
	if pinned != nil {
		return conclude(manifest.Proposal{Changes: refusals(changes, pinned)}), nil
	}
	if o.Known == nil {
		if err := known.learn(ctx, tree); err != nil {
			return Result{}, err
		}
	}
	consumers := slices.DeleteFunc(slices.Concat(known.roots, known.deployed), func(c manifest.Source) bool { return isTarget(src, c) })
	p, err := manifest.Propose(ctx, manifest.Request{Tree: tree, Target: src, Consumers: consumers, Changes: changes, Structure: true, Limits: limits, Index: known.index})
	return conclude(p), err
}

// isTarget tells whether a source found in the tree is the target itself.
// Of a chart there may be many releases.
func isTarget(target, c manifest.Source) bool {
	if c.Dir != path.Clean(target.Dir) {
		return false
	}
	if target.Helm == nil && c.Helm == nil && target.Release == c.Release && !c.Release {
		return true
	}
	return c.App != "" && (c.App == target.App || target.App == "" && c.App == target.Name)
}

func refusals(changes []manifest.Change, r *manifest.Refusal) (out []manifest.Verdict) {
	for _, c := range changes {
		out = append(out, manifest.Verdict{Change: c, Class: r.Class, Why: r.Why, Hint: r.Hint})
	}
	return out
}

// refuseAll refuses every live object as a whole, where there is no render to
// compare its fields with.
func refuseAll(live []map[string]any, selected []string, r *manifest.Refusal) (Result, error) {
	pick := newSelection(selected)
	var changes []manifest.Change
	for _, l := range live {
		if o := nameOf(l); pick.object(o) {
			changes = append(changes, manifest.Change{Object: o, Op: manifest.Set})
		}
	}
	return conclude(manifest.Proposal{Changes: refusals(changes, r)}), pick.unused()
}

// Known is what is known of a tree that does not change.
type Known struct {
	// roots are the kustomizations that no other takes in, deployed other
	// directories that something in the tree deploys.
	roots, deployed []manifest.Source
	index           *manifest.Index
}

// Learn finds out who reads what in a tree.
func Learn(ctx context.Context, tree fs.FS) (*Known, error) {
	known := &Known{index: manifest.NewIndex()}
	return known, known.learn(ctx, tree)
}

func (k *Known) learn(ctx context.Context, tree fs.FS) (err error) {
	if k.roots, err = manifest.Roots(ctx, tree, manifest.Limits{}); err != nil {
		return fmt.Errorf("look for who else reads the files: %w", err)
	}
	found, err := deployed(tree)
	if err != nil {
		return err
	}
	for _, src := range found {
		same := func(r manifest.Source) bool { return r.Dir == src.Dir && src.Kustomize == nil }
		if !slices.ContainsFunc(slices.Concat(k.roots, k.deployed), same) {
			k.deployed = append(k.deployed, src)
		}
	}
	if err := k.index.Fill(ctx, tree, slices.Concat(k.roots, k.deployed), manifest.Limits{}); err != nil {
		return fmt.Errorf("look for who else reads the files: %w", err)
	}
	return nil
}

// Roots are the kustomizations that no other takes in.
func (k *Known) Roots() (dirs []string) {
	for _, r := range k.roots {
		dirs = append(dirs, r.Dir)
	}
	return dirs
}
