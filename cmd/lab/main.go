// Command lab runs the whole thing on this machine: Kubernetes, Argo CD, a Git
// host, a local Slack and the bot, with an incident waiting to be reconciled.
//
//	go run ./cmd/lab                     start it, and say what to try
//	go run ./cmd/lab -scenario all       play the scenarios and tell how they went
//
// It must never need more than Go and git, listen beyond loopback, or leave a
// process or file behind, its cache of built programs excepted.
//
// Why real systems and not stand-ins: what the bot promises is about what
// Kubernetes and Argo CD really do, and most of what is surprising about them
// is in no documentation.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"reconcilebot/cmd/lab/build"
	"reconcilebot/cmd/lab/rig"
	"reconcilebot/cmd/lab/scenario"
	"reconcilebot/cmd/lab/world"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ctx, end := endWithParent(ctx)
	defer end()
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// flags are what the command line says.
type flags struct {
	addr     string
	scenario string
	output   string
	keep     bool
	noBot    bool
}

// run does what the arguments say and returns the exit status: 0 when it was
// done, 1 when it was not, 2 when it was not understood.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	var f flags
	set := flag.NewFlagSet("lab", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.StringVar(&f.addr, "addr", "127.0.0.1:7411", "`address` of the page, on loopback")
	set.StringVar(&f.scenario, "scenario", "", "play the scenarios with this `name`, a pattern like killed-*, or all")
	set.StringVar(&f.output, "o", "text", "what a run of scenarios prints: text or json")
	set.BoolVar(&f.keep, "keep", false, "keep the run folder with the logs at the end")
	set.BoolVar(&f.noBot, "nobot", false, "do not start the bot: say how, and leave it to you")
	if err := set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if set.NArg() > 0 || f.output != "text" && f.output != "json" {
		fmt.Fprintln(stderr, "lab: -o is text or json, and there are no further arguments; see -h")
		return 2
	}
	// With JSON on the standard output, people read the standard error.
	told := stdout
	if f.scenario != "" {
		told = stderr
	}
	display := &build.Lines{Out: told, Terminal: terminal(told), Now: time.Now}
	err := lab(ctx, f, getenv, display, stdout)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errFailed):
	case ctx.Err() != nil:
		display.Say("stopped")
	default:
		display.Clear()
		fmt.Fprintf(stderr, "lab: %v\n", err)
	}
	return 1
}

// errFailed means that scenarios failed, and that it has been said how.
var errFailed = errors.New("scenarios failed")

func lab(ctx context.Context, f flags, getenv func(string) string, display *build.Lines, stdout io.Writer) error {
	var chosen []scenario.Scenario
	if f.scenario != "" {
		var err error
		if chosen, err = scenario.Choose(f.scenario); err != nil {
			return err
		}
	}
	if _, err := exec.LookPath("git"); err != nil {
		return fmt.Errorf("find git: %w; install it (https://git-scm.com)", err)
	}
	if f.scenario == "" {
		// A first build takes minutes: what would stop the lab after it is
		// better said before.
		if err := rig.Free(f.addr); err != nil {
			return err
		}
	}
	tree, err := rig.Tree(ctx)
	if err != nil {
		return err
	}
	cache, err := build.CacheFolder(getenv)
	if err != nil {
		return err
	}
	programs, err := build.Builder{Cache: cache, Display: display, Now: time.Now}.Build(ctx, rig.Programs(tree)...)
	if err != nil {
		return err
	}
	o := rig.Options{Tree: tree, Programs: programs, Addr: f.addr, Say: display.Say, NoBot: f.noBot}
	if f.scenario != "" {
		return play(ctx, f, o, chosen, stdout)
	}
	o.Worlds, o.Revive = []world.World{world.Main()}, !f.noBot
	return show(ctx, f, o, display)
}

// show runs the lab for people until they have had enough.
func show(ctx context.Context, f flags, o rig.Options, display *build.Lines) error {
	begun := time.Now()
	r, err := rig.Start(ctx, o)
	if err != nil {
		return err
	}
	display.Say(fmt.Sprintf("ready in %.1f s\n\n%s", time.Since(begun).Seconds(), guide(r)))
	select {
	case <-ctx.Done():
		display.Say("\nending every process")
		err = nil
	case <-r.Done():
		err = r.Why()
	}
	// An interrupted rig ends with its parent context: that is no failure.
	keep := f.keep || err != nil && ctx.Err() == nil
	if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, end(r, keep, f.keep, display.Say))
}

// end closes the lab. Logs that were asked for are no failure.
func end(r *rig.Rig, keep, asked bool, say func(string)) error {
	err := r.Close(keep)
	if kept, ok := errors.AsType[rig.Kept](err); ok && asked {
		say(kept.Error())
		return nil
	}
	return err
}

func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// endWithParent ends the lab when the `go run` that started it is gone: a
// signal that ends go does not reach what it runs.
func endWithParent(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	parent := os.Getppid()
	if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", parent)); err != nil || string(name) != "go\n" {
		return ctx, cancel
	}
	done := make(chan struct{})
	go func() { // ends with ctx; the function returned waits for it
		defer close(done)
		each := time.NewTicker(500 * time.Millisecond)
		defer each.Stop()
		for os.Getppid() == parent {
			select {
			case <-ctx.Done():
				return
			case <-each.C:
			}
		}
		cancel()
	}()
	return ctx, func() { cancel(); <-done }
}
