package doctor

import (
	"context"
	"errors"
	"testing"

	"reconcilebot/runbook/ticket"
)

// desk is a ticket system that answers as it is told.
type desk struct {
	acc ticket.Account
	err error
}

func (desk) Name() string                                     { return "jira" }
func (d desk) Whoami(context.Context) (ticket.Account, error) { return d.acc, d.err }

func TestTickets(t *testing.T) {
	for name, c := range map[string]struct {
		desk
		level Level
		words string
	}{
		"all is well":          {desk{acc: ticket.Account{Name: "Reconcile Bot"}}, OK, "is Reconcile Bot"},
		"something is amiss":   {desk{acc: ticket.Account{Name: "x", Warnings: []string{"no project"}}}, Warn, "no project"},
		"the token is no good": {desk{err: &ticket.Refused{System: "Jira", Why: ticket.Token, Err: errors.New("answered 401")}}, Fail, "401. put a valid token"},
		"a right is missing":   {desk{err: &ticket.Refused{System: "Jira", Why: ticket.Forbidden, Right: "Add Comments"}}, Fail, ". Add Comments"},
		"it is down":           {desk{err: &ticket.Unavailable{System: "Jira", Err: errors.New("connection refused")}}, Warn, "records are kept"},
	} {
		t.Run(name, func(t *testing.T) {
			want(t, Examine(t.Context(), Tickets{System: c.desk}.Checks()), c.level, c.words)
		})
	}
}
