// Package rig puts the lab together: the systems, the people's worlds in them,
// and the bot, started as a user would start it.
//
// It must never give the bot a way that a user's bot does not have: it gets a
// config file, token files and the rights of deploy/base, and is reached through
// Slack alone.
//
// Why a package and not the command itself: tests and benchmarks stand on the
// same rig.
package rig

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"reconcilebot/bot/slacksim"
	"reconcilebot/cmd/lab/pages"
	"reconcilebot/cmd/lab/systems"
	"reconcilebot/cmd/lab/world"
	"reconcilebot/deploy/slack"
	"reconcilebot/runbook/argocd"
)

// Options say what rig to start.
type Options struct {
	Tree     string            // the source tree
	Programs map[string]string // where the built programs are, by name
	Addr     string            // of the page; on loopback
	Worlds   []world.World
	Say      func(string) // told what has been reached; may be nil
	// NoBot leaves the bot to be started by someone else, with its config.
	NoBot bool
	// Revive starts the bot again when it ends by itself. Without it, such an
	// end is the rig's.
	Revive bool
	// Fast shortens the bot's waits between polls, for scenarios.
	Fast bool
}

// A Rig is the running lab.
type Rig struct {
	Page    string // address of the local Slack's page
	GitPage string // address of the Git host
	// ArgoPage is the address of the pages that stand in for Argo CD's own.
	ArgoPage string
	Kube     *systems.Kubernetes
	Argo     *systems.ArgoCD
	Slack    *slacksim.Sim
	Git      *GitHost
	Tickets  Tickets
	Bot      *Bot
	Dir      string // the run folder
	Worlds   []world.World

	ctx     context.Context // ends, with a cause, when a process dies
	keeper  *systems.Keeper
	servers []*http.Server
	serving errgroup.Group
	options Options
	secrets secrets
	begun   time.Time
}

// Start starts everything and returns when the worlds are seeded and the bot
// is connected. The rig ends with Close.
func Start(ctx context.Context, o Options) (_ *Rig, err error) {
	if o.Say == nil {
		o.Say = func(string) {}
	}
	if err := room(os.TempDir(), needed); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "reconcilebot-lab-")
	if err != nil {
		return nil, fmt.Errorf("make a run folder: %w; TMPDIR names another place", err)
	}
	r := &Rig{Dir: dir, Worlds: o.Worlds, options: o, begun: time.Now(), secrets: newSecrets()}
	if err := os.MkdirAll(r.path("logs"), 0o700); err != nil {
		return nil, err
	}
	r.keeper, r.ctx = systems.NewKeeper(ctx, r.path("logs"))
	defer func() {
		if err == nil {
			return
		}
		// What ended the context is the reason; what failed then, its echo.
		if cause := context.Cause(r.ctx); cause != nil && !errors.Is(cause, context.Canceled) {
			err = cause
		}
		err = errors.Join(err, r.Close(true))
	}()
	return r, r.start(r.ctx)
}

func (r *Rig) start(ctx context.Context) error {
	if err := r.hosts(); err != nil {
		return err
	}
	ports, err := systems.Ports(2)
	if err != nil {
		return err
	}
	r.Bot = &Bot{Program: r.options.Programs["reconcilebot"], Config: r.path("bot", "config.yaml"),
		keeper: r.keeper, slack: r.Slack, minded: r.options.Revive,
		listen: fmt.Sprintf("127.0.0.1:%d", ports[0]), audit: fmt.Sprintf("127.0.0.1:%d", ports[1])}
	if err := r.cluster(ctx); err != nil {
		return err
	}
	all, ctx := errgroup.WithContext(ctx)
	seeded := make(chan world.World, len(r.Worlds))
	all.Go(func() error {
		defer close(seeded)
		return r.seed(ctx, seeded)
	})
	all.Go(func() error {
		if err := r.bot(ctx); err != nil || r.options.NoBot {
			return err
		}
		return r.bind(ctx, seeded)
	})
	if err := all.Wait(); err != nil || r.options.NoBot {
		return err
	}
	if r.options.Revive {
		r.serving.Go(func() error { r.Bot.revive(r.ctx, usualPatience, r.options.Say); return nil })
	}
	return nil
}

