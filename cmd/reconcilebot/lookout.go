package main

import (
	"context"
	"fmt"
	"log/slog"
	"path"
	"sync/atomic"

	"reconcilebot/cmd/reconcilebot/config"
	"reconcilebot/commands/lookout"
	"reconcilebot/runbook"
	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/drift"
	"reconcilebot/state"
)

// openLookout builds what speaks first; nil where the config names no channel
// for that.
func openLookout(cfg *config.Config, db *state.DB, engine *runbook.Engine, at sites, log *slog.Logger) *lookout.Lookout {
	if len(cfg.Speak.Channels) == 0 {
		return nil
	}
	return lookout.New(lookout.Config{
		DB: db, Engine: engine, Sites: lookout.Sites(at.surveyors), Look: at.look, OutOfSync: cfg.Speak.OutOfSync,
		Channel: func(t drift.Target) state.Room { return channelFor(cfg.Speak.Channels, t) }, Log: log,
	})
}

// channelFor is the channel of the first entry that a target fits.
func channelFor(list []config.SpeakTo, t drift.Target) state.Room {
	for _, to := range list {
		for _, pattern := range to.Targets {
			if fits, err := path.Match(pattern, t.Short()); err == nil && fits {
				return state.Room(to.Channel)
			}
		}
	}
	return ""
}

// ears is who is told of audited writes once they are stored. The listener
// opens before there is anybody to tell.
type ears struct {
	writes
	lookout *atomic.Pointer[lookout.Lookout]
}

// Learn stores writes and passes them on.
func (e ears) Learn(ctx context.Context, list []cluster.Write) error {
	if err := e.writes.Learn(ctx, list); err != nil {
		return err
	}
	if l := e.lookout.Load(); l != nil {
		l.Hear(list)
	}
	return nil
}

// timeline says who and what touched a target.
func (s sites) timeline(ctx context.Context, t drift.Target, only string) ([]drift.Touch, error) {
	surveyor, ok := s.surveyors[t.Cluster]
	if !ok {
		return nil, fmt.Errorf("who touched %s: the cluster is not configured", t)
	}
	return surveyor.Timeline(ctx, t, only)
}
