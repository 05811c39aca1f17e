package commands

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reconcilebot/commands/access"
	"reconcilebot/commands/card"
	"reconcilebot/runbook"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/fault"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// rig is the commands over a real store and a real engine, with books that
// reach nothing.
type rig struct {
	*Commands
	t       *testing.T
	dir     *fakeDirectory
	engine  *runbook.Engine
	cluster *fakeCluster
	now     time.Time
	// live is what the books see, disown whether nobody knows who made it.
	live   float64
	author string
	// edits are those of an adoption's plan.
	edits []manifest.Edit
	mints int
}

const (
	team = "T0HOME"
	room = state.Room("C1")
)

func newRig(t *testing.T) *rig {
	r := &rig{t: t, now: time.Date(2026, 3, 14, 14, 6, 0, 0, time.UTC), live: 6, author: "alice@example.com"}
	now := func() time.Time { return r.now }
	db, err := state.Open(filepath.Join(t.TempDir(), "state.db"), now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	r.engine = runbook.New(runbook.Config{DB: db, Now: now, Log: slog.New(slog.DiscardHandler), Books: r.books()})
	r.dir = &fakeDirectory{members: map[string]Member{}, rooms: map[string]RoomInfo{
		"C1": {Name: "inc", IsMember: true}, "C2": {Name: "other", IsMember: true}, "CEXT": {IsMember: true, ExtShared: true},
		"COLD": {IsMember: true, Archived: true}, "COUT": {},
	}}
	for _, name := range []string{"alice", "bob", "carol", "dave", "eve"} {
		r.dir.members["U"+name] = Member{ID: "U" + name, Team: team, Name: name}
	}
	r.cluster = &fakeCluster{}
	for _, name := range []string{"payments-web", "payments-worker", "ledger-api", "vault"} {
		r.cluster.list = append(r.cluster.list, drift.TargetInfo{Target: target(name), Sync: "OutOfSync", Health: "Healthy"})
	}
	r.Commands = New(Config{
		DB: db, Engine: r.engine, Directory: r.dir, Team: team, Access: policy(), Log: slog.New(slog.DiscardHandler), Now: now,
		Targets: map[string]Lister{"production-eu": r.cluster},
	})
	return r
}

func target(name string) drift.Target {
	return drift.Target{Cluster: "production-eu", Kind: drift.Application, Namespace: "argocd", Name: name}
}

// policy lets everyone see and payments-owners decide and approve for the
// payments; dave may see and decide about the ledger; the vault is covered by
// no rule.
func policy() *access.Policy {
	var people []access.Person
	for _, name := range []string{"alice", "bob", "carol", "dave"} {
		people = append(people, access.Person{Name: name, Slack: "U" + name, GitHub: name, Kubernetes: []string{name + "@example.com"}})
	}
	return &access.Policy{
		People: people,
		Groups: map[string]access.Group{"payments-owners": {Members: []string{"alice", "bob"}}, "platform": {Members: []string{"carol"}}},
		Rules: []access.Rule{
			{Targets: []string{"production-eu/payments-*"}, See: []string{access.Everyone}, Decide: []string{"payments-owners", "carol"}, Approve: access.Approvers{By: []string{"payments-owners", "platform"}, Count: 1}},
			{Targets: []string{"*/ledger-*", "*/payments-*"}, See: []string{"dave"}, Decide: []string{"dave"}, Approve: access.Approvers{By: []string{"platform"}, Count: 1}},
		},
	}
}

// fakeDirectory is a workspace's member list.
type fakeDirectory struct {
	members map[string]Member
	rooms   map[string]RoomInfo
	down    error
}

func (d *fakeDirectory) Member(_ context.Context, user, _ string) (Member, error) {
	m, ok := d.members[user]
	if !ok && d.down == nil {
		return Member{}, errors.New("user_not_found")
	}
	return m, d.down
}

func (d *fakeDirectory) Room(_ context.Context, id string) (RoomInfo, error) {
	return d.rooms[id], d.down
}

// fakeCluster lists targets, unless it is down.
type fakeCluster struct {
	list []drift.TargetInfo
	down error
}

func (c *fakeCluster) Targets(context.Context) ([]drift.TargetInfo, error) { return c.list, c.down }

// step is a step made of a function.
type step struct {
	id state.StepID
	do func(state.Reconciliation) runbook.Outcome
}

func (s step) ID() state.StepID { return s.id }

func (s step) Do(_ context.Context, r state.Reconciliation) runbook.Outcome { return s.do(r) }

func (r *rig) books() []runbook.Book {
	survey := step{"survey", func(state.Reconciliation) runbook.Outcome {
		return runbook.Result[book.Seen]{Step: "survey"}.Done(book.Seen{Drift: r.drift()})
	}}
	plan := step{"plan", func(run state.Reconciliation) runbook.Outcome {
		p := book.Plan{Seen: book.Seen{Drift: r.drift()}, Digest: "plan-" + string(run.Book), Made: r.now,
			Needs: book.Needs{Approvals: 1, From: []string{"@payments-owners"}, Expires: r.now.Add(30 * time.Minute), Disown: r.author == ""}}
		if run.Book == book.Adopt {
			p.Edits = r.edits
		}
		return runbook.Result[book.Plan]{Step: "plan"}.Done(p)
	}}
	approve := step{"approve", func(run state.Reconciliation) runbook.Outcome {
		p, _ := book.PlanIn(run)
		votes := run.Standing(p.Digest)
		switch {
		case len(votes) == 0:
			return runbook.Wait(time.Hour, runbook.ForPeople, "waiting for an approval")
		case !votes[0].Yes:
			return runbook.Fail(fault.New(fault.Refused, votes[0].By.Name+" declined this plan. Nothing was changed."))
		}
		return runbook.Result[book.Approval]{Step: "approve"}.Done(book.Approval{Votes: votes, At: r.now})
	}}
	ballot := func(run state.Reconciliation) (runbook.Ballot, bool) {
		p, ok := book.PlanIn(run)
		if !ok || run.Done("approve") {
			return runbook.Ballot{}, false
		}
		b := runbook.Ballot{Digest: p.Digest, Needed: 1, Expires: p.Needs.Expires, Disown: p.Needs.Disown, Override: true}
		if r.author != "" {
			b.Made = []string{r.author}
		}
		return b, true
	}
	return []runbook.Book{
		{Name: runbook.Survey, Version: 1, Steps: []runbook.Step{survey}},
		{Name: book.Adopt, Version: 1, Ends: "adopted", Ballot: ballot, Steps: []runbook.Step{survey, plan, approve}},
		{Name: book.Change, Version: 1, Ends: "changed", Ballot: ballot, Steps: []runbook.Step{survey, plan, approve}},
		{Name: book.Revert, Version: 1, Ends: "reverted", Ballot: ballot, Steps: []runbook.Step{survey, plan, approve}},
	}
}

func (r *rig) drift() drift.Drift {
	e := drift.Evidence{Kind: drift.ByManager, Tool: "kubectl"}
	if r.author != "" {
		e = drift.Evidence{Kind: drift.ByAudit, Person: r.author, Tool: "kubectl scale", At: r.now.Add(-4 * time.Minute)}
	}
	return drift.Drift{
		Target: target("payments-web"), Sync: "OutOfSync", Health: "Healthy", Digest: "drift-" + time.Duration(r.live).String(),
		Changes: []drift.Change{{
			Object: manifest.Object{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "payments", Name: "web"}, UID: "u",
			Path: manifest.Path{manifest.Key("spec"), manifest.Key("replicas")}, Op: manifest.Set, Git: 3.0, Live: r.live, Evidence: e,
		}},
	}
}

// request makes one act of a person; each has a delivery of its own.
func (r *rig) request(kind Kind, who string) Request {
	r.mints++
	id := strings.Repeat("x", r.mints)
	return Request{Kind: kind, User: "U" + who, Team: team, Room: room, Delivery: state.Delivery{ID: state.DeliveryID(id), Mint: id}}
}

// does handles a request and lets everything that it set off happen.
func (r *rig) does(req Request) Reply {
	r.t.Helper()
	reply, err := r.Handle(r.t.Context(), req)
	if err != nil {
		r.t.Fatalf("handle: %v", err)
	}
	open, err := r.DB.Unclosed()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, run := range open {
		if _, err := r.engine.Advance(r.t.Context(), run.ID); err != nil {
			r.t.Fatal(err)
		}
	}
	return reply
}

func (r *rig) types(who, text string) Reply {
	r.t.Helper()
	req := r.request(Slash, who)
	req.Text = text
	return r.does(req)
}

func (r *rig) clicks(who, action, value string) Reply {
	r.t.Helper()
	req := r.request(Click, who)
	req.Action, req.Value = action, value
	return r.does(req)
}

// submits sends the modal that a click opened.
func (r *rig) submits(who string, opened Reply, reason string) Reply {
	r.t.Helper()
	if opened.Modal == nil {
		r.t.Fatalf("no modal was opened: %s", said(opened))
	}
	req := r.request(Submit, who)
	req.Room = ""
	req.View = View{Callback: opened.Modal.CallbackID, Metadata: opened.Modal.PrivateMetadata, Values: map[string]string{card.BlockReason: reason}}
	return r.does(req)
}

// run is the reconciliation that holds a target.
func (r *rig) run(name string) state.Reconciliation {
	r.t.Helper()
	run, err := r.DB.Holding(target(name).String())
	if err != nil {
		r.t.Fatal(err)
	}
	return run
}

func (r *rig) shown() string { return card.Carry(r.run("payments-web").ID, r.drift().Digest) }

func said(reply Reply) string {
	switch {
	case reply.Ephemeral != nil:
		return reply.Ephemeral.Text
	case reply.Public != nil:
		return reply.Public.Text
	}
	return ""
}

// wants fails unless the answer says something; an empty wish wants silence.
func (r *rig) wants(reply Reply, text string) {
	r.t.Helper()
	if got := said(reply); !strings.Contains(got, text) || text == "" && got != "" {
		r.t.Errorf("the answer is %q, want %q", got, text)
	}
}
