package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"reconcilebot/commands/access"
	"reconcilebot/commands/card"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/fault"
	"reconcilebot/runbook/spell"
)

// command is one row of the table.
type command struct {
	name string
	// usage is the words after the slash command, summary one line on them.
	usage, summary string
	// who is the right it takes.
	who      access.Right
	examples []string
	// parse makes a typed request of the words after the name, or says what
	// is wrong with them; it does nothing else.
	parse func(words) (act, error)
}

// act is a typed request.
type act interface {
	// about names the one target that it is about; "" if there is none.
	about() string
	run(context.Context, *Commands, call) (Reply, error)
}

// table is all commands, in the order of help.
func table() []command {
	return []command{
		{
			name: "drift", usage: "drift [TARGET|all]", who: access.See,
			summary:  "Show what differs from Git, who did it and what happens next, with buttons to adopt or revert",
			examples: []string{"drift payments-web", "drift production-eu/payments-web", "drift all"},
			parse:    parseDrift,
		},
		{
			name: "adopt", usage: "adopt TARGET [KIND/NAME] [FIELD …] because …", who: access.Decide,
			summary:  "Take the changes made by hand into Git, by an approved and proven pull request",
			examples: []string{"adopt payments-web because the checkout queue was backing up", "adopt payments-web deployment/web spec.replicas because only the replicas are needed"},
			parse:    parseDecision(book.Adopt),
		},
		{
			name: "revert", usage: "revert TARGET [KIND/NAME] [FIELD …] because …", who: access.Decide,
			summary:  "Put the cluster back to what Git says, after an approval",
			examples: []string{"revert payments-web because the spike is over"},
			parse:    parseDecision(book.Revert),
		},
		{
			name: "change", usage: changeUsage, who: access.Decide,
			summary:  "Make an emergency change through Git: a proven edit, an expedited pull request, merged and synced",
			examples: []string{changeExample, "change payments-web deploy/web spec.template.spec.containers[name=web].image=acme/web:1.4.3 because 1.4.2 leaks"},
			parse:    parseChange,
		},
		{
			name: "override", usage: "override TARGET because …", who: access.Override,
			summary:  "In an emergency, carry a plan out without the approval that is asked for; the channel is told, and somebody else reviews it afterwards",
			examples: []string{overrideExample},
			parse:    parseOverride,
		},
		{
			name: "rollback", usage: undoUsage, who: access.Decide,
			summary:  "Undo a merged commit through Git: its inverse as a proven edit, an expedited pull request, merged and synced",
			examples: []string{undoExample, "rollback payments-web 9ab04f1 because the limit is too low"},
			parse:    parseRollback,
		},
		{
			name: "pause", usage: pauseUsage, who: access.Pause,
			summary:  "Keep Argo CD from reconciling a target for a while; says first whether that will hold, and puts back exactly what was there",
			examples: []string{pauseExample, "pause payments-web 1h30m with parents because apps-prod would undo it"},
			parse:    parsePause,
		},
		{
			name: "extend", usage: "extend TARGET 30m [because …]", who: access.Pause,
			summary:  "Move the end of a pause",
			examples: []string{"extend payments-web 30m", "extend payments-web 1h because the queue is not empty yet"},
			parse:    parseExtend,
		},
		{
			name: "resume", usage: "resume TARGET [because …]", who: access.Pause,
			summary:  "End a pause; if that would undo a change, somebody else is asked first",
			examples: []string{"resume payments-web", "resume payments-web because the queue is empty"},
			parse:    parseResume,
		},
		{
			name: "status", usage: "status [TARGET]", who: access.See,
			summary:  "Show the incident's board, or how one target stands",
			examples: []string{"status", "status payments-web"},
			parse:    parseStatus,
		},
		{
			name: "who", usage: "who TARGET [OBJECT]", who: access.See,
			summary:  "Show who and what touched a target or one object of it, and how that is known",
			examples: []string{"who payments-web", "who payments-web deployment/payments-web"},
			parse:    parseWho,
		},
		{
			name: "orphans", usage: "orphans TARGET | all CLUSTER", who: access.See,
			summary:  "Show what is in the cluster and in no Git, who made it and how much it matters, and what pruning would delete",
			examples: []string{"orphans payments-web", "orphans all production-eu"},
			parse:    parseOrphans,
		},
		{
			name: "incident", usage: "incident [INC-1234 [TICKET-URL …] | close]", who: access.Full,
			summary:  "Bind this channel to an incident, say which one it is bound to, or end it",
			examples: []string{"incident INC-1234", "incident INC-1234 https://tickets.example.com/OPS-991", "incident", "incident close"},
			parse:    parseIncident,
		},
		{
			name: "summary", usage: "summary", who: access.Full,
			summary:  "Show the records of this incident so far",
			examples: []string{"summary"},
			parse:    parseSummary,
		},
		{
			name: "help", usage: "help [COMMAND]", who: access.Anyone,
			summary:  "Show what can be done, and how",
			examples: []string{"help", "help drift"},
			parse:    parseHelp,
		},
	}
}

// parse finds the row that a text means, and the typed request. A target that
// is given is put where commands have theirs, before all other words.
func parse(rows []command, text, target string) (command, act, error) {
	w, err := split(text)
	if err != nil {
		return command{}, nil, err
	}
	if len(w.list) == 0 {
		w.list = []string{"help"}
	}
	verb := strings.ToLower(strings.TrimPrefix(w.list[0], "/"))
	i := slices.IndexFunc(rows, func(r command) bool { return r.name == verb })
	if i < 0 {
		return command{}, nil, fault.New(fault.Invalid, fmt.Sprintf("There is no command %q.%s /reconcile help lists them all.", w.list[0], meant(verb, rows)))
	}
	w.list = w.list[1:]
	if target != "" {
		w.list = append([]string{target}, w.list...)
	}
	what, err := rows[i].parse(w)
	return rows[i], what, err
}

func meant(verb string, rows []command) string {
	known := make([]string, len(rows))
	for i, r := range rows {
		known[i] = r.name
	}
	if near := spell.Nearest(verb, known); near != "" {
		return " Did you mean " + near + "?"
	}
	return ""
}

// asked is help wanted: on everything, or on one command.
type asked struct{ command string }

func parseHelp(w words) (act, error) {
	if len(w.list) > 1 {
		return nil, usage("help [COMMAND]", "help drift")
	}
	return asked{strings.ToLower(strings.Join(w.list, ""))}, nil
}

func (asked) about() string { return "" }

func (a asked) run(_ context.Context, c *Commands, _ call) (Reply, error) {
	if a.command == "" {
		all := make([]card.Usage, len(c.rows))
		for i, r := range c.rows {
			all[i] = r.help()
		}
		m := card.Help(all)
		return Reply{Ephemeral: &m}, nil
	}
	for _, r := range c.rows {
		if r.name == a.command {
			m := card.HelpOn(r.help())
			return Reply{Ephemeral: &m}, nil
		}
	}
	return Reply{}, fault.New(fault.Invalid, fmt.Sprintf("There is no command %q.%s /reconcile help lists them all.", a.command, meant(a.command, c.rows)))
}

func (r command) help() card.Usage {
	return card.Usage{Words: r.usage, Summary: r.summary, Who: r.who.Words(), Examples: r.examples}
}

// usage refuses words that do not fit, with an example.
func usage(usage, example string) error {
	return fault.New(fault.Invalid, "The words don't fit. The command is /reconcile "+usage+", for example: /reconcile "+example)
}
