package book

import (
	"encoding/json"
	"slices"
	"time"

	"reconcilebot/runbook"
	"reconcilebot/runbook/drift"
	"reconcilebot/state"
)

// Pause is the book that keeps a target from being reconciled for a time, and
// then puts back exactly what was there.
const Pause state.BookName = "pause"

// How a pause ends.
const (
	// Resumed is that what was there was put back.
	Resumed = "resumed"
	// Undone is that somebody, or something above, ended it first.
	Undone = "undone"
	// Moot is that nothing is reconciled automatically anyway.
	Moot = "nothing to pause"
	// WouldNotHold is that it would be undone, so it was not begun.
	WouldNotHold = "would not hold"
	// NotPaused is that it could not be begun, and nothing was changed.
	NotPaused = "not paused"
)

// Layer is one Application whose automated sync is switched off.
type Layer struct {
	Target drift.Target `json:"target"`
	// Policy is spec.syncPolicy as it was, to the byte; absent if there was
	// none. Automated is the part of it that is replaced, Paused what stands
	// in its place; absent if nothing does.
	Policy    json.RawMessage `json:"policy,omitempty"`
	Automated json.RawMessage `json:"automated,omitempty"`
	Paused    json.RawMessage `json:"paused,omitempty"`
	// ResourceVersion and Generation are those of the Application that was
	// read.
	ResourceVersion string `json:"resourceVersion,omitempty"`
	Generation      int64  `json:"generation,omitempty"`
}

// Hold says whether a pause holds.
type Hold struct {
	// Undone is true when something above would end it.
	Undone bool `json:"undone,omitempty"`
	// Until says up to when it holds, where that is not its own end, such as
	// "the next sync of apps-prod".
	Until string `json:"until,omitempty"`
	// By is what made the Application, such as "Application apps-prod"; "" if
	// nothing did.
	By string `json:"by,omitempty"`
	// Why and Remedy are for people: the reason, and what would hold.
	Why    string `json:"why"`
	Remedy string `json:"remedy,omitempty"`
	// Parent is the Application to be paused with it, if that is a remedy.
	Parent *drift.Target `json:"parent,omitempty"`
}

// Inspected is the look before a pause.
type Inspected struct {
	// Layers are what is switched off, from the top down; the last one is the
	// target itself.
	Layers []Layer `json:"layers,omitempty"`
	Hold   Hold    `json:"hold"`
	// Before is what differed before anything was touched: later changes are
	// told from these.
	Before drift.Drift `json:"before"`
	// Moot says why there is nothing to pause.
	Moot string    `json:"moot,omitempty"`
	At   time.Time `json:"at"`
}

// Halted is when automated sync was switched off.
type Halted struct {
	At time.Time `json:"at"`
	// Ways are the ways by which each layer was written.
	Ways []string `json:"ways,omitempty"`
	// Refused says why it was not switched off.
	Refused string `json:"refused,omitempty"`
	// Undone is set when a layer could not be switched off after others above
	// it were: those are put back.
	Undone *Undoing `json:"undone,omitempty"`
}

// Drained is what became of the sync that ran.
type Drained struct {
	// Ended is true when an automated sync was ended, By who had asked for
	// one that was waited for.
	Ended bool      `json:"ended,omitempty"`
	By    string    `json:"by,omitempty"`
	At    time.Time `json:"at"`
}

// Held is what was seen of a pause. One that did not stand has Undone.
type Held struct {
	At time.Time `json:"at"`
	// Over says over what it was seen to hold.
	Over string `json:"over,omitempty"`
	// Late is when an automated sync started all the same, just after.
	Late   time.Time `json:"late,omitzero"`
	Undone *Undoing  `json:"undone,omitempty"`
}

// Undoing is the end of a pause that was not ours.
type Undoing struct {
	Target drift.Target `json:"target"`
	// By is whom Argo CD's trail names; "" if nobody.
	By string    `json:"by,omitempty"`
	At time.Time `json:"at"`
	// Why is for a layer that could not be switched off.
	Why string `json:"why,omitempty"`
}

