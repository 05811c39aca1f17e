package bot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// links keeps the connections to Slack open.
type links struct {
	slack  *Slack
	count  int
	intake *intake
	health *health
	meters *meters
	log    *slog.Logger
	pace   *openPace
	stale  time.Duration
	// settled is how long a connection has to hold to count as good.
	settled time.Duration
	// life is how long a connection is used, overlap how long it stays open
	// beside the one that takes its place.
	life, overlap time.Duration

	// pause is after what mends itself, setup after what the operator has to
	// mend.
	pause, setup backoff
	census       census
	bg           sync.WaitGroup // connections that are on their way out
}

func newLinks(c Config, in *intake, h *health, m *meters) *links {
	hurry := time.Duration(c.Hurry)
	return &links{
		slack: c.Slack, count: c.Sockets, intake: in, health: h, meters: m, log: c.Log,
		pace: newOpenPace(time.Now, c.Hurry), stale: staleAfter, settled: 30 * time.Second / hurry,
		life: connectionLife, overlap: 5 * time.Second,
		pause: backoff{Least: time.Second / hurry, Most: time.Minute / hurry},
		setup: backoff{Least: setupPause * 3 / 2, Most: 4 * setupPause}, census: census{now: time.Now},
	}
}

// run holds the connections until ctx ends, then closes them.
func (l *links) run(ctx context.Context) error {
	defer l.intake.bg.Wait()
	defer l.bg.Wait()
	g, ctx := errgroup.WithContext(ctx)
	for i := range l.count {
		g.Go(func() error { return l.keep(ctx, i) })
	}
	return g.Wait()
}

// keep holds one connection, opening the next as soon as Slack announces the
// end of this one.
func (l *links) keep(ctx context.Context, number int) error {
	pause, setup := l.pause, l.setup
	for ctx.Err() == nil {
		reason, lived, err := l.once(ctx)
		if ctx.Err() != nil {
			break
		}
		l.meters.reconnects.Add(1)
		if lived > l.settled {
			pause.reset()
			setup.reset()
		}
		if sleep(ctx, l.after(number, reason, err, lived, &pause, &setup)) != nil {
			break
		}
	}
	return nil
}

// after says how long to wait before connecting again, and tells the operator
// what there is to know.
func (l *links) after(number int, reason string, err error, lived time.Duration, pause, setup *backoff) time.Duration {
	t := trouble{}
	if err != nil {
		t = troubleOf(err)
		l.health.trouble(t.Err.Error())
	}
	switch {
	case err != nil && t.Remedy != later:
		l.log.Error("Slack refuses the connection", "socket", number, "err", t.Err)
		return setup.next()
	case reason == "link_disabled":
		say := "Socket Mode is switched off for the app; switch it on in the app's settings"
		l.health.trouble(say)
		l.log.Error(say, "socket", number)
		return setup.next()
	case reason == "too_many_websockets":
		l.log.Error("Slack has ten connections of this app already; is another copy running with the same app-level token?", "socket", number)
		return setup.next()
	case err == nil && lived > l.settled:
		l.log.Info("Slack renews the connection", "socket", number, "reason", reason)
		return 0
	case err != nil:
		l.log.Warn("the connection to Slack broke", "socket", number, "err", t.Err)
	}
	return max(pause.next(), t.After)
}

// once opens a connection and serves it until it breaks (err) or Slack says
// that it will end (reason); in the second case it goes on being served
// behind the caller's back until Slack hangs up. lived is how long it was of
// use by then.
func (l *links) once(ctx context.Context) (reason string, lived time.Duration, err error) {
	if err := l.pace.wait(ctx); err != nil {
		return "", 0, err
	}
	l.meters.opens.Add(1)
	l.census.came() // from when on Slack may count it
	conn, err := l.open(ctx)
	if err != nil {
		l.census.went()
		return "", 0, err
	}
	end, began := make(chan ending, 1), time.Now()
	l.bg.Go(func() {
		defer l.census.went()
		(&connection{links: l, socket: conn, end: end}).serve(ctx)
	})
	old := time.NewTimer(l.life - rand.N(l.life/4))
	defer old.Stop()
	select {
	case e := <-end:
		return e.reason, time.Since(began), e.err
	case <-old.C:
		time.AfterFunc(l.overlap, conn.close)
		return "old enough", time.Since(began), nil
	}
}

// connectionLife is how long a connection is trusted. One on which pings come
// and envelopes do not looks like a quiet one,
// https://github.com/slackapi/node-slack-sdk/issues/1357; nothing but another
// connection shows the difference.
const connectionLife = time.Hour

func (l *links) open(ctx context.Context) (*socket, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 30*time.Second, errors.New("opening Slack's socket took longer than 30s"))
	defer cancel()
	api, err := l.slack.use()
	if err != nil {
		return nil, err
	}
	_, address, err := api.StartSocketModeContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask Slack for a socket: %w", err)
	}
	if address == "" {
		return nil, errors.New("ask Slack for a socket: the answer has no address")
	}
	conn, err := dial(ctx, address)
	if err != nil {
		return nil, err
	}
	return newSocket(conn, l.stale, l.meters.frame), nil
}

// hello checks that nobody else listens with our app-level token.
func (l *links) hello(f frame) {
	l.meters.connections.Store(int64(f.NumConnections))
	l.log.Info("connected to Slack", "connections", f.NumConnections, "app", f.ConnectionInfo.AppID)
	l.intake.ownApp(f.ConnectionInfo.AppID)
	if ours, theirs := l.intake.me.Load().App, f.ConnectionInfo.AppID; ours != "" && theirs != "" && ours != theirs {
		say := fmt.Sprintf("the app-level token is of the Slack app %s, and the bot token of %s; take both from the pages of one app", theirs, ours)
		l.health.removed(say)
		l.log.Error(say)
	}
	foreign := l.census.foreign(f.NumConnections)
	l.meters.foreign.Store(int64(foreign))
	if foreign > 0 {
		l.log.Warn("more connections to Slack than this bot holds: a second copy, or a stolen app-level token, gets a share of people's commands; it may be this bot's own former process if that ended a moment ago",
			"connections", f.NumConnections, "foreign", foreign)
	}
}
