package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"reconcilebot/runbook/spell"
)

// Exit codes: what was asked for was done; it could not be done; it was not
// understood; it was refused, at least in part, because it is not proven.
const (
	exitDone    = 0
	exitFailed  = 1
	exitNotSaid = 2
	exitRefused = 3
)

// console is what a subcommand has around it.
type console struct {
	getenv         func(string) string
	stdout, stderr io.Writer
}

// subcommand is one row of the table that usage, help and run read.
type subcommand struct {
	name, args, summary string
	// run does it. Nothing is printed for errReported.
	run func(ctx context.Context, c console, args []string) error
}

func subcommands() []subcommand {
	return []subcommand{
		{"serve", "--config FILE", "run the bot until it gets SIGTERM or Ctrl-C", serve},
		{"doctor", "--config FILE [-o json]", "check each token, right and address, and say how to mend what is missing", examine},
		{"propose", "--repo DIR --path DIR --live FILE", "say which edits in Git make it as the live objects are, and prove them; no cluster needed", offer},
		{"orphans", "--kubeconfig FILE [--namespace NAME] [-o json|markdown]", "list what is in a cluster and in no Git: what a rebuild would lose", strays},
		{"policy", "test --user WHO --command WORD --target CLUSTER/NAME [--config FILE]", "say whether somebody may do something, and why, step by step", policyTest},
		{"audit", "export|verify …", "export the journal of all acts, or verify an export, which finds whatever was altered", auditCommand},
		{"state", "backup|restore|inspect …", "back up, restore or look into the state, also of a bot that runs", stateCommand},
		{"manifest", "", "print the manifest of the Slack app, to create it from", manifest},
		{"version", "", "print what this binary was built from", version},
		{"help", "[SUBCOMMAND]", "print this", help},
	}
}

// usageError is a mistake in how the program was called.
type usageError struct{ say string }

func (e usageError) Error() string { return e.say }

// errReported means that everything there is to say has been said.
var errReported = errors.New("reported")

// run does what the arguments ask for and returns the exit code.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	c := console{getenv, stdout, stderr}
	err := dispatch(ctx, c, args)
	var misuse usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitDone
	case errors.As(err, &misuse):
		c.say("reconcilebot: %s\n%s", misuse.say, "Usage: reconcilebot help\n")
		return exitNotSaid
	case errors.Is(err, errRefused):
		return exitRefused
	case !errors.Is(err, errReported):
		c.say("reconcilebot: %v\n", err)
	}
	return exitFailed
}

func dispatch(ctx context.Context, c console, args []string) error {
	if len(args) == 0 {
		usage(c.stderr)
		return usageError{"a subcommand is missing"}
	}
	sub, err := find(args[0])
	if err != nil {
		return err
	}
	return sub.run(ctx, c, args[1:])
}

func find(name string) (subcommand, error) {
	if slices.Contains([]string{"-h", "-help", "--help"}, name) {
		name = "help"
	}
	all := subcommands()
	i := slices.IndexFunc(all, func(s subcommand) bool { return s.name == name })
	if i < 0 {
		names := make([]string, len(all))
		for j, s := range all {
			names[j] = s.name
		}
		return subcommand{}, usageError{fmt.Sprintf("there is no subcommand %q%s", name, spell.Hint(name, names))}
	}
	return all[i], nil
}

// help prints the table, or the row that was asked for.
func help(_ context.Context, c console, args []string) error {
	if len(args) == 0 {
		usage(c.stdout)
		return nil
	}
	sub, err := find(args[0])
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stdout, "Usage: reconcilebot %s\n\nIt will %s.\n", strings.TrimSpace(sub.name+" "+sub.args), sub.summary)
	return err
}

func usage(w io.Writer) {
	text := "Usage: reconcilebot SUBCOMMAND\n\n"
	for _, s := range subcommands() {
		text += fmt.Sprintf("  %-32s %s\n", s.name+" "+s.args, s.summary)
	}
	_, _ = io.WriteString(w, text) // a console that is gone has no reader
}

// say writes to the one who called; when that fails nobody is there to tell.
func (c console) say(format string, args ...any) {
	_, _ = fmt.Fprintf(c.stderr, format, args...)
}

// flags parses the flags of one subcommand. None takes further arguments.
func (c console) flags(name string, args []string, define func(*flag.FlagSet)) error {
	f := flag.NewFlagSet("reconcilebot "+name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	define(f)
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		f.SetOutput(c.stdout)
		f.Usage()
		return err
	case err != nil:
		return usageError{name + ": " + err.Error()}
	case f.NArg() > 0:
		return usageError{fmt.Sprintf("%s takes no argument %q", name, f.Arg(0))}
	}
	return nil
}

// configFlag defines --config, which is required.
func (c console) configFlag(name string, args []string, more func(*flag.FlagSet)) (string, error) {
	var path string
	err := c.flags(name, args, func(f *flag.FlagSet) {
		f.StringVar(&path, "config", "", "the config `FILE`; deploy/base/config.yaml is an example")
		more(f)
	})
	if err == nil && path == "" {
		err = usageError{name + " needs --config FILE"}
	}
	return path, err
}
