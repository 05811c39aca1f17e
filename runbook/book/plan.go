package book

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"reconcilebot/runbook"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/forge"
	"reconcilebot/runbook/git"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// The books, as they are named on disk.
const (
	Adopt  state.BookName = "adopt"
	Revert state.BookName = "revert"
	// Change is a change that is made through Git to begin with.
	Change state.BookName = "change"
	// Mixed adopts some changes and reverts others.
	Mixed state.BookName = "adopt-and-revert"
	// Rollback undoes a merged commit, through Git.
	Rollback state.BookName = "rollback"
)

// expedited tells whether a book brings about through Git what the cluster
// does not have yet, and is in a hurry.
func expedited(b state.BookName) bool { return b == Change || b == Rollback }

// Seen is what the first look finds.
type Seen struct {
	Drift drift.Drift `json:"drift"`
	// Places says for each change, by its index, where the value lives in
	// Git; empty where that is not known.
	Places []Place `json:"places,omitempty"`
	// Branch is the branch that the target follows, Head its tip.
	Branch string `json:"branch,omitempty"`
	Head   string `json:"head,omitempty"`
}

// Place is where a value lives in Git.
type Place struct {
	File string     `json:"file,omitempty"`
	Line int        `json:"line,omitempty"`
	URL  string     `json:"url,omitempty"`
	Last git.Commit `json:"last,omitzero"`
	// Why says why the value can't be edited there, when it can't.
	Why  string `json:"why,omitempty"`
	Hint string `json:"hint,omitempty"`
}

// Plan is what is put to the vote: the changes, what will be done about them,
// and what shows that this is all that will happen.
//
// The changes of Seen are those that the plan deals with; Open are the others,
// which stay as they are because nobody chose anything for them.
type Plan struct {
	Seen Seen           `json:"seen"`
	Open []drift.Change `json:"open,omitempty"`
	// Do is what becomes of each change, by its index; empty where all are
	// dealt with alike.
	Do []Do `json:"do,omitempty"`
	// Edits, Proof, Repo, Base and Branch are those of an adoption.
	Edits  []manifest.Edit `json:"edits,omitempty"`
	Proof  manifest.Proof  `json:"proof,omitzero"`
	Repo   forge.Repo      `json:"repo,omitzero"`
	Base   string          `json:"base,omitempty"`
	Branch string          `json:"branch,omitempty"`
	// Followers are the other targets that follow the branch: a merge has
	// their controller look at them, too.
	Followers []string `json:"followers,omitempty"`
	// Actions are what is done to the cluster, by its controller.
	Actions []Action `json:"actions,omitempty"`
	// Of is the commit that a rollback undoes.
	Of *git.Commit `json:"of,omitempty"`
	// Tried says what the API server makes of a change that is asked for, in a
	// dry run; empty where there is none.
	Tried string    `json:"tried,omitempty"`
	Needs Needs     `json:"needs"`
	Made  time.Time `json:"made"`
	// Digest binds a vote to what this plan says and rests on.
	Digest string `json:"digest"`
}

// Action is one thing that a controller is asked to do.
type Action struct {
	// Kind is "sync", or "hand" for what a person has to do.
	Kind    string            `json:"kind"`
	Objects []manifest.Object `json:"objects"`
	// Text says it in words.
	Text string `json:"text"`
}

// Needs is what stands between a plan and its end.
type Needs struct {
	// Approvals is how many yeses are needed here, From whom they count.
	Approvals int      `json:"approvals"`
	From      []string `json:"from"`
	// Excluded are the names of those who may not approve this one, with the
	// reason beside them in Why.
	Excluded []Excluded `json:"excluded,omitempty"`
	// Disown is true when nobody knows who made a change.
	Disown bool `json:"disown,omitempty"`
	// Rules are the branch's own, Owners the code owners of the files.
	Rules  forge.Rules `json:"rules,omitzero"`
	Owners []string    `json:"owners,omitempty"`
	// OwnerSets are the owners by file: of each set, one has to agree.
	OwnerSets [][]string `json:"ownerSets,omitempty"`
	Expires   time.Time  `json:"expires"`
}

// Excluded is somebody who may not approve, and why.
type Excluded struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// What each step leaves behind.
var (
	seen      = runbook.Result[Seen]{Step: "survey"}
	planned   = runbook.Result[Plan]{Step: "plan"}
	approved  = runbook.Result[Approval]{Step: "approve"}
	checked   = runbook.Result[Checked]{Step: "recheck"}
	pushed    = runbook.Result[Pushed]{Step: "push"}
	rendered  = runbook.Result[Rendered]{Step: "render"}
	opened    = runbook.Result[forge.PR]{Step: "pull-request"}
	merged    = runbook.Result[Merged]{Step: "merge"}
	synced    = runbook.Result[Synced]{Step: "sync"}
	refreshed = runbook.Result[string]{Step: "refresh"}
	verified  = runbook.Result[Verified]{Step: "verify"}
	settled   = runbook.Result[Verified]{Step: "settle"}
	recorded  = runbook.Result[Recorded]{Step: "record"}
)

