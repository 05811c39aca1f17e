package bot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"

	"reconcilebot/commands"
	"reconcilebot/commands/card"
	"reconcilebot/runbook/stopwatch"
	"reconcilebot/state"
)

// app is what answers people and draws cards: commands.Commands.
type app interface {
	Check(commands.Request) map[string]string
	Handle(context.Context, commands.Request) (commands.Reply, error)
	Card(context.Context, state.Reconciliation) card.Message
	Notice(ctx context.Context, r state.Reconciliation, kind string) (card.Message, bool)
}

var _ app = (*commands.Commands)(nil)

// Config is what a bot needs.
type Config struct {
	// App answers; it is *commands.Commands.
	App app
	DB  *state.DB
	// Slack is the connection to the Web API, made by NewSlack, which the
	// directory shares.
	Slack *Slack
	// Directory is asked again, before a card is posted, whether the channel
	// is still the company's own.
	Directory *Directory
	// Team is the workspace's id; a token of another workspace is refused.
	// Empty accepts the workspace that the token is for.
	Team string
	// Sockets is how many connections are held open, 1 to 3; 2 if zero, so
	// that one is there while Slack renews the other.
	Sockets int
	// Scopes are those that the app was given in its manifest; what the token
	// lacks of them is reported once at the start.
	Scopes []string
	// Redact cuts secrets out of any text that is to be sent; nil sends text
	// as it is.
	Redact func(string) string
	Log    *slog.Logger
	// Now is the clock; time.Now if nil.
	Now func() time.Time
	// NewID makes the mint of a delivery; ULIDs if nil.
	NewID func() string
	// Workers is how many requests are answered at the same time; 16 if zero.
	Workers int
	// Grace is how long requests under way may take to end after the context
	// of Run did; 5 seconds if zero.
	Grace time.Duration
	// Hurry divides the pauses that Slack's limits ask for, between messages,
	// edits and connections; 1 if zero. More is for a local Slack whose clock
	// runs as much faster.
	Hurry int
}

func (c *Config) fill() error {
	switch {
	case c.App == nil || c.DB == nil || c.Slack == nil || c.Directory == nil:
		return errors.New("make a bot: App, DB, Slack and Directory are all needed")
	case c.Sockets < 0 || c.Sockets > 3:
		return fmt.Errorf("make a bot: %d sockets; 1 to 3 are possible", c.Sockets)
	case c.Hurry < 0:
		return fmt.Errorf("make a bot: pauses can't be divided by %d", c.Hurry)
	}
	if c.Sockets == 0 {
		c.Sockets = 2
	}
	if c.Hurry == 0 {
		c.Hurry = 1
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = func() string { return strings.ToLower(ulid.Make().String()) }
	}
	if c.Workers == 0 {
		c.Workers = 16
	}
	if c.Grace == 0 {
		c.Grace = 5 * time.Second
	}
	return nil
}

// Bot is one app in one workspace. It is safe for concurrent use.
type Bot struct {
	cfg     Config
	log     *slog.Logger
	health  *health
	meters  *meters
	links   *links
	intake  *intake
	pool    *pool
	answers *answers
	outbox  *outbox
}

// New makes a bot; Run starts it.
func New(cfg Config) (*Bot, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	b := &Bot{cfg: cfg, log: cfg.Log, health: newHealth(), meters: newMeters()}
	asked := newAsked(cfg.Now)
	gates := newGates(cfg.Now, cfg.Hurry)
	if err := gates.outlive(cfg.DB, cfg.Log); err != nil {
		return nil, err
	}
	post := &poster{slack: cfg.Slack, rooms: cfg.Directory, db: cfg.DB, log: cfg.Log, now: cfg.Now, redact: cfg.Redact, gates: gates, meters: b.meters}
	b.answers = &answers{slack: cfg.Slack, post: post, hooks: newHooks(cfg.Slack, cfg.DB, cfg.Now), log: cfg.Log, now: cfg.Now}
	b.outbox = &outbox{app: cfg.App, db: cfg.DB, post: post, answers: b.answers, asked: asked, log: cfg.Log, now: cfg.Now, meters: b.meters, due: cfg.DB.Waiting(cardKey), lanes: map[state.Room]*lane{}, pace: slackPace / time.Duration(cfg.Hurry), retry: backoff{Least: time.Second, Most: 2 * time.Minute}, wake: make(chan struct{}, 1)}
	b.answers.turn = b.outbox.turn
	b.pool = newPool(cfg, b.answers, b.outbox, asked, b.meters)
	b.intake = &intake{app: cfg.App, db: cfg.DB, pool: b.pool, log: cfg.Log, now: cfg.Now, mint: cfg.NewID, meters: b.meters, directory: cfg.Directory, health: b.health, outbox: b.outbox, slots: make(chan struct{}, slots), within: storeWithin}
	b.links = newLinks(cfg, b.intake, b.health, b.meters)
	return b, nil
}

// Run connects to Slack and works until ctx ends. What was received and not
// handled before a restart is handled first. It returns nil after an orderly
// stop; whatever was not finished by then is on disk and goes on with the
// next start.
func (b *Bot) Run(ctx context.Context) error {
	work, stop := linger(ctx, b.cfg.Grace)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return b.pool.run(ctx, work) })
	g.Go(func() error { return b.outbox.run(ctx, work) })
	g.Go(func() error { return b.forget(ctx) })
	g.Go(func() error {
		me, err := b.introduce(ctx)
		if err != nil {
			return nil // ctx ended before Slack let us in
		}
		b.intake.me.Store(&me)
		b.outbox.post.me.Store(&me)
		b.outbox.nudge()
		return b.links.run(ctx)
	})
	return g.Wait()
}

// Ready tells whether people's commands reach the bot, and if not, why.
func (b *Bot) Ready() (ok bool, why string) { return b.health.ready() }

// forget drops deliveries a day after they were handled, and files of which
// nobody has a use any more.
func (b *Bot) forget(ctx context.Context) error {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		if _, err := b.cfg.DB.ForgetDeliveries(b.cfg.Now().Add(-24 * time.Hour)); err != nil {
			b.log.Error("old deliveries were not forgotten", "err", err)
		}
		b.answers.discard(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// linger gives a context that ends a while after its parent did, so that what
// is under way can come to an end.
func linger(parent context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	timer := time.AfterFunc(time.Hour, cancel)
	timer.Stop()
	unhook := context.AfterFunc(parent, func() { timer.Reset(grace) })
	return ctx, func() {
		unhook()
		timer.Stop()
		cancel()
	}
}

// client is what every call to Slack goes through: bounded in time, and never
// redirected, since slack-go sends the token in the body.
func client(next http.RoundTripper, timeout time.Duration) *http.Client {
	return &http.Client{
		Transport:     stopwatch.Transport(next),
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
