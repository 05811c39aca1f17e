// Package writeback measures the write-back engine on real repositories.
//
// It changes rendered objects as a person with kubectl would, asks for edits,
// applies them with git, and renders again with the upstream kustomize and
// helm programs. It must never take the engine's own word: what counts as proven
// here is what another program renders from the files as git left them.
//
// Why sampled and not hand-picked: a case that somebody thought of is a case
// that somebody handled. The seed is printed, so that a run can be repeated.
package writeback

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"reconcilebot/cmd/reconcilebot/propose"
)

// Config says what to measure.
type Config struct {
	// Corpus is a folder of checkouts, one folder each.
	Corpus string
	// Only, if not empty, are the checkouts to take.
	Only []string
	// Count is how many changes are tried in all.
	Count int
	Seed  uint64
	// Kustomize and Helm are the upstream programs; empty to build them from
	// Root.
	Kustomize, Helm string
	// Root is this module's folder.
	Root string
	// Verbose prints each change that is not proven.
	Verbose        bool
	Stdout, Stderr io.Writer
}

// Run measures, and prints what it finds. The error tells whether anything
// was wrong.
func Run(ctx context.Context, c Config) error {
	scratch, err := os.MkdirTemp("", "writeback-*")
	if err != nil {
		return fmt.Errorf("make a folder to work in: %w", err)
	}
	defer func() { _ = os.RemoveAll(scratch) }() // it is only a copy
	if c.Kustomize == "" {
		if c.Kustomize, err = buildProgram(ctx, c.Root, scratch, "kustomize", "sigs.k8s.io/kustomize/kustomize/v5"); err != nil {
			return err
		}
	}
	if c.Helm == "" {
		if c.Helm, err = buildProgram(ctx, c.Root, scratch, "helm", "helm.sh/helm/v3/cmd/helm"); err != nil {
			return err
		}
	}
	names, err := c.checkouts()
	if err != nil {
		return err
	}
	fmt.Fprintf(c.Stdout, "seed %d, %d changes, judged by %s and %s\n", c.Seed, c.Count, version(ctx, c.Kustomize), version(ctx, c.Helm))
	var all []outcome
	repos := make([]*repository, 0, len(names))
	for _, name := range names {
		repo, err := open(ctx, c, name, filepath.Join(scratch, name))
		if err != nil {
			return fmt.Errorf("open %s: %w", name, err)
		}
		repos = append(repos, repo)
	}
	for i, repo := range repos {
		share := c.share(repos, i)
		rng := rand.New(rand.NewPCG(c.Seed, uint64(i)))
		found, err := repo.measure(ctx, rng, share)
		if err != nil {
			return fmt.Errorf("measure %s: %w", repo.name, err)
		}
		report(c.Stdout, repo, found)
		all = append(all, found...)
	}
	return summarize(c.Stdout, all)
}

// checkouts lists the folders of the corpus that are to be measured.
func (c Config) checkouts() (names []string, err error) {
	entries, err := os.ReadDir(c.Corpus)
	if err != nil {
		return nil, fmt.Errorf("read the corpus: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() && (len(c.Only) == 0 || slices.Contains(c.Only, e.Name())) {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s holds no checkout", c.Corpus)
	}
	return names, nil
}

// share is how many changes are tried in one repository: in proportion to the
// square root of its targets, so that the small ones count too.
func (c Config) share(repos []*repository, i int) int {
	weight := func(r *repository) int {
		n := 0
		for n*n < len(r.roots) {
			n++
		}
		return n
	}
	sum := 0
	for _, r := range repos {
		sum += weight(r)
	}
	return c.Count * weight(repos[i]) / max(sum, 1)
}

// repository is a copy of a checkout that is edited and put back.
type repository struct {
	config Config
	name   string
	dir    string
	known  *propose.Known
	roots  []string
	// charts are those of the roots that are charts.
	charts []string
	// index is how long it took to find out who reads what.
	index time.Duration
	// before are renders of the unedited copy, by root.
	before map[string]render
	reads  map[string]map[string]bool
}

func open(ctx context.Context, c Config, name, dir string) (*repository, error) {
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(c.Corpus, name))); err != nil {
		return nil, fmt.Errorf("copy it: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was only read through
	began := time.Now()
	known, err := propose.Learn(ctx, root.FS())
	if err != nil {
		return nil, err
	}
	charts, err := chartsIn(root.FS())
	if err != nil {
		return nil, err
	}
	r := &repository{
		config: c, name: name, dir: dir, known: known, roots: slices.Concat(known.Roots(), charts), charts: charts, index: time.Since(began),
		before: map[string]render{}, reads: map[string]map[string]bool{},
	}
	slices.Sort(r.roots)
	return r, nil
}

// chartsIn lists the charts of a tree that are no subcharts.
func chartsIn(tree fs.FS) (dirs []string, err error) {
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "Chart.yaml" {
			return err
		}
		dir := path.Dir(name)
		if _, err := fs.Stat(tree, path.Join(dir, "kustomization.yaml")); err == nil {
			return nil // that is what it is rendered by
		}
		if path.Base(path.Dir(dir)) != "charts" || !slices.Contains(dirs, path.Dir(path.Dir(dir))) {
			dirs = append(dirs, dir)
		}
		return nil
	})
	return dirs, err
}

func (r *repository) isChart(root string) bool { return slices.Contains(r.charts, root) }

// measure tries a number of changes.
func (r *repository) measure(ctx context.Context, rng *rand.Rand, count int) (list []outcome, err error) {
	// A root may not render, or hold nothing that a kind of change fits.
	for tries := 0; len(list) < count && tries < 20*count; tries++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(r.roots) == 0 {
			return nil, nil
		}
		root := r.roots[rng.IntN(len(r.roots))]
		k := kinds[tries%len(kinds)]
		was, err := r.rendered(ctx, root)
		if err != nil || len(was) == 0 {
			continue
		}
		m, ok := mutate(rng, k, was)
		if !ok {
			continue
		}
		o, err := r.try(ctx, root, m)
		if err != nil {
			return nil, fmt.Errorf("%s, %s of %s: %w", root, k.name, m.name, err)
		}
		if r.config.Verbose && o.verdict != proven {
			fmt.Fprintf(r.config.Stderr, "%s: %s %s of %s in %s: %s %s\n", o.verdict, r.name, k.name, m.name, root, o.class, o.why)
		}
		list = append(list, o)
	}
	return list, nil
}

// rendered is a root before any edit.
func (r *repository) rendered(ctx context.Context, root string) (render, error) {
	if was, ok := r.before[root]; ok {
		return was, nil
	}
	was, err := r.build(ctx, root)
	if err != nil {
		was = nil
	}
	if again, err := r.build(ctx, root); err != nil || differ(was, again) != "" {
		was = nil // what is another in every render can't be compared
	}
	r.before[root] = was
	return was, nil
}

// size is how much of a repository there is to edit.
func size(dir string) (files int) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files++
		}
		return nil
	})
	return files
}

func percentile(list []time.Duration, p int) time.Duration {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return sorted[min(len(sorted)-1, len(sorted)*p/100)]
}

func byCount(counts map[string]int) []string {
	keys := make([]string, 0, len(counts))
	for k := range counts {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) })
	return keys
}