// Simulation is what resuming will do.
type Simulation struct {
	At time.Time `json:"at"`
	// Undo are the changes that will be undone; Stay those that will not, for
	// now or ever.
	Undo []drift.Change `json:"undo,omitempty"`
	Stay []drift.Change `json:"stay,omitempty"`
	// Prune are the objects that will be deleted, Restart the workloads whose
	// Pods will be made anew.
	Prune   []string `json:"prune,omitempty"`
	Restart []string `json:"restart,omitempty"`
	// Commits landed meanwhile; -1 if they can't be counted. Full is true
	// when a whole sync will run.
	Commits int  `json:"commits"`
	Full    bool `json:"full,omitempty"`
	// Window says what kind of sync window holds it back.
	Window string `json:"window,omitempty"`
	// Refused says why it can't be judged.
	Refused  string `json:"refused,omitempty"`
	Revision string `json:"revision,omitempty"`
	Needs    Needs  `json:"needs"`
	// Digest binds a yes to what is said here.
	Digest string `json:"digest"`
}

// Harmful tells whether people have to say yes first.
func (s Simulation) Harmful() bool {
	return len(s.Undo) > 0 || len(s.Prune) > 0 || s.Refused != ""
}

// Restored is what was put back.
type Restored struct {
	At time.Time `json:"at"`
	// Exact is true when every sync policy is what it was before, in all its
	// parts.
	Exact bool `json:"exact"`
	// Left are the targets whose policy somebody else changed meanwhile: it
	// is left as they made it.
	Left []drift.Target `json:"left,omitempty"`
}

// What each step of a pause leaves behind.
var (
	inspected = runbook.Result[Inspected]{Step: "inspect"}
	halted    = runbook.Result[Halted]{Step: "halt"}
	drained   = runbook.Result[Drained]{Step: "drain"}
	held      = runbook.Result[Held]{Step: "hold"}
	reminded  = runbook.Result[Held]{Step: "remind"}
	expired   = runbook.Result[Held]{Step: "expire"}
	simulated = runbook.Result[Simulation]{Step: "simulate"}
	restored  = runbook.Result[Restored]{Step: "restore"}
)

// pauseBook is the runbook of a pause.
func pauseBook(s *systems) runbook.Book {
	return runbook.Book{
		Name:    Pause,
		Version: 1,
		Ends:    Resumed,
		Ballot:  resumeBallot,
		Keep:    &runbook.Keep{From: reminded.Step, Back: restored.Step, Taken: halted.Step},
		Steps: []runbook.Step{
			inspect{s}, halt{s}, drain{s}, hold{s},
			remind{s}, expire{s}, simulate{s}, consent{s}, resimulate{s},
			restore{s}, afterwards{s}, pauseRecord{record{s}},
		},
	}
}

// wanted tells whether the end of a pause was asked for, and nobody declined
// since.
func wanted(r state.Reconciliation) bool {
	return r.Pause != nil && r.Pause.Resume != nil && !slices.ContainsFunc(r.Votes, func(v state.Vote) bool {
		return !v.Yes && !v.At.Before(r.Pause.Resume.At)
	})
}

// undoneIn finds out whether the pause did not stand.
func undoneIn(r state.Reconciliation) *Undoing {
	if h, ok := halted.If(r); ok && h.Undone != nil {
		return h.Undone
	}
	for _, look := range []runbook.Result[Held]{held, reminded, expired} {
		if h, ok := look.If(r); ok && h.Undone != nil {
			return h.Undone
		}
	}
	return nil
}

// The readers of what a pause's steps left behind, for those who draw it.
func InspectedIn(r state.Reconciliation) (Inspected, bool)   { return inspected.If(r) }
func HaltedIn(r state.Reconciliation) (Halted, bool)         { return halted.If(r) }
func DrainedIn(r state.Reconciliation) (Drained, bool)       { return drained.If(r) }
func HeldIn(r state.Reconciliation) (Held, bool)             { return held.If(r) }
func SimulationIn(r state.Reconciliation) (Simulation, bool) { return simulated.If(r) }
func RestoredIn(r state.Reconciliation) (Restored, bool)     { return restored.If(r) }

// UndoneIn says who or what ended a pause that we did not end; nil if it
// stood.
func UndoneIn(r state.Reconciliation) *Undoing { return undoneIn(r) }
