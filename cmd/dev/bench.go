package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"reconcilebot/cmd/dev/bench"
)

// runBench times what is named.
func runBench(ctx context.Context, _ string, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("bench main-job", flag.ContinueOnError)
	f.SetOutput(stderr)
	runs := f.Int("runs", 5, "how often each side does the job")
	if len(args) == 0 || args[0] != "main-job" {
		return fmt.Errorf("say what to time: go run ./cmd/dev bench main-job")
	}
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	if *runs < 1 {
		return fmt.Errorf("-runs %d: at least one run of each is needed", *runs)
	}
	return bench.MainJob(ctx, bench.Config{Runs: *runs, Stdout: stdout, Stderr: stderr})
}
