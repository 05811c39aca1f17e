package commands

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"reconcilebot/commands/access"
	"reconcilebot/commands/card"
	"reconcilebot/runbook"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
	"reconcilebot/state"
)

// Config is what the commands need.
type Config struct {
	DB     *state.DB
	Engine *runbook.Engine
	// Directory looks people and channels up.
	Directory directory
	// Targets lists what each cluster has, by the cluster's name.
	Targets map[string]Lister
	// Team is the workspace whose full members may use the bot; empty lets
	// nobody.
	Team string
	// Access says who is who and who may do what.
	Access *access.Policy
	Links  card.Links
	// Tickets names the ticket systems that take records for an address; nil
	// for none.
	Tickets func(address string) []string
	// Foreign says what keeps a target from being reconciled that no pause of
	// ours is; ours tells whether it has one. Nobody is asked if nil.
	Foreign func(ctx context.Context, t drift.Target, ours bool) ([]string, error)
	// Timeline says who and what touched a target, or one object of it; nil if
	// that can't be asked.
	Timeline func(ctx context.Context, t drift.Target, only string) ([]drift.Touch, error)
	// Log gets what is lost without harm; nothing is logged if nil.
	Log *slog.Logger
	// Now is the clock; time.Now if nil.
	Now func() time.Time
}

// Commands answers requests. It is safe for concurrent use.
type Commands struct {
	Config
	rows    []command
	targets *targets
}

// New makes the commands.
func New(c Config) *Commands {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Commands{Config: c, rows: table(), targets: newTargets(c.Targets)}
}

// Handle answers one request, after it was acknowledged. What a person did
// wrong or may not do is answered too; an error is one of ours, for the log,
// and fault.Say of it for the one who asked.
func (c *Commands) Handle(ctx context.Context, req Request) (Reply, error) {
	reply, err := c.handle(ctx, req)
	kind := fault.Of(err)
	if err == nil || kind == fault.Internal {
		return reply, err
	}
	if kind == fault.Denied {
		err = c.noteDenial(req, err)
	}
	answer := card.Refusal(fault.Say(err, string(req.Delivery.ID)))
	return Reply{Ephemeral: &answer}, nil
}

func (c *Commands) handle(ctx context.Context, req Request) (Reply, error) {
	switch req.Kind {
	case Slash, Mention:
		return c.words(ctx, req)
	case Click:
		return c.click(ctx, req)
	case Submit:
		return c.submit(ctx, req)
	case Shortcut:
		return c.shortcut(ctx, req)
	case Closed:
		return Reply{}, nil
	}
	return Reply{}, fmt.Errorf("handle a request of kind %q: no such kind", req.Kind)
}

// noteDenial writes down who was refused what. The refusal stands even if it
// can't be written.
func (c *Commands) noteDenial(req Request, denial error) error {
	who := state.Person{ID: req.User}
	data := map[string]string{"kind": string(req.Kind), "action": req.Action, "team": req.Team, "channel": string(req.Room), "why": denial.Error()}
	if err := c.DB.Note(entry("denied", who, data)); err != nil {
		c.Log.Error("a denial was not written down", "user", req.User, "err", err)
	}
	return denial
}

// call is a request of which it is known who asks and, where it is about one,
// which target.
type call struct {
	Request
	by asker
	on onTarget
}

// words answers a command.
func (c *Commands) words(ctx context.Context, req Request) (Reply, error) {
	row, what, err := c.understand(req)
	if err != nil {
		return Reply{}, err
	}
	if row.who == access.Anyone {
		return what.run(ctx, c, call{Request: req})
	}
	call := call{Request: req}
	if call.by, err = c.authenticate(ctx, req); err != nil {
		return Reply{}, err
	}
	if name := what.about(); name != "" {
		if call.on, err = c.targets.find(ctx, name, c.sees(ctx, call.by)); err != nil {
			return Reply{}, err
		}
		if err := c.allow(ctx, call.by, row.who, call.on.TargetInfo); err != nil {
			return Reply{}, err
		}
	}
	return what.run(ctx, c, call)
}