// hosts starts what runs in this process: the local Slack, the Git host and the
// ticket systems.
func (r *Rig) hosts() (err error) {
	page, err := listen(r.options.Addr)
	if err != nil {
		return err
	}
	if r.Slack, err = slacksim.New(workspace(r.Worlds), slacksim.Options{BotToken: "xoxb-lab-" + systems.Secret(), AppToken: "xapp-lab-" + systems.Secret()}); err != nil {
		return fmt.Errorf("start the local Slack: %w", err)
	}
	r.Page = r.serve(page, r.Slack.Handler())
	git, err := listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	if r.Git, err = newGitHost(r.path("git"), "http://"+git.Addr().String()); err != nil {
		return fmt.Errorf("start the Git host: %w", err)
	}
	r.GitPage = r.serve(git, r.Git.Handler())
	if err := r.openTickets(); err != nil {
		return err
	}
	r.options.Say("local Slack at " + r.Page)
	return nil
}

// workspace is the local Slack's company: the people, a channel for each world.
func workspace(worlds []world.World) slacksim.Seed {
	seed := slacksim.Seed{Team: slacksim.Team{ID: "T0ACME", Name: "Acme", Domain: "acme"}, Manifest: []byte(slack.Manifest())}
	members := []string{"U0APP"}
	seed.App = slacksim.App{ID: "A0RECONCILE", BotID: "B0RECONCILE", UserID: members[0]}
	for _, p := range world.People() {
		seed.Users = append(seed.Users, slacksim.User{
			ID: p.Slack, Name: p.Name, RealName: p.FullName, Role: p.Role, Email: p.Name + "@example.com", Guest: p.Guest,
		})
		members = append(members, p.Slack)
	}
	for _, w := range worlds {
		seed.Channels = append(seed.Channels, slacksim.Channel{ID: w.ChannelID, Name: w.Channel, Topic: w.Incident + ": " + w.App, Members: members})
	}
	return seed
}

// cluster starts Kubernetes and Argo CD and makes the bot's credentials.
func (r *Rig) cluster(ctx context.Context) (err error) {
	var people []systems.Person
	for _, p := range world.People() {
		if p.Kubernetes != "" {
			people = append(people, systems.Person{Name: p.Name, User: p.Kubernetes, Groups: []string{p.Group}})
		}
	}
	r.Kube, err = systems.StartKubernetes(ctx, r.keeper, systems.KubernetesConfig{
		Dir: r.path("kubernetes"), Kubernetes: r.options.Programs["kubernetes"], Kwok: r.options.Programs["kwok"],
		People: people, Audit: systems.Audit{URL: "https://" + r.Bot.audit, Token: r.secrets.audit},
	})
	if err != nil {
		return err
	}
	r.options.Say("Kubernetes is up")
	definitions, err := crds(ctx, r.options.Tree)
	if err != nil {
		return err
	}
	r.Argo, err = systems.StartArgoCD(ctx, r.keeper, systems.ArgoCDConfig{
		Dir: r.path("argocd"), Program: r.options.Programs["argocd"], CRDs: definitions, Kube: r.Kube,
		Tools: []string{r.options.Programs["kustomize"], r.options.Programs["helm"]},
	})
	if err != nil {
		return err
	}
	r.options.Say("Argo CD is up")
	return r.argoPages(ctx)
}

// argoPages serves the pages that stand in for Argo CD's and for an audit log's,
// from what an account sees that may only read.
func (r *Rig) argoPages(ctx context.Context) error {
	token, err := r.Argo.Token(ctx, systems.ViewerAccount)
	if err != nil {
		return err
	}
	client, err := argocd.New(argocd.Config{Server: r.Argo.URL, Token: func() (string, error) { return token, nil }})
	if err != nil {
		return err
	}
	l, err := listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	r.ArgoPage = r.serve(l, pages.New(client, r.Kube.AuditLog()))
	return nil
}

