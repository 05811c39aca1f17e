package book

import (
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"
	"time"

	"reconcilebot/runbook"
	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/forge"
	"reconcilebot/runbook/git"
	"reconcilebot/state"
)

// surveyor says what differs in a target.
type surveyor interface {
	Survey(context.Context, drift.Target) (drift.Drift, error)
}

// controller is the part of Argo CD that the books need.
type controller interface {
	App(context.Context, argocd.Ref) (argocd.App, error)
	Apps(context.Context) ([]argocd.App, error)
	Refresh(ctx context.Context, ref argocd.Ref, hard bool) (argocd.App, error)
	Manifests(ctx context.Context, ref argocd.Ref, revision string) ([]map[string]any, error)
	Managed(context.Context, argocd.Ref) ([]argocd.Managed, error)
	Sync(context.Context, argocd.Ref, argocd.SyncRequest) error
	pauser
}

// pauser is the part of Argo CD that pauses need.
type pauser interface {
	Version(context.Context) (string, error)
	SetAutomated(ctx context.Context, app argocd.App, automated json.RawMessage) (way string, err error)
	Terminate(context.Context, argocd.Ref) error
	SyncWindows(context.Context, argocd.Ref) (argocd.Windows, error)
	Events(context.Context, argocd.Ref) ([]argocd.Event, error)
	ApplicationSet(ctx context.Context, namespace, name string) (argocd.ApplicationSet, error)
	Declared(ctx context.Context, parent, child argocd.Ref) (argocd.App, error)
}

// Repository is the part of a Git repository that the books need.
type Repository interface {
	Fetch(context.Context) error
	Branch(ctx context.Context, name string) (sha string, found bool, err error)
	DefaultBranch(context.Context) (name string, err error)
	Tree(ctx context.Context, sha string) (fs.FS, error)
	History(ctx context.Context, sha, path string, most int) ([]git.Commit, error)
	Contains(ctx context.Context, descendant, ancestor string) (bool, error)
	Resolve(ctx context.Context, revision string) (sha string, err error)
	Describe(ctx context.Context, sha string) (c git.Commit, parent string, err error)
	Commit(context.Context, git.CommitRequest) (sha string, err error)
	Written(ctx context.Context, sha string) (files []git.File, tree string, err error)
	Push(ctx context.Context, sha, branch string) error
}

// host is the part of the Git host that the books need.
type host interface {
	Rules(ctx context.Context, repo forge.Repo, branch string) (forge.Rules, error)
	HeadRules(ctx context.Context, repo forge.Repo, branch string) (forge.Rules, error)
	FindPR(ctx context.Context, repo forge.Repo, branch string) (pr forge.PR, found bool, err error)
	MakeCommit(context.Context, forge.Commit) (sha string, err error)
	OpenPR(context.Context, forge.Proposal) (forge.PR, error)
	ClosePR(ctx context.Context, repo forge.Repo, number int, comment string) error
	Progress(ctx context.Context, repo forge.Repo, number int) (forge.Progress, error)
	Merge(context.Context, forge.Repo, int, forge.MergeRequest) (sha string, merged bool, why string, err error)
}

// policy says whose yes is needed.
type policy interface {
	// Approvers names the people or groups whose yes counts for a target, and
	// how many of them are needed.
	Approvers(target string) (names []string, count int)
	// NameOf gives the name in the people map of a Kubernetes user, or "".
	NameOf(kubernetesUser string) string
}

// Cluster is one cluster's side of things.
type Cluster struct {
	Survey surveyor
	Argo   controller
	// Trial asks the API server what it makes of a change; nil asks nobody.
	Trial trial
}

// trial has the API server check a merge patch without applying it.
type trial interface {
	DryRun(ctx context.Context, on cluster.ObjectRef, patch []byte) error
}

// Links makes addresses for people; each answers "" when there is none.
type Links struct {
	File   func(repo forge.Repo, sha, path string, line int) string
	Commit func(repo forge.Repo, sha string) string
	// Thread is where a reconciliation is talked about, Ticket the page of an
	// incident, Audit that of a request in the audit log.
	Thread func(state.ReconciliationID) string
	Ticket func(state.IncidentID) string
	Audit  func(auditID string) string
}

