package bot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"reconcilebot/bot/slacksim"
	"reconcilebot/commands"
	"reconcilebot/commands/card"
	"reconcilebot/runbook/fault"
	"reconcilebot/state"
)

// answerer is a small app that keeps its records in the real store, as
// commands does.
type answerer struct {
	db *state.DB

	mu   sync.Mutex
	seen []commands.Request
	hold chan struct{} // when not nil, Handle waits for it
}

func (a *answerer) Check(r commands.Request) map[string]string {
	if len(strings.TrimSpace(r.View.Values["reason"])) < 3 {
		return map[string]string{"reason": "Say more."}
	}
	return nil
}

func (a *answerer) Handle(ctx context.Context, r commands.Request) (commands.Reply, error) {
	a.mu.Lock()
	a.seen = append(a.seen, r)
	hold := a.hold
	a.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return commands.Reply{}, ctx.Err()
		}
	}
	verb, rest, _ := strings.Cut(r.Text, " ")
	switch r.Kind {
	case commands.Click:
		return a.click(r)
	case commands.Submit:
		_, err := a.db.Change(state.ReconciliationID(r.View.Metadata), func(rec *state.Reconciliation, now time.Time) ([]state.Said, error) {
			if rec.Decision.Delivery == r.Delivery.ID {
				return nil, nil
			}
			rec.Decision = state.Decision{By: state.Person{ID: r.User}, Reason: r.View.Values["reason"], At: now, Delivery: r.Delivery.ID}
			return []state.Said{{Notice: "decided"}}, nil
		})
		return commands.Reply{}, err
	case commands.Shortcut, commands.Closed:
		return commands.Reply{}, nil
	}
	switch verb {
	case "drift":
		_, _, err := a.db.Open(state.Reconciliation{
			ID: state.ReconciliationID("r-" + r.Delivery.Mint), Room: r.Room, Target: rest, OpenedBy: state.Person{ID: r.User},
		})
		return commands.Reply{}, err
	case "help":
		return commands.Reply{Ephemeral: &card.Message{Text: "help for " + r.User}}, nil
	case "status":
		return commands.Reply{Public: &card.Message{Text: "status of everything"}}, nil
	case "panic":
		panic("on purpose")
	case "denied":
		return commands.Reply{}, fault.New(fault.Denied, "You may not. <!channel> & co. can.")
	case "broken":
		return commands.Reply{}, errors.New("secret internals")
	}
	return commands.Reply{}, nil
}

func (a *answerer) click(r commands.Request) (commands.Reply, error) {
	switch r.Action {
	case card.ActionAdopt:
		return commands.Reply{Modal: reasonModal(r.Value)}, nil
	case card.ActionApprove:
		_, err := a.db.Change(state.ReconciliationID(r.Value), func(rec *state.Reconciliation, _ time.Time) ([]state.Said, error) {
			if len(rec.Votes) > 0 {
				return nil, fault.New(fault.Conflict, "You voted already.")
			}
			rec.Votes = append(rec.Votes, state.Vote{Yes: true})
			return []state.Said{{Notice: "approved"}, {Notice: "silent"}, {Notice: "closed"}}, nil
		})
		return commands.Reply{}, err
	}
	return commands.Reply{}, nil
}

func reasonModal(id string) *slack.ModalViewRequest {
	plain := func(s string) *slack.TextBlockObject { return slack.NewTextBlockObject("plain_text", s, false, false) }
	in := slack.NewInputBlock("reason", plain("Why was Git bypassed?"), nil, slack.NewPlainTextInputBlockElement(nil, "text"))
	return &slack.ModalViewRequest{
		Type: slack.VTModal, Title: plain("Adopt"), Submit: plain("Adopt"), CallbackID: card.CallbackReason,
		PrivateMetadata: id, Blocks: slack.Blocks{BlockSet: []slack.Block{in}},
	}
}

