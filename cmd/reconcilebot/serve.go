package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"reconcilebot/bot"
	"reconcilebot/cmd/reconcilebot/config"
	"reconcilebot/commands/lookout"
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
// The state file is closed last.
func operate(ctx context.Context, cfg *config.Config, log *slog.Logger) (err error) {
	log.Info("starting", "version", versionText(buildInfo()))
	db, err := state.Open(cfg.State, time.Now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	g, ctx := errgroup.WithContext(ctx)
	var running atomic.Pointer[bot.Bot]
	if cfg.Listen != "" {
		l, err := listen("probes and metrics", cfg.Listen, probes(readiness(&running), metrics(&running)), log)
		if err != nil {
			return fmt.Errorf("start: %w", err)
		}
		g.Go(func() error { return l.serve(ctx) })
	}
	g.Go(func() error { return serveCopies(ctx, cfg.State, db, log) })
	audited := ears{writes{db}, new(atomic.Pointer[lookout.Lookout])}
	if cfg.Audit != nil {
		l, err := listenForAudit(*cfg.Audit, audited, log)
		if err != nil {
			return fmt.Errorf("start: %w", err)
		}
		g.Go(func() error { return l.serve(ctx) })
	}
	g.Go(func() error { return audited.forget(ctx, log) })
	g.Go(func() error { return work(ctx, cfg, db, &running, audited.lookout, log) })
	return g.Wait()
}

// work runs what answers people and what moves reconciliations.
func work(ctx context.Context, cfg *config.Config, db *state.DB, running *atomic.Pointer[bot.Bot], watching *atomic.Pointer[lookout.Lookout], log *slog.Logger) error {
	host, err := openGitHub(cfg.GitHub)
	if err != nil {
		return err
	}
	repos := newRepositories(cfg.GitHub, host)
	people, err := openCompany(ctx, cfg, host, repos, log)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	}
	engine, sites, err := machinery(cfg, db, host, repos, people, log)
	if err != nil {
		return err
	}
	desk, err := openTickets(cfg.Tickets)
	if err != nil {
		return err
	}
	b, app, err := voice(cfg, db, engine, sites, people, desk, log)
	if err != nil {
		return err
	}
	running.Store(b)
	g, ctx := errgroup.WithContext(ctx)
	if l := openLookout(cfg, db, engine, sites, log); l != nil {
		watching.Store(l)
		g.Go(func() error { return l.Run(ctx) })
	}
	g.Go(func() error { return engine.Run(ctx) })
	g.Go(func() error { return b.Run(ctx) })
	g.Go(func() error { return app.Remind(ctx) })
	g.Go(func() error { return carrier(cfg, db, desk, log).Run(ctx) })
	return g.Wait()
}

func readiness(running *atomic.Pointer[bot.Bot]) func() (bool, string) {
	return func() (bool, string) {
		b := running.Load()
		if b == nil {
			return false, "starting"
		}
		return b.Ready()
	}
}

func metrics(running *atomic.Pointer[bot.Bot]) func(io.Writer) error {
	return func(w io.Writer) error {
		b := running.Load()
		if b == nil {
			return nil
		}
		return b.Metrics().Write(w)
	}
}
