package commands

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slack-go/slack"

	"reconcilebot/commands/access"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/state"
)

// Voters looks again at those who voted: a yes counts only as long as whoever
// gave it could still give it. It is safe for concurrent use.
type Voters struct {
	Directory directory
	Access    *access.Policy
	// Team is the workspace whose full members may vote.
	Team string
}

// StillMay says what keeps somebody's vote from counting now, as it goes on
// after their name; empty while it counts. An error means that nobody knows.
func (v Voters) StillMay(ctx context.Context, r state.Reconciliation, vote state.Vote) (why string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 10*time.Second, errors.New("it takes too long to say who may approve"))
	defer cancel()
	m, err := v.Directory.Member(ctx, vote.By.ID, "")
	var answer slack.SlackErrorResponse
	if errors.As(err, &answer) && (answer.Err == "user_not_found" || answer.Err == "user_not_visible") {
		return "is not known to Slack any more", nil
	}
	if err != nil {
		return "", fmt.Errorf("look up member %s: %w", vote.By.ID, err)
	}
	if why := access.Unfit(m, vote.By.ID, v.Team); why != "" {
		return why, nil
	}
	t, err := ofRun(r)
	if err != nil {
		return "", err
	}
	who, _ := v.Access.Person(m)
	q := approving(r, t, who)
	if vote.Override {
		q = rightTo(access.Override, r, t, who)
	}
	verdict := v.Access.Judge(ctx, q)
	switch {
	case verdict.Allowed():
		return "", nil
	case verdict.Unread() != nil:
		return "", verdict.Unread()
	case vote.Override:
		return "may not override approvals for " + t.Name + " any more", nil
	}
	return "may not approve for " + t.Name + " any more", nil
}

// rightTo is whether somebody has a right on the target of a reconciliation,
// where there is a plan with respect to the files that it edits.
func rightTo(right access.Right, r state.Reconciliation, t drift.TargetInfo, who state.Person) access.Question {
	q := access.Question{Who: who, Right: right, Target: t}
	plan, _ := book.PlanIn(r)
	for _, e := range plan.Edits {
		q.Files = append(q.Files, e.File)
	}
	return q
}

// approving is whether somebody's yes to the plan of a reconciliation counts,
// who may neither have asked for it nor have made the change.
func approving(r state.Reconciliation, t drift.TargetInfo, who state.Person) access.Question {
	q := rightTo(access.Approve, r, t, who)
	q.Asked = r.Decision.By
	plan, _ := book.PlanIn(r)
	if sim, ok := book.SimulationIn(r); ok {
		plan.Seen.Drift.Changes = sim.Undo
	}
	for _, change := range plan.Seen.Drift.Changes {
		e := change.Evidence
		if e.Person == "" {
			continue
		}
		how := "audit log"
		if e.Kind == drift.ByController {
			how = "Argo CD"
		}
		if !e.At.IsZero() {
			how += ", " + e.At.UTC().Format("15:04 UTC")
		}
		q.Made = append(q.Made, access.Maker{Kubernetes: e.Person, Evidence: how})
	}
	return q
}
