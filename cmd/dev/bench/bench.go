// Package bench times the main job against the same job done by hand.
//
// It must never count what people or a deliberate wait took, and must print
// those apart. What only one side does is left out, or to the advantage of the
// hand: the script's pull request is not timed, the bot's is.
//
// Why both in one run on one lab: on another day, or another machine, the
// numbers are others, and only their ratio means anything.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"reconcilebot/cmd/lab/build"
	"reconcilebot/cmd/lab/rig"
	"reconcilebot/cmd/lab/scenario"
	"reconcilebot/cmd/lab/world"
)

// Stage is a part of the job and its times, one of each run.
type Stage struct {
	Name string
	MS   []int64
}

// Median is the middle one of its times.
func (s Stage) Median() int64 {
	sorted := slices.Sorted(slices.Values(s.MS))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)/2]
}

// stages collects times by name, in the order in which the names came.
type stages []Stage

func (s *stages) add(name string, ms int64) {
	i := slices.IndexFunc(*s, func(have Stage) bool { return have.Name == name })
	if i < 0 {
		*s = append(*s, Stage{Name: name})
		i = len(*s) - 1
	}
	(*s)[i].MS = append((*s)[i].MS, ms)
}

func (s stages) sum() (ms int64) {
	for _, one := range s {
		ms += one.Median()
	}
	return ms
}

func (s stages) print(w io.Writer, title string) error {
	if _, err := fmt.Fprintf(w, "%s\n", title); err != nil {
		return err
	}
	for _, one := range s {
		if _, err := fmt.Fprintf(w, "  %6d ms  %s\n", one.Median(), one.Name); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "  %6d ms  in all\n\n", s.sum())
	return err
}

// Config says what to time.
type Config struct {
	// Runs is how often each side does the job.
	Runs           int
	Stdout, Stderr io.Writer
}

// MainJob starts a lab, does the job by hand and by the bot in turns, and
// prints the medians and the ratio of their sums.
func MainJob(ctx context.Context, c Config) (err error) {
	var hands, bots []world.World
	for i := range c.Runs {
		hands = append(hands, world.New(2*i+1, fmt.Sprintf("hand-%d", i+1)))
		bots = append(bots, world.New(2*i+2, fmt.Sprintf("bot-%d", i+1)))
	}
	lab, err := start(ctx, slices.Concat(hands, bots), c.Stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lab.Close(false)) }()
	var byHand, byBot, waits stages
	for i := range c.Runs {
		if err := hand(ctx, lab, hands[i], &byHand); err != nil {
			return fmt.Errorf("by hand, run %d: %w", i+1, err)
		}
		if err := bot(ctx, lab, bots[i], &byBot, &waits); err != nil {
			return fmt.Errorf("by the bot, run %d: %w", i+1, err)
		}
	}
	if err := errors.Join(byHand.print(c.Stdout, "By hand, as a script"), byBot.print(c.Stdout, "By the bot"), waits.print(c.Stdout, "Not counted")); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Stdout, "The bot takes %.2f of the script's time; median of %d runs each\n", float64(byBot.sum())/float64(byHand.sum()), c.Runs)
	return err
}

func start(ctx context.Context, worlds []world.World, stderr io.Writer) (*rig.Rig, error) {
	tree, err := rig.Tree(ctx)
	if err != nil {
		return nil, err
	}
	cache, err := build.CacheFolder(os.Getenv)
	if err != nil {
		return nil, err
	}
	display := &build.Lines{Out: stderr, Now: time.Now}
	programs, err := build.Builder{Cache: cache, Display: display, Now: time.Now}.Build(ctx, rig.Programs(tree)...)
	if err != nil {
		return nil, err
	}
	return rig.Start(ctx, rig.Options{Tree: tree, Programs: programs, Addr: "127.0.0.1:0", Worlds: worlds, Say: display.Say, Fast: true})
}

// bot plays the scenario and keeps the machine's share of it, from the command
// to the record, and beside it what was waited for.
func bot(ctx context.Context, lab *rig.Rig, w world.World, times, waits *stages) error {
	chosen, err := scenario.Choose("scaled-adopt")
	if err != nil {
		return err
	}
	lab.Worlds = []world.World{w}
	result := scenario.Play(ctx, lab, chosen, func(scenario.Result) {})[0]
	if !result.Pass {
		return errors.New(result.Error)
	}
	counted := false
	for _, m := range result.Measures {
		switch m.Name {
		case scenario.MachineShare:
			times.add(m.Name, m.MS)
			counted = true
		case scenario.BetweenPolls, scenario.ForPeople:
			waits.add(m.Name, m.MS)
		}
	}
	if !counted {
		return errors.New("the bot's log does not say where the time went")
	}
	return nil
}