// Timing is how long things may take.
type Timing struct {
	// ApprovalExpires is how long a plan stays open to votes.
	ApprovalExpires time.Duration
	// PollHost and PollController are the shortest times between two looks.
	PollHost, PollController time.Duration
	// StableFor is how long the end state must hold.
	StableFor time.Duration
	// Verify bounds the time from the merge or the sync to the end state,
	// Merge the time from the pull request to its merge.
	Verify, Merge time.Duration
	// Expedited bounds it for a change that is asked for as an emergency; half
	// an hour if zero.
	Expedited time.Duration
	// PauseCheck is how often a pause is looked at, PauseEscalate how long a
	// question about its end goes without an answer before it is put again, to
	// more people; half a minute and ten minutes if zero.
	PauseCheck, PauseEscalate time.Duration
}

// Config is what the books need.
type Config struct {
	Clusters map[string]Cluster
	// Repo opens the repository with a URL.
	Repo   func(ctx context.Context, url string) (Repository, error)
	Host   host
	Policy policy
	// StillMay asks once more, before the plan is carried out, whether somebody
	// may give the vote that they gave; why says what is wrong, as it goes on
	// after their name. An error means that nobody knows. Nobody is asked if
	// nil.
	StillMay func(ctx context.Context, r state.Reconciliation, v state.Vote) (why string, err error)
	// Paused tells whether a target has a pause; nil stands for no.
	Paused func(target string) bool
	Links  Links
	Timing Timing
	// Author is who the bot is in Git.
	Author git.Person
	// Sign signs commits with a key of ours. HostSigns has the Git host make
	// them, which then signs them itself.
	Sign      *git.Signer
	HostSigns bool
	// MergeMethod is "merge", "squash", "rebase", or "" for the branch's own
	// preference. Merge false leaves merging to people.
	MergeMethod string
	Merge       bool
	Now         func() time.Time
	Log         *slog.Logger
}

type systems struct{ Config }

// Books lists the runbooks in all their editions.
func Books(c Config) []runbook.Book {
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Timing.Expedited = cmp.Or(c.Timing.Expedited, 30*time.Minute)
	c.Timing.PauseCheck = cmp.Or(c.Timing.PauseCheck, 30*time.Second)
	c.Timing.PauseEscalate = cmp.Or(c.Timing.PauseEscalate, 10*time.Minute)
	s := &systems{c}
	return []runbook.Book{
		pauseBook(s),
		{
			Name:    runbook.Survey,
			Version: 1,
			Steps:   []runbook.Step{survey{s}},
		},
		{
			Name:    Adopt,
			Version: 1,
			Ends:    "adopted",
			Ballot:  ballot,
			Steps:   s.throughGit(s.adoption),
		},
		{
			Name:    Mixed,
			Version: 1,
			Ends:    "adopted and reverted",
			Ballot:  ballot,
			Steps:   s.throughGit(s.mixture),
		},
		{
			Name:    Change,
			Version: 1,
			Ends:    "changed",
			Ballot:  ballot,
			Steps:   s.throughGit(s.alteration),
		},
		{
			Name:    Rollback,
			Version: 1,
			Ends:    "rolled back",
			Ballot:  ballot,
			Steps:   s.throughGit(s.restoration),
		},
		{
			Name:    Revert,
			Version: 1,
			Ends:    "reverted",
			Ballot:  ballot,
			Steps: []runbook.Step{
				survey{s}, planning{s, s.reversion}, approve{s}, recheck{s, s.reversion},
				syncReverted{s}, verify{s}, settle{s}, record{s},
			},
		},
	}
}

// throughGit are the steps of a book that takes its plan into Git: proven,
// approved, merged, and seen in the cluster.
func (s *systems) throughGit(make planner) []runbook.Step {
	return []runbook.Step{
		survey{s}, planning{s, make}, approve{s}, recheck{s, make},
		push{s}, render{s}, pullRequest{s}, merge{s},
		refresh{s}, syncAdopted{s}, verify{s}, settle{s}, record{s},
	}
}