// Approval is the yeses that a plan got.
type Approval struct {
	Votes []state.Vote `json:"votes"`
	At    time.Time    `json:"at"`
}

// Checked is the last look before the first act.
type Checked struct {
	At   time.Time `json:"at"`
	Base string    `json:"base,omitempty"`
	// Rebased is true when the base had moved, without touching what the
	// plan rests on, and the proof was made again.
	Rebased bool            `json:"rebased,omitempty"`
	Edits   []manifest.Edit `json:"edits,omitempty"`
}

// Pushed is the branch.
type Pushed struct {
	Branch string `json:"branch"`
	SHA    string `json:"sha"`
	Base   string `json:"base"`
}

// Rendered is the controller's own render of the pushed commit.
type Rendered struct {
	SHA     string `json:"sha"`
	Objects int    `json:"objects"`
	// By says whose render it is.
	By string `json:"by"`
}

// Merged is how the pull request ended well.
type Merged struct {
	SHA       string        `json:"sha"`
	By        string        `json:"by"`
	At        time.Time     `json:"at"`
	Reviewers []string      `json:"reviewers,omitempty"`
	Checks    []forge.Check `json:"checks,omitempty"`
}

// Synced is what the controller did.
type Synced struct {
	Revision string `json:"revision"`
	// Needed is false when the cluster had the value already.
	Needed bool `json:"needed"`
	// Held is how many other changes made by hand kept the merged commit from
	// being synced: that sync could have undone them.
	Held int       `json:"held,omitempty"`
	At   time.Time `json:"at"`
}

// Verified is what was seen that shows that the plan took effect.
type Verified struct {
	Revision string        `json:"revision"`
	Sync     string        `json:"sync"`
	Health   string        `json:"health"`
	At       time.Time     `json:"at"`
	Stable   time.Duration `json:"stable"`
}

// Recorded is when the record was complete, and where the commit is shown.
type Recorded struct {
	At     time.Time `json:"at"`
	Commit string    `json:"commit,omitempty"`
}

// bind computes the digest that votes are bound to: the decided values, the
// objects' identities, the hash of every file that was read, the edits and
// the actions. Status updates and unrelated commits must not void votes, so
// resource versions and the base commit are left out.
func (p Plan) bind() (string, error) {
	type value struct {
		UID, Path string
		Op        manifest.Op
		Git, Live any
		Do        Do `json:",omitempty"`
	}
	bound := struct {
		Target  string
		Values  []value
		Files   map[string]string
		Edits   map[string]string
		Actions []Action
	}{Target: p.Seen.Drift.Target.String(), Files: p.Proof.ReadFiles, Edits: map[string]string{}, Actions: p.Actions}
	for i, c := range p.Seen.Drift.Changes {
		v := value{UID: c.UID, Path: c.Path.String(), Op: c.Op, Git: c.Git, Live: c.Live}
		if i < len(p.Do) {
			v.Do = p.Do[i]
		}
		bound.Values = append(bound.Values, v)
	}
	for _, e := range p.Edits {
		sum := sha256.Sum256(e.Content)
		bound.Edits[e.File] = hex.EncodeToString(sum[:])
	}
	raw, err := json.Marshal(bound)
	if err != nil {
		return "", fmt.Errorf("bind the plan: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

// SeenIn, PlanIn, and the others below read what a reconciliation's steps
// left behind, for those who draw it. ok is false before the step is done.
func SeenIn(r state.Reconciliation) (Seen, bool)         { return seen.If(r) }
func PlanIn(r state.Reconciliation) (Plan, bool)         { return planned.If(r) }
func ApprovalIn(r state.Reconciliation) (Approval, bool) { return approved.If(r) }
func PushedIn(r state.Reconciliation) (Pushed, bool)     { return pushed.If(r) }
func RenderedIn(r state.Reconciliation) (Rendered, bool) { return rendered.If(r) }
func PRIn(r state.Reconciliation) (forge.PR, bool)       { return opened.If(r) }
func MergedIn(r state.Reconciliation) (Merged, bool)     { return merged.If(r) }
func SyncedIn(r state.Reconciliation) (Synced, bool)     { return synced.If(r) }

// VerifiedIn is the last look: the one after the time that the end state had
// to hold, if that is done.
func VerifiedIn(r state.Reconciliation) (Verified, bool) {
	if v, ok := settled.If(r); ok {
		return v, true
	}
	return verified.If(r)
}

// RecordedIn says when the record was complete.
func RecordedIn(r state.Reconciliation) (Recorded, bool) { return recorded.If(r) }
