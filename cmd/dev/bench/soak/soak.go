package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"reconcilebot/bot/slacksim"
)

// Config says how much is played.
type Config struct {
	// Root is the module's folder, for the app's manifest.
	Root string
	// Envelopes is how many Slack sends, at least.
	Envelopes, People, Channels int
	// Kills is how often the bot's process is killed.
	Kills int
	// Think is how long people think between two acts, on average.
	Think time.Duration
	// Seed makes people and mishaps the same again, as far as the machine
	// plays along.
	Seed uint64
	// Command starts the bot's process, which calls Bot.
	Command []string
	// Folder holds the state file and the bot's log.
	Folder string
	// Profile is a file for what the bot's process spends its time on; empty
	// for none.
	Profile string
	// Out gets a line now and then; nil says nothing.
	Out io.Writer
}

// settling is how long the bot may take to say what is left to be said, after
// people and mishaps have stopped.
const settling = 5 * time.Minute

// deaf is after how long a process that says nothing is taken for dead.
const deaf = 30 * time.Second

// stage is what a soak is made of.
type stage struct {
	c      Config
	sim    *slacksim.Sim
	bot    *process
	log    *os.File
	people *people
	times  *timekeeper
	served chan error
	close  context.CancelFunc
}

// Run plays and judges. The error says that it could not be played; what was
// found is in the report.
func Run(ctx context.Context, c Config) (r Report, err error) {
	s, err := open(ctx, c)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.shut()) }()
	if err := s.begin(ctx); err != nil {
		return r, err
	}
	began := time.Now()
	r.Kills, err = s.play(ctx)
	r.Played = time.Since(began)
	if err != nil {
		return r, err
	}
	s.sim.ClearFaults()
	r.Settled, err = s.settle(ctx)
	if err != nil {
		return r, err
	}
	if err := s.bot.stop(); err != nil {
		r.fault("%v", err)
	}
	s.times.fill(&r)
	return r, s.judge(&r)
}

// open builds the workspace and starts the bot.
func open(ctx context.Context, c Config) (*stage, error) {
	sim, err := workspace(c)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open the local Slack: %w", err)
	}
	log, err := os.Create(filepath.Join(c.Folder, "bot.log"))
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	s := &stage{c: c, sim: sim, log: log, people: newPeople(c, sim), served: make(chan error, 1), close: stop}
	go func() { s.served <- sim.Serve(serving, l) }()
	s.bot = &process{command: c.Command, log: log, setting: Setting{
		API: "http://" + l.Addr().String() + "/api/", State: filepath.Join(c.Folder, "state.db"), People: c.People, Targets: c.Envelopes/4 + 100, Profile: c.Profile,
	}}
	s.times = newTimekeeper(sim, s.bot)
	if err := s.bot.start(ctx); err != nil {
		return nil, errors.Join(err, s.shut())
	}
	return s, nil
}

func (s *stage) shut() error {
	s.close()
	return errors.Join(<-s.served, s.log.Close())
}

// begin waits for the bot and binds every channel to an incident.
func (s *stage) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Minute, errors.New("the bot does not begin to work; its log says why"))
	defer cancel()
	for i := range s.c.Channels {
		if err := s.sim.Wait(ctx, "the bot's sockets", func() bool { return len(s.sim.Connections()) >= 2 }); err != nil {
			return err
		}
		there := inChannel(i, s.c.Channels, s.c.People)
		who := there[slices.IndexFunc(there, mayDecide)] // one of the first three
		_, err := s.sim.As(personID(who)).In(channelID(i)).Slash(ctx, fmt.Sprintf("/reconcile incident INC-%d", 1000+i))
		if err != nil {
			return fmt.Errorf("bind the channels: %w", err)
		}
	}
	for i := range s.c.Channels {
		if err := s.sim.Wait(ctx, "the incident to be opened in #"+channelName(i), func() bool { return len(s.sim.Messages(channelID(i))) > 0 }); err != nil {
			return err
		}
	}
	return nil
}

// play lets people and mishaps loose until enough went out.
func (s *stage) play(ctx context.Context) (kills int, err error) {
	for _, m := range mishaps() {
		s.sim.Fault(m)
	}
	over, end := context.WithCancel(ctx)
	defer end()
	var beside sync.WaitGroup
	beside.Go(func() { chaos(over, rand.New(rand.NewPCG(s.c.Seed, 1<<32)), s.sim) })
	beside.Go(func() { s.times.keep(over) })
	if s.c.Out != nil {
		beside.Go(func() { s.narrate(over) })
	}
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		kills, err = executioner(over, ctx, rand.New(rand.NewPCG(s.c.Seed, 1<<33)), s.c, s.sim, s.bot)
	}()
	enough := func() bool { return ctx.Err() != nil || s.sim.Metrics().Envelopes >= s.c.Envelopes }
	var crowd sync.WaitGroup
	for i := range s.c.People {
		crowd.Go(func() { s.people.live(ctx, i, enough) })
	}
	crowd.Wait()
	<-killed // all moments lie before the end
	end()
	beside.Wait()
	return kills, errors.Join(err, ctx.Err())
}

// narrate says how far it is.
func (s *stage) narrate(ctx context.Context) {
	for pause(ctx, 10*time.Second) {
		now, _ := s.bot.now()
		m := s.sim.Metrics()
		_, _ = fmt.Fprintf(s.c.Out, "  %d envelopes, %d acknowledged, %d lost on the way; the bot has %d to handle, %d cards and %d notices to show\n",
			m.Envelopes, m.Acked, m.Lost, now.Unhandled, now.Redraws, now.Notices)
	}
}

// settle waits until the bot has nothing left to do, and says how long it took.
func (s *stage) settle(ctx context.Context) (took time.Duration, err error) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, settling)
	defer cancel()
	// Twice in a row, since what is said may bring more to be said; and not
	// before what Slack sends again has come.
	for calm := 0; calm < 4; {
		if !pause(ctx, 2*tellEvery) {
			now, age := s.bot.now()
			return 0, fmt.Errorf("the bot does not come to rest: %+v, said %s ago", now, age.Round(time.Millisecond))
		}
		now, age := s.bot.now()
		if age > deaf {
			return 0, fmt.Errorf("the bot's process said nothing for %s; its log may say why", age.Round(time.Second))
		}
		if now.quiet() && age < 4*tellEvery && !s.underWay() {
			calm++
		} else {
			calm = 0
		}
	}
	for i := range s.c.People {
		s.people.tidy(ctx, i)
	}
	return time.Since(began), nil
}

// underWay tells whether Slack still waits for an acknowledgement, or will
// send an event again.
func (s *stage) underWay() bool {
	for _, e := range s.sim.Envelopes() {
		if e.State == "sent" {
			return true
		}
	}
	return false
}
