package slacksim

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// Sim is one workspace with one app installed. It is safe for concurrent use.
type Sim struct {
	opts     Options
	clock    Clock
	log      *slog.Logger
	team     Team
	app      App
	manifest *manifest
	started  time.Time
	bg       sync.WaitGroup // deliveries and pings that Close waits for
	quit     chan struct{}  // closed by Close

	mu        sync.Mutex // guards all below
	rng       *rand.Rand
	seq       map[string]int
	lastTS    int64
	issued    map[string]bool // every ts ever given out
	users     map[string]*User
	people    []string // user ids in seed order
	channels  map[string]*channel
	rooms     []string // channel ids in seed order
	groups    []*Group
	modals    map[string][]*View // by user, the topmost last
	homes     map[string]*View
	triggers  map[string]*trigger
	hooks     map[string]*hook
	uploads   map[string]*upload
	files     map[string]*File
	fileIDs   []string
	scheduled []*scheduled
	tickets   map[string]ticket
	sockets   []*socket
	turn      int // of round-robin routing
	pending   map[string]*delivery
	offers    map[string][]any          // options that external selects were given
	chosen    map[string]map[string]obj // in messages, by person and ts
	limits    limiter
	faults    []*Rule
	revoked   map[string]bool // tokens
	linkOff   bool            // Socket Mode switched off
	storm     int             // sockets that are to end as soon as they are greeted
	inactive  bool            // the app was taken out of the workspace
	mumbled   bool            // the transcript could not be written
	findings  []Finding
	found     map[string]bool
	calls     []Call
	traffic   []*Envelope
	stats     Metrics
	host      string // of the last apps.connections.open, for URLs in payloads
	version   int64
	changed   chan struct{}
	closed    bool
}

// New makes a workspace from a seed.
func New(seed Seed, opts Options) (*Sim, error) {
	seed.fill()
	opts.fill()
	if err := seed.check(); err != nil {
		return nil, err
	}
	m, err := parseManifest(seed.Manifest)
	if err != nil {
		return nil, err
	}
	if seed.App.Name == "" {
		seed.App.Name = m.botName()
	}
	s := &Sim{
		opts: opts, clock: opts.Clock, log: opts.Log, team: seed.Team, app: seed.App, manifest: m,
		started: opts.Clock.Now(),
		rng:     rand.New(rand.NewPCG(uint64(opts.Seed), 1)),
		seq:     map[string]int{}, issued: map[string]bool{},
		users: map[string]*User{}, channels: map[string]*channel{},
		modals: map[string][]*View{}, homes: map[string]*View{},
		triggers: map[string]*trigger{}, hooks: map[string]*hook{},
		uploads: map[string]*upload{}, files: map[string]*File{}, tickets: map[string]ticket{},
		pending: map[string]*delivery{}, offers: map[string][]any{}, chosen: map[string]map[string]obj{}, limits: limiter{}, revoked: map[string]bool{},
		found: map[string]bool{}, changed: make(chan struct{}), quit: make(chan struct{}),
	}
	s.addUser(User{
		ID: seed.App.UserID, Name: s.app.Name, RealName: s.app.Name,
		TeamID: seed.Team.ID, Bot: true, Role: "app",
	})
	for _, u := range seed.Users {
		s.addUser(u)
	}
	for _, c := range seed.Channels {
		s.addChannel(c)
	}
	for _, g := range seed.Groups {
		s.groups = append(s.groups, &g)
	}
	return s, nil
}

// BotToken is the token of the Web API.
func (s *Sim) BotToken() string { return s.opts.BotToken }

// AppToken is the token that opens sockets.
func (s *Sim) AppToken() string { return s.opts.AppToken }

// Team is the workspace.
func (s *Sim) Team() Team { return s.team }

// App is the installed app, with its ids filled in.
func (s *Sim) App() App { return s.app }

// Close ends every socket and waits for what runs in the background.
func (s *Sim) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	close(s.quit)
	sockets := slices.Clone(s.sockets)
	s.bump()
	s.mu.Unlock()
	for _, c := range sockets {
		c.close(1001, "going away")
	}
	s.bg.Wait()
}

// background runs f until Close has waited for it. The lock is held.
func (s *Sim) background(f func()) {
	if s.closed {
		return
	}
	s.bg.Go(f)
}

// bump tells everyone who waits that the state is another. The lock is held.
func (s *Sim) bump() {
	s.version++
	close(s.changed)
	s.changed = make(chan struct{})
}

// tell is bump for those who do not hold the lock.
func (s *Sim) tell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bump()
}

// Wait returns when cond holds. It looks again at every change of the
// workspace and never sleeps; what names the condition in the error.
func (s *Sim) Wait(ctx context.Context, what string, cond func() bool) error {
	for {
		s.mu.Lock()
		changed, closed := s.changed, s.closed
		s.mu.Unlock()
		if cond() {
			return nil
		}
		if closed {
			return fmt.Errorf("wait for %s: the workspace was closed", what)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, context.Cause(ctx))
		}
	}
}

// id makes the next id of a kind: prefix and a number that grows.
func (s *Sim) id(prefix string) string {
	s.seq[prefix]++
	return fmt.Sprintf("%s0S%06X", prefix, s.seq[prefix])
}

// uuid makes envelope ids in the form Slack uses, from the seeded numbers.
func (s *Sim) uuid() string {
	a, b := s.rng.Uint64(), s.rng.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>48&0xfff, b&0xffffffffffff)
}

func (s *Sim) secret(n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	var b strings.Builder
	for range n {
		b.WriteByte(letters[s.rng.IntN(len(letters))])
	}
	return b.String()
}

// ts gives out the next message timestamp; they never repeat.
func (s *Sim) ts() string {
	now := max(s.clock.Now().UnixMicro(), s.lastTS+1)
	s.lastTS = now
	ts := fmt.Sprintf("%d.%06d", now/1e6, now%1e6)
	s.issued[ts] = true
	return ts
}

// stamp is the present time in the form of a ts. It names no message.
func (s *Sim) stamp() string {
	now := s.clock.Now()
	return fmt.Sprintf("%d.%06d", now.Unix(), now.Nanosecond()/1000)
}
