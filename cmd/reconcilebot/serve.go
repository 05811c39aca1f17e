package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"reconcilebot/cmd/reconcilebot/config"
	"reconcilebot/state"
)

// serve runs the bot until ctx ends.
func serve(ctx context.Context, c console, args []string) error {
	path, err := c.configFlag("serve", args, func(*flag.FlagSet) {})
	if err != nil {
		return err
	}
	cfg, err := c.load(path)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(c.stderr, nil))
	if err := operate(ctx, cfg, log); err != nil {
		log.Error("stopped", "err", err)
		return errReported
	}
	log.Info("stopped")
	return nil
}

// load reads the config; its mistakes stand alone on the console, one a line.
func (c console) load(path string) (*config.Config, error) {
	cfg, err := config.Load(path, c.getenv)
	var problems config.Problems
	if errors.As(err, &problems) {
		c.say("%v\n", problems)
		return nil, errReported
	}
	return cfg, err
}

// operate builds the program from the bottom up and blocks until ctx ends.
func operate(ctx context.Context, cfg *config.Config, log *slog.Logger) (err error) {
	log.Info("starting", "version", versionText(buildInfo()))
	db, err := state.Open(cfg.State, time.Now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	g, ctx := errgroup.WithContext(ctx)
	if cfg.Listen != "" {
		l, err := listen("probes and metrics", cfg.Listen, probes(func() (bool, string) { return true, "" }, func(io.Writer) error { return nil }), log)
		if err != nil {
			return fmt.Errorf("start: %w", err)
		}
		g.Go(func() error { return l.serve(ctx) })
	}
	g.Go(func() error { <-ctx.Done(); return nil })
	return g.Wait()
}
