package doctor

import (
	"context"
	"errors"

	"reconcilebot/runbook/ticket"
)

// ticketSystem is the part of a ticket system that is asked.
type ticketSystem interface {
	Name() string
	Whoami(context.Context) (ticket.Account, error)
}

// Tickets is one ticket system that keeps records.
type Tickets struct{ System ticketSystem }

// Checks lists what to look at.
func (t Tickets) Checks() []Check { return []Check{t.account} }

// account asks who the bot is. A ticket system that does not answer keeps
// records back and nothing else, so that alone is a warning.
func (t Tickets) account(ctx context.Context) []Finding {
	where := area("tickets " + t.System.Name())
	acc, err := t.System.Whoami(ctx)
	if refused, ok := errors.AsType[*ticket.Refused](err); ok {
		cure := refused.Right
		if refused.Why == ticket.Token {
			cure = "put a valid token or secret where the config says"
		}
		return []Finding{where.fail("account", cure, "%s", reason(ctx, err))}
	}
	if err != nil {
		return []Finding{where.warn("account", "check url, api and caFile, and whether the system is up; records are kept until it answers", "%s", reason(ctx, err))}
	}
	found := []Finding{where.ok("account", "is %s", acc.Name)}
	for _, w := range acc.Warnings {
		found = append(found, where.warn("account", "", "%s", w))
	}
	return found
}
