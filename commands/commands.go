package commands

import (
	"context"

	"reconcilebot/commands/card"
	"reconcilebot/runbook"
	"reconcilebot/state"
)

// Config is what the commands need.
type Config struct {
	DB     *state.DB
	Engine *runbook.Engine
	// Directory looks people and channels up.
	Directory directory
	// Team is the workspace whose full members may use the bot.
	Team string
	// People, Groups and Policy say who is who and who may do what.
	People []Person
	Groups map[string][]string
	Policy []Rule
}

// Person is one person under all the names that systems know them by.
type Person struct {
	Name, Slack, GitHub string
	Kubernetes          []string
}

// Rule says who may do what to targets. The first rule that matches a target
// holds. See, Decide and Approve.By name people, "@group" or "everyone".
type Rule struct {
	// Targets are patterns over a target's full name; "*" matches anything.
	Targets     []string
	See, Decide []string
	Approve     Approve
}

// Approve says whose yes is needed, and how many of them.
type Approve struct {
	By    []string
	Count int
}

// Commands answers requests. It is safe for concurrent use.
type Commands struct{ Config }

// New makes the commands.
func New(c Config) (*Commands, error) { return &Commands{c}, nil }

// Check validates a modal before it is acknowledged, by what it holds alone.
// It returns what is wrong by block id; empty means that it may close.
func (c *Commands) Check(Request) map[string]string { return nil }

// Handle answers one request, after it was acknowledged. An error is for the
// one who asked: send fault.Say of it, ephemerally.
func (c *Commands) Handle(context.Context, Request) (Reply, error) { return Reply{}, nil }

// Card draws the one message in the channel that a reconciliation has.
func (c *Commands) Card(context.Context, state.Reconciliation) card.Message { return card.Message{} }

// Notice draws what is said in the thread; false means that nothing is.
func (c *Commands) Notice(_ context.Context, _ state.Reconciliation, _ string) (card.Message, bool) {
	return card.Message{}, false
}