// seed brings every world's application about, and tells of each that is.
func (r *Rig) seed(ctx context.Context, seeded chan<- world.World) error {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(4)
	for _, w := range r.Worlds {
		all.Go(func() error {
			if err := world.Seed(ctx, w, r.Git, r.Kube); err != nil {
				return err
			}
			r.options.Say(fmt.Sprintf("%s is Synced and Healthy", w.App))
			seeded <- w
			return nil
		})
	}
	return all.Wait()
}

// bind ties the channel of every seeded world to its incident, as an engineer
// does. Slack limits how fast the bot may look at channels, so it goes on
// beside the seeding.
func (r *Rig) bind(ctx context.Context, seeded <-chan world.World) error {
	all, ctx := errgroup.WithContext(ctx)
	for range 5 {
		all.Go(func() error {
			for w := range seeded {
				if err := r.bindOne(ctx, w); err != nil {
					return fmt.Errorf("bind #%s to %s: %w", w.Channel, w.Incident, err)
				}
			}
			return nil
		})
	}
	return all.Wait()
}

func (r *Rig) bindOne(ctx context.Context, w world.World) error {
	// A person's incident has a ticket; a scenario's names its own, if any.
	words := "/reconcile incident " + w.Incident
	if !r.options.Fast {
		words += " " + r.TicketAddress(w)
	}
	if _, err := r.Slack.As(world.OnCall).In(w.Channel).Slash(ctx, words); err != nil {
		return err
	}
	// Acknowledged is not yet done.
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("the bot did not do it within a minute"))
	defer cancel()
	return r.Slack.Wait(ctx, "the channel to be bound", func() bool {
		return slices.ContainsFunc(r.Slack.Messages(w.Channel), func(m slacksim.Message) bool {
			return strings.Contains(m.PlainText()+m.Text, w.Incident)
		})
	})
}

// Source is the source tree that the rig was started from.
func (r *Rig) Source() string { return r.options.Tree }

// Done ends when a process has died; Why then says which.
func (r *Rig) Done() <-chan struct{} { return r.ctx.Done() }

// Why is the reason that the rig is done.
func (r *Rig) Why() error { return context.Cause(r.ctx) }

// Kept is what Close returns when it leaves the logs: the folder they are in.
type Kept string

func (k Kept) Error() string { return "the logs are in " + string(k) }

// Close ends every process. The run folder is removed, unless keep says that
// its logs are of use; then the error is Kept.
func (r *Rig) Close(keep bool) error {
	r.keeper.Close()
	if r.Slack != nil {
		r.Slack.Close()
	}
	if r.Argo != nil {
		r.Argo.Close()
	}
	for _, s := range r.servers {
		_ = s.Close() // only its connections; nobody waits for an answer any more
	}
	_ = r.serving.Wait()
	if logs, _ := os.ReadDir(r.path("logs")); keep && len(logs) > 0 {
		return Kept(r.path("logs"))
	}
	return os.RemoveAll(r.Dir)
}

func (r *Rig) serve(l net.Listener, h http.Handler) (url string) {
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	r.servers = append(r.servers, s)
	r.serving.Go(func() error { return s.Serve(l) })
	return "http://" + l.Addr().String()
}

// Free tells whether the page can have an address: what is said is what Start
// would say.
func Free(addr string) error {
	l, err := listen(addr)
	if err != nil {
		return err
	}
	return l.Close()
}

// listen takes an address of the loopback interface.
func listen(addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: write it like 127.0.0.1:7411", addr)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("listen on %s: the lab listens on loopback only, write it like 127.0.0.1:%s", addr, port)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w; another lab may be running: end it, or choose another port with -addr 127.0.0.1:PORT", addr, err)
	}
	return l, nil
}

func (r *Rig) path(names ...string) string {
	return filepath.Join(append([]string{r.Dir}, names...)...)
}
