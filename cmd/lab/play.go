package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"reconcilebot/cmd/lab/rig"
	"reconcilebot/cmd/lab/scenario"
)

// play runs scenarios without people and prints how they went.
func play(ctx context.Context, f flags, o rig.Options, chosen []scenario.Scenario, stdout io.Writer) error {
	o.Worlds, o.Fast, o.Addr = scenario.Worlds(chosen), true, "127.0.0.1:0"
	begun := time.Now()
	r, err := rig.Start(ctx, o)
	if err != nil {
		return err
	}
	o.Say(fmt.Sprintf("ready in %.1f s", time.Since(begun).Seconds()))
	tell := func(r scenario.Result) { fmt.Fprint(stdout, text(r)) }
	if f.output == "json" {
		tell = func(r scenario.Result) { o.Say(strings.TrimSuffix(text(r), "\n")) }
	}
	results := scenario.Play(ctx, r, chosen, tell)
	failed := 0
	for _, result := range results {
		if !result.Pass {
			failed++
		}
	}
	if f.output == "json" {
		if err := json.NewEncoder(stdout).Encode(map[string]any{"scenarios": results}); err != nil {
			return errors.Join(err, r.Close(true))
		}
	}
	o.Say(fmt.Sprintf("%d passed, %d failed, in %.0f s", len(results)-failed, failed, time.Since(begun).Seconds()))
	err = end(r, f.keep || failed > 0, f.keep, o.Say)
	if failed > 0 || err != nil {
		if err != nil {
			o.Say(err.Error())
		}
		return errFailed
	}
	return nil
}

func text(r scenario.Result) string {
	var b strings.Builder
	verdict := "PASS"
	if !r.Pass {
		verdict = "FAIL"
	}
	fmt.Fprintf(&b, "%s %s\n", verdict, r.Name)
	for _, s := range r.Stages {
		fmt.Fprintf(&b, "  %8d ms  %s\n", s.MS, s.Name)
	}
	for _, s := range r.Measures {
		fmt.Fprintf(&b, "  %8d ms  (%s)\n", s.MS, s.Name)
	}
	if r.Error != "" {
		fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(r.Error, "\n", "\n  "))
	}
	return b.String()
}
