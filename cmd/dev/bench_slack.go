package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"reconcilebot/cmd/dev/bench/soak"
)

// benchSlack plays the soak and fails when anything was lost, doubled or
// found.
func benchSlack(ctx context.Context, root string, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("bench slack", flag.ContinueOnError)
	f.SetOutput(stderr)
	c := soak.Config{Root: root, Out: stderr}
	f.IntVar(&c.Envelopes, "envelopes", 10_000, "how many envelopes Slack sends")
	f.IntVar(&c.People, "people", 200, "how many people use the bot")
	f.IntVar(&c.Channels, "channels", 50, "in how many channels")
	f.IntVar(&c.Kills, "kills", 0, "how often the bot's process is killed")
	f.DurationVar(&c.Think, "think", 4*time.Second, "how long people think between two acts, on average")
	f.Uint64Var(&c.Seed, "seed", rand.Uint64()>>32, "of the random numbers")
	f.StringVar(&c.Folder, "folder", "", "keep the state file and the bot's log in this `FOLDER`; a temporary one if empty")
	f.StringVar(&c.Profile, "profile", "", "write a CPU profile of the bot's process to this `FILE`, for go tool pprof")
	if err := f.Parse(args); err != nil {
		return err
	}
	if c.Envelopes < 1 || c.People < c.Channels || c.Channels < 1 || c.Kills < 0 || c.Think <= 0 {
		return errors.New("at least one envelope, one channel, and as many people as channels are needed")
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the program itself, which plays the bot: %w", err)
	}
	c.Command = []string{self}
	return soakIn(ctx, c, stdout)
}

func soakIn(ctx context.Context, c soak.Config, stdout io.Writer) (err error) {
	if c.Folder == "" {
		if c.Folder, err = os.MkdirTemp("", "soak-"); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(stdout, "seed %d, %d people, %d channels, Slack's clock runs %d times as fast; state and log in %s\n", c.Seed, c.People, c.Channels, soak.Hurry, c.Folder); err != nil {
		return err
	}
	r, err := soak.Run(ctx, c)
	if err != nil {
		return err
	}
	if err := r.Print(stdout); err != nil {
		return err
	}
	if !r.Clean() || !r.Flat() {
		return errors.New("the soak found faults; see above")
	}
	return nil
}
