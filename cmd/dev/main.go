// Command dev is for those who work on reconcilebot.
//
//	go run ./cmd/dev check            everything that must hold before a merge
//	go run ./cmd/dev check -only test some of it
//	go run ./cmd/dev cards            every card there is, in the browser
//	go run ./cmd/dev bench main-job   the main job against the same by hand
//	go run ./cmd/dev bench slack      hundreds of people on a Slack that fails
//
// It must never be needed to run the bot, and never change a file.
//
// Why a Go program and not a script: it runs wherever the tests run, and what
// it does is read, and tested, like everything else here.
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
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"reconcilebot/cmd/dev/bench/soak"
	"reconcilebot/cmd/dev/check"
	"reconcilebot/runbook/spell"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var err error
	if setting := os.Getenv(soak.SettingName); setting != "" { // started by bench slack
		err = soak.Bot(ctx, setting, os.Stdin, os.Stdout, os.Stderr)
	} else {
		err = run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	}
	stop()
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
	case errors.Is(err, check.ErrFailed):
		os.Exit(1)
	default:
		fmt.Fprintln(os.Stderr, "dev:", err)
		os.Exit(2)
	}
}

// tool is one thing to do.
type tool struct {
	name, summary string
	run           func(ctx context.Context, root string, args []string, stdout, stderr io.Writer) error
}

func tools() []tool {
	return []tool{
		{"check", "format, vet, staticcheck, tidy, tests with -race, the lab's scenarios, the page", checkAll},
		{"cards", "every card there is, drawn in the browser", showCards},
		{"bench", "main-job: times the bot against the same job by hand; slack: a soak on a local Slack that fails", runBench},
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	all := tools()
	if len(args) == 0 {
		return usage(all, "say what to do")
	}
	i := slices.IndexFunc(all, func(t tool) bool { return t.name == args[0] })
	if i < 0 {
		names := make([]string, len(all))
		for j, t := range all {
			names[j] = t.name
		}
		return usage(all, fmt.Sprintf("there is no %q%s", args[0], spell.Hint(args[0], names)))
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	return all[i].run(ctx, root, args[1:], stdout, stderr)
}

func usage(all []tool, why string) error {
	text := why + "\n\nUsage: go run ./cmd/dev TOOL\n"
	for _, t := range all {
		text += fmt.Sprintf("\n  %-8s %s", t.name, t.summary)
	}
	return errors.New(text)
}

// moduleRoot is the folder of the module in which this is run.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	mod := strings.TrimSpace(string(out))
	if mod == "" || mod == os.DevNull {
		return "", errors.New("no go.mod here or above; run this inside the repository")
	}
	return filepath.Dir(mod), nil
}

// checkAll runs the stages of check, or those that -only names.
func checkAll(ctx context.Context, root string, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("check", flag.ContinueOnError)
	f.SetOutput(stderr)
	only := f.String("only", "", "comma-separated `STAGES`: "+strings.Join(check.Names(), ", "))
	if err := f.Parse(args); err != nil {
		return err
	}
	var stages []string
	if *only != "" {
		stages = strings.Split(*only, ",")
	}
	return check.Run(ctx, check.Config{Root: root, Only: stages, CI: os.Getenv("CI") == "true", Stdout: stdout, Stderr: stderr})
}
