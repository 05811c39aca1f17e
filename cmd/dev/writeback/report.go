package writeback

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// tally counts outcomes.
type tally struct {
	tried, proven, wrong, unseen int
	refused                      map[string]int
}

func (t *tally) add(o outcome) {
	t.tried++
	switch o.verdict {
	case proven:
		t.proven++
	case wrong:
		t.wrong++
	case unseen:
		t.unseen++
	default:
		if t.refused == nil {
			t.refused = map[string]int{}
		}
		t.refused[o.class]++
	}
}

func (t *tally) classes() string {
	var list []string
	for _, class := range byCount(t.refused) {
		list = append(list, fmt.Sprintf("%s %d", class, t.refused[class]))
	}
	return strings.Join(list, ", ")
}

// report prints what was found in one repository.
func report(w io.Writer, r *repository, list []outcome) {
	var took []time.Duration
	for _, o := range list {
		took = append(took, o.took)
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	fmt.Fprintf(w, "\n%s: %d files, %d roots, index %.1f s, a proposal %d ms at the median, %d ms at 95 %%, memory taken %d MB\n",
		r.name, size(r.dir), len(r.roots), r.index.Seconds(), percentile(took, 50).Milliseconds(), percentile(took, 95).Milliseconds(), memory.Sys>>20)
	table(w, "kind of change", list, func(o outcome) string { return o.kind })
	table(w, "layer", list, func(o outcome) string { return o.layer })
}

func table(w io.Writer, title string, list []outcome, by func(outcome) string) {
	tallies, counts := map[string]*tally{}, map[string]int{}
	for _, o := range list {
		key := by(o)
		if tallies[key] == nil {
			tallies[key] = &tally{}
		}
		tallies[key].add(o)
		counts[key]++
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "  %s\ttried\tproven\twrong\tunseen\trefused\n", title)
	for _, key := range byCount(counts) {
		x := tallies[key]
		fmt.Fprintf(t, "  %s\t%d\t%d\t%d\t%d\t%s\n", key, x.tried, x.proven, x.wrong, x.unseen, x.classes())
	}
	_ = t.Flush() // the writer below says if that fails
}

// summarize prints the whole, and is an error if anything was wrong.
func summarize(w io.Writer, list []outcome) error {
	var scalars, structure, all tally
	for _, o := range list {
		all.add(o)
		if o.structural {
			structure.add(o)
		} else {
			scalars.add(o)
		}
	}
	fmt.Fprintln(w)
	for _, row := range []struct {
		name string
		t    tally
	}{{"values", scalars}, {"structure", structure}, {"all", all}} {
		seen := row.t.tried - row.t.unseen
		fmt.Fprintf(w, "%-10s tried %d, proven %d (%.2f %%), wrong %d, unseen %d, refused: %s\n",
			row.name, row.t.tried, row.t.proven, 100*float64(row.t.proven)/float64(max(seen, 1)), row.t.wrong, row.t.unseen, row.t.classes())
	}
	for _, o := range list {
		if o.verdict == wrong {
			fmt.Fprintf(w, "wrong: %s %s, %s: %s\n", o.repo, o.root, o.kind, o.why)
		}
	}
	if all.wrong > 0 {
		return fmt.Errorf("%d edits are wrong", all.wrong)
	}
	return nil
}
