// Package check runs everything that must hold before a change is merged.
//
// It must never pass over what it could not look at: a test that was skipped
// without naming what it lacked is a failure.
//
// Why each stage is a program of its own, started by name: the same line can
// be typed by hand when it fails.
package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"reconcilebot/runbook/spell"
)

// ErrFailed means that something did not hold; it has been printed.
var ErrFailed = errors.New("the check failed")

// Config says what to check.
type Config struct {
	// Root is the folder of the module.
	Root string
	// Only names the stages to run; all if empty.
	Only []string
	// CI tells that the machine is one that anything can be installed on: there
	// only missing hardware, or a missing account, excuses a skipped test.
	CI bool
	// Stdout gets the result, Stderr the progress of what takes long.
	Stdout, Stderr io.Writer
}

// Tally counts tests and scenarios.
type Tally struct{ Passed, Failed, Skipped int }

func (t *Tally) add(more Tally) {
	t.Passed += more.Passed
	t.Failed += more.Failed
	t.Skipped += more.Skipped
}

// stage is one thing that must hold. It writes what is wrong to w.
type stage struct {
	name string
	run  func(ctx context.Context, c Config, w io.Writer) (Tally, error)
}

// stages lists them in their order: what is quick comes first. The lab is
// built by the scenarios, so the page finds it there.
func stages() []stage {
	return []stage{
		{"format", format},
		{"vet", command("go", "vet", "./...")},
		{"staticcheck", command("go", "tool", "staticcheck", "./...")},
		{"tidy", tidy},
		{"test", tests},
		{"scenarios", scenarios},
		{"page", page},
	}
}

// Names lists the stages.
func Names() []string {
	var names []string
	for _, s := range stages() {
		names = append(names, s.name)
	}
	return names
}

// Run runs the stages, all of them even when one fails, and prints one line
// for each with its time. At the very end it says once more what failed, for
// logs of which only the end is kept, and the sum of tests and scenarios.
func Run(ctx context.Context, c Config) error {
	for _, name := range c.Only {
		if !slices.Contains(Names(), name) {
			return fmt.Errorf("there is no stage %q%s; choose from %s", name, spell.Hint(name, Names()), strings.Join(Names(), ", "))
		}
	}
	var sum Tally
	var failed []string
	for _, s := range stages() {
		if len(c.Only) > 0 && !slices.Contains(c.Only, s.name) {
			continue
		}
		var trouble bytes.Buffer
		tally, err := c.stage(ctx, s, &trouble)
		if err != nil {
			tally.Failed = max(tally.Failed, 1)
			failed = append(failed, headlines(s.name, trouble.String())...)
		}
		sum.add(tally)
		if ctx.Err() != nil {
			break
		}
	}
	for _, line := range failed {
		if err := c.say("FAILED %s\n", line); err != nil {
			return err
		}
	}
	if err := c.say("%d passed, %d failed, %d skipped\n", sum.Passed, sum.Failed, sum.Skipped); err != nil {
		return err
	}
	if sum.Failed > 0 {
		return ErrFailed
	}
	return nil
}

// headlines are the lines of a stage's trouble that name what failed; its own
// name if there are none.
func headlines(stage, trouble string) (found []string) {
	for line := range strings.Lines(trouble) {
		if what, ok := strings.CutPrefix(line, failure); ok {
			found = append(found, stage+": "+strings.TrimSpace(what))
		}
	}
	if len(found) == 0 {
		return []string{stage}
	}
	return found
}

// failure begins a line that names what failed.
const failure = "!!! "

// stage runs one and prints its line, and before it what went wrong, which
// trouble gets too.
func (c Config) stage(ctx context.Context, s stage, trouble *bytes.Buffer) (Tally, error) {
	began := time.Now()
	tally, err := s.run(ctx, c, trouble)
	verdict := "ok"
	if err != nil {
		verdict = "FAILED"
		fmt.Fprintf(trouble, "%s: %v\n", s.name, err)
		if said := c.say("%s", trouble.String()); said != nil {
			return tally, said
		}
	}
	return tally, errors.Join(err, c.say("%-12s %-6s %6.1fs\n", s.name, verdict, time.Since(began).Seconds()))
}

func (c Config) say(format string, args ...any) error {
	_, err := fmt.Fprintf(c.Stdout, format, args...)
	return err
}

// command makes a stage of a program that must end well.
func command(name string, args ...string) func(context.Context, Config, io.Writer) (Tally, error) {
	return func(ctx context.Context, c Config, w io.Writer) (Tally, error) {
		return Tally{}, c.exec(ctx, c.Root, w, w, name, args...)
	}
}

// exec runs a program in a folder. When the check is interrupted the program
// gets the chance to stop what it started.
func (c Config) exec(ctx context.Context, dir string, stdout, stderr io.Writer, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, stdout, stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}
