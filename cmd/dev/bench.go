package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"reconcilebot/cmd/dev/bench"
	"reconcilebot/cmd/dev/writeback"
)

// runBench measures what is named.
func runBench(ctx context.Context, root string, args []string, stdout, stderr io.Writer) error {
	what := ""
	if len(args) > 0 {
		what, args = args[0], args[1:]
	}
	switch what {
	case "main-job":
		return benchMainJob(ctx, args, stdout, stderr)
	case "slack":
		return benchSlack(ctx, root, args, stdout, stderr)
	case "drift":
		return benchDrift(ctx, args, stdout, stderr)
	case "writeback":
		return benchWriteback(ctx, root, args, stdout, stderr)
	}
	return fmt.Errorf("say what to measure: go run ./cmd/dev bench main-job, bench drift, bench slack or bench writeback")
}

func benchMainJob(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("bench main-job", flag.ContinueOnError)
	f.SetOutput(stderr)
	runs := f.Int("runs", 5, "how often each side does the job")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *runs < 1 {
		return fmt.Errorf("-runs %d: at least one run of each is needed", *runs)
	}
	return bench.MainJob(ctx, bench.Config{Runs: *runs, Stdout: stdout, Stderr: stderr})
}

func benchDrift(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("bench drift", flag.ContinueOnError)
	f.SetOutput(stderr)
	c := bench.DriftConfig{Stdout: stdout, Stderr: stderr}
	f.IntVar(&c.Objects, "objects", 2000, "how many objects the large target has")
	f.IntVar(&c.Changes, "changes", 200, "how many of them are changed by hand")
	f.IntVar(&c.Targets, "targets", 1000, "how many small targets there are beside it")
	f.IntVar(&c.Rounds, "rounds", 5, "how often each look is repeated")
	if err := f.Parse(args); err != nil {
		return err
	}
	if c.Objects < 1 || c.Changes < 1 || c.Changes > c.Objects || c.Targets < 0 || c.Rounds < 1 {
		return fmt.Errorf("bench drift: there must be an object, a change, no more changes than objects, and a round")
	}
	return bench.Drift(ctx, c)
}

func benchWriteback(ctx context.Context, root string, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("bench writeback", flag.ContinueOnError)
	f.SetOutput(stderr)
	c := writeback.Config{Root: root, Stdout: stdout, Stderr: stderr}
	f.StringVar(&c.Corpus, "corpus", "", "`FOLDER` with checkouts, one folder each")
	only := f.String("only", "", "comma-separated `NAMES` of the checkouts to take")
	f.IntVar(&c.Count, "n", 300, "how many changes to try")
	f.Uint64Var(&c.Seed, "seed", rand.Uint64(), "the same seed tries the same changes")
	f.StringVar(&c.Kustomize, "kustomize", "", "`PROGRAM` to judge with; built from deploy/lab if not given")
	f.StringVar(&c.Helm, "helm", "", "`PROGRAM` to judge charts with; built from deploy/lab if not given")
	f.BoolVar(&c.Verbose, "v", false, "print each change that is not proven")
	if err := f.Parse(args); err != nil {
		return err
	}
	if c.Corpus == "" {
		return fmt.Errorf("bench writeback needs -corpus FOLDER")
	}
	if *only != "" {
		c.Only = strings.Split(*only, ",")
	}
	return writeback.Run(ctx, c)
}