func (a *answerer) Card(_ context.Context, r state.Reconciliation) card.Message {
	words := fmt.Sprintf("%s at revision %d", r.Target, r.Rev)
	button := func(action, text string) slack.BlockElement {
		return slack.NewButtonBlockElement(action, string(r.ID), slack.NewTextBlockObject("plain_text", text, false, false))
	}
	blocks := []slack.Block{slack.NewSectionBlock(slack.NewTextBlockObject("mrkdwn", words, false, false), nil, nil)}
	if strings.HasPrefix(r.Target, "too-long") {
		blocks = append(blocks, slack.NewSectionBlock(slack.NewTextBlockObject("mrkdwn", strings.Repeat("x", 4000), false, false), nil, nil))
	}
	blocks = append(blocks, slack.NewActionBlock("b"+fmt.Sprint(r.Rev), button(card.ActionAdopt, "Adopt"), button(card.ActionApprove, "Approve")))
	return card.Message{Text: words, Blocks: blocks}
}

func (a *answerer) Notice(_ context.Context, _ state.Reconciliation, kind string) (card.Message, bool) {
	return card.Message{Text: "notice: " + kind}, kind != "silent"
}

func (a *answerer) requests() []commands.Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]commands.Request(nil), a.seen...)
}

// rig is a bot, its store and a local Slack.
type rig struct {
	t    *testing.T
	sim  *slacksim.Sim
	api  string
	path string
	// tune changes a bot before it runs.
	tune      func(*Bot)
	configure func(*Config)
	hasty     bool // Slack's limits are off, and the bot does not keep them
	transport func(http.RoundTripper) http.RoundTripper
	app       *answerer
	log       *journal

	db   *state.DB
	bot  *Bot
	stop func()
}

// journal is the bot's log, in which no secret may stand.
type journal struct {
	t *testing.T

	mu  sync.Mutex
	all strings.Builder
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	j.all.Write(p)
	j.mu.Unlock()
	return j.t.Output().Write(p)
}

func (j *journal) text() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.all.String()
}

func (j *journal) check() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, secret := range []string{"canary", "ticket=", "/hooks/", "70000000"} {
		if strings.Contains(j.all.String(), secret) {
			j.t.Errorf("the log holds %q", secret)
		}
	}
}

func newRig(t *testing.T, opts slacksim.Options) *rig {
	t.Helper()
	manifest, err := os.ReadFile("../deploy/slack/manifest.yaml")
	if err != nil {
		t.Fatal(err)
	}
	seed := slacksim.Seed{
		Team: slacksim.Team{ID: "T0HOME"}, Manifest: manifest,
		Users: []slacksim.User{
			{ID: "U0ALICE", Name: "alice"}, {ID: "U0BOB", Name: "bob"}, {ID: "U0GWEN", Name: "gwen", Guest: true},
			{ID: "U0EVE", Name: "eve", TeamID: "T0EXT", Stranger: true}, {ID: "U0OTHER", Name: "otherbot", Bot: true},
		},
		Channels: []slacksim.Channel{
			{ID: "C0INC", Name: "inc-1234", Members: []string{"U0ALICE", "U0BOB", "U0GWEN", "U0EVE", "U0APP"}},
			{ID: "C0TWO", Name: "two", Members: []string{"U0ALICE", "U0BOB", "U0APP"}},
			{ID: "C0OUT", Name: "outside", Members: []string{"U0ALICE", "U0BOB"}},
			{ID: "C0PRIV", Name: "private", Private: true, Members: []string{"U0ALICE"}},
			{ID: "C0ARCH", Name: "archived", Members: []string{"U0ALICE", "U0APP"}},
		},
	}
	if opts.BotToken == "" {
		opts.BotToken, opts.AppToken = "xoxb-canary-1", "xapp-canary-2"
	}
	opts.Canaries = []string{"xoxb-canary-1", "xapp-canary-2"}
	sim, err := slacksim.New(seed, opts)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- sim.Serve(ctx, l) }()
	r := &rig{t: t, hasty: opts.Limits == slacksim.LimitsOff, sim: sim, api: "http://" + l.Addr().String() + "/api/", path: filepath.Join(t.TempDir(), "state.db"), log: &journal{t: t}}
	t.Cleanup(func() {
		r.halt()
		cancel()
		r.log.check()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return r
}

// start runs the bot on the store as it is, and waits until it is ready.
func (r *rig) start() {
	r.t.Helper()
	r.launch()
	r.wait("the bot's sockets", func() bool {
		return len(r.sim.Connections()) >= 2 && r.bot.health.sockets() >= 2
	})
}

func (r *rig) open() {
	r.t.Helper()
	var err error
	if r.db, err = state.Open(r.path, time.Now); err != nil {
		r.t.Fatal(err)
	}
	r.app = &answerer{db: r.db}
}

func (r *rig) launch() {
	r.t.Helper()
	if r.db == nil {
		r.open()
	}
	var transport http.RoundTripper = http.DefaultTransport.(*http.Transport).Clone()
	if r.transport != nil {
		transport = r.transport(transport)
	}
	api, err := NewSlack(SlackConfig{API: r.api, BotToken: give(r.sim.BotToken()), AppToken: give(r.sim.AppToken()), Transport: transport, Timeout: 5 * time.Second})
	if err != nil {
		r.t.Fatal(err)
	}
	cfg := Config{
		App: r.app, DB: r.db, Slack: api, Directory: NewDirectory(api, nil), Team: "T0HOME", Log: slog.New(slog.NewTextHandler(r.log, nil)),
		Grace: 2 * time.Second,
	}
	if r.configure != nil {
		r.configure(&cfg)
	}
	b, err := New(cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	if r.hasty {
		b.outbox.pace = 10 * time.Millisecond
	}
	b.outbox.retry.Least = 20 * time.Millisecond
	b.outbox.post.gates.pause.Least = 20 * time.Millisecond
	if r.tune != nil {
		r.tune(b)
	}
	r.bot = b
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			r.t.Errorf("the bot ended with %v", err)
		}
	})
}

