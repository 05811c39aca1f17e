package soak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/pprof"
	"time"

	"golang.org/x/sync/errgroup"

	"reconcilebot/bot"
	"reconcilebot/commands"
	"reconcilebot/runbook"
	"reconcilebot/state"
)

// tellEvery is how often the bot's process says how it does.
const tellEvery = 250 * time.Millisecond

// Bot is the bot's process: the real thing, but for clusters and Git. It runs
// until stdin ends.
func Bot(ctx context.Context, setting string, stdin io.Reader, stdout, stderr io.Writer) (err error) {
	var s Setting
	if err := json.Unmarshal([]byte(setting), &s); err != nil {
		return fmt.Errorf("read %s: %w", SettingName, err)
	}
	end, err := profile(s.Profile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	log := slog.New(slog.NewTextHandler(stderr, nil))
	db, err := state.Open(s.State, time.Now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	engine := runbook.New(runbook.Config{DB: db, Log: log, Books: books()})
	b, err := voice(s, db, engine, log)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() { // ends with stdin, at the latest with the process
		_, _ = io.Copy(io.Discard, stdin)
		stop()
	}()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return engine.Run(ctx) })
	g.Go(func() error { return b.Run(ctx) })
	g.Go(func() error { return tell(ctx, b, db, stdout) })
	return g.Wait()
}

// profile writes what the process spends its time on, until end is called;
// nothing with an empty path.
func profile(path string) (end func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}

// voice builds what speaks with people, as serve does.
func voice(s Setting, db *state.DB, engine *runbook.Engine, log *slog.Logger) (*bot.Bot, error) {
	give := func(token string) func() (string, error) { return func() (string, error) { return token, nil } }
	wire, err := bot.NewSlack(bot.SlackConfig{API: s.API, BotToken: give(botToken), AppToken: give(appToken)})
	if err != nil {
		return nil, err
	}
	directory := bot.NewDirectory(wire, time.Now)
	app := commands.New(commands.Config{
		DB: db, Engine: engine, Directory: directory, Team: team, Access: policy(s.People), Log: log,
		Targets: map[string]commands.Lister{cluster: targets(s.Targets)},
	})
	return bot.New(bot.Config{
		App: app, DB: db, Slack: wire, Directory: directory, Team: team, Log: log, Hurry: Hurry,
	})
}

// tell writes how the bot does until ctx ends.
func tell(ctx context.Context, b *bot.Bot, db *state.DB, w io.Writer) error {
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		s, err := observe(b, db)
		if err != nil {
			return err
		}
		if err := json.NewEncoder(w).Encode(s); err != nil {
			return fmt.Errorf("tell how the bot does: %w", err)
		}
	}
}

func observe(b *bot.Bot, db *state.DB) (s status, err error) {
	unhandled, err1 := db.Unhandled()
	notices, err2 := db.Notices()
	redraws, err3 := db.Redraws()
	unclosed, err4 := db.Unclosed()
	m := b.Metrics()
	s = status{
		Unhandled: len(unhandled), Notices: len(notices), Redraws: len(redraws),
		Panics: m.Panics, Missed: m.Missed, Refused: m.Refused, Repeated: m.Repeated, Limited: m.Limited, Opens: m.Opens,
	}
	s.Ready, _ = b.Ready()
	for _, r := range unclosed {
		asks := r.Done("survey") && !r.Decided() || r.Wait != nil && r.Wait.For == runbook.ForPeople
		if !asks && r.Failure == nil {
			s.Moving++
		}
	}
	return s, errors.Join(err1, err2, err3, err4)
}