func give(token string) func() (string, error) {
	return func() (string, error) { return token, nil }
}

// halt stops the bot in an orderly way and closes its store.
func (r *rig) halt() {
	if r.stop != nil {
		r.stop()
		r.stop = nil
	}
	if r.db != nil {
		if err := r.db.Close(); err != nil {
			r.t.Error(err)
		}
		r.db = nil
	}
}

func (r *rig) wait(what string, cond func() bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 20*time.Second)
	defer cancel()
	// What the bot does within itself changes nothing in the workspace, so
	// the workspace's own hints are not enough.
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			r.t.Fatalf("waited in vain for %s", what)
		}
	}
}

func (r *rig) slash(user, channel, text string) *slacksim.Invocation {
	r.t.Helper()
	inv, err := r.sim.As(user).In(channel).Slash(r.t.Context(), "/reconcile "+text)
	if err != nil {
		r.t.Fatalf("/reconcile %s: %v", text, err)
	}
	return inv
}

// card waits for the only card in a channel.
func (r *rig) card(channel, contains string) slacksim.Message {
	r.t.Helper()
	var m slacksim.Message
	r.wait("a card with "+contains, func() bool {
		list := r.sim.Messages(channel)
		if len(list) == 0 {
			return false
		}
		m = list[len(list)-1]
		return strings.Contains(m.PlainText(), contains)
	})
	return m
}

// settled waits until nothing is left to handle or to say.
func (r *rig) settled() {
	r.t.Helper()
	r.wait("everything to be handled and said", func() bool {
		u, err1 := r.db.Unhandled()
		n, err2 := r.db.Notices()
		d, err3 := r.db.Redraws()
		return errors.Join(err1, err2, err3) == nil && len(u)+len(n)+len(d) == 0
	})
}

func (r *rig) noFindings() {
	r.t.Helper()
	r.sim.ExpectNoFindings(r.t)
}

func threadTexts(list []slacksim.Message) (out []string) {
	for _, m := range list {
		if m.ThreadTS != "" && m.ThreadTS != m.TS {
			out = append(out, m.Text)
		}
	}
	return out
}
