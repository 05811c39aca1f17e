package runbook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reconcilebot/runbook/fault"
	"reconcilebot/state"
)

var start = time.Date(2026, 3, 14, 14, 2, 0, 0, time.UTC)

// clock moves only when it is told to.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// act is a step made of a function.
type act struct {
	id state.StepID
	do func(context.Context, state.Reconciliation) Outcome
}

func (a act) ID() state.StepID                                       { return a.id }
func (a act) Do(ctx context.Context, r state.Reconciliation) Outcome { return a.do(ctx, r) }
func does(id state.StepID, v string) act {
	return act{id, func(context.Context, state.Reconciliation) Outcome { return Result[string]{id}.Done(v) }}
}

type bench struct {
	*Engine
	db    *state.DB
	clock *clock
}

func build(t *testing.T, books ...Book) bench {
	t.Helper()
	c := &clock{start}
	db, err := state.Open(filepath.Join(t.TempDir(), "state.db"), c.now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	survey := Book{Name: Survey, Version: 1, Steps: []Step{does("survey", "replicas 3 → 6")}}
	e := New(Config{DB: db, Books: append(books, survey), Log: slog.New(slog.DiscardHandler), Now: c.now})
	return bench{e, db, c}
}

var (
	alice = state.Person{ID: "U1", Name: "alice", Kubernetes: []string{"alice@example.com"}}
	bob   = state.Person{ID: "U2", Name: "bob"}
	carol = state.Person{ID: "U3", Name: "carol"}
)

func (b bench) open(t *testing.T) state.Reconciliation {
	t.Helper()
	r, _, err := b.Open(Opening{ID: "r-1", Incident: "INC-1", Room: "C1", Target: "eu/web", By: alice})
	if err != nil {
		t.Fatal(err)
	}
	return b.advance(t, r.ID)
}

func (b bench) advance(t *testing.T, id state.ReconciliationID) state.Reconciliation {
	t.Helper()
	r, err := b.Advance(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (b bench) decide(t *testing.T, name state.BookName) state.Reconciliation {
	t.Helper()
	if _, err := b.Decide("r-1", name, state.Decision{By: alice, Reason: "queue backing up", Delivery: "d-1"}); err != nil {
		t.Fatal(err)
	}
	return b.advance(t, "r-1")
}

// adoption is a small book with a vote in the middle.
func adoption(live func() string) Book {
	plan := Result[string]{"plan"}
	return Book{
		Name: "adopt", Version: 1, Ends: "adopted",
		Ballot: func(r state.Reconciliation) (Ballot, bool) {
			p, ok := plan.If(r)
			return Ballot{Digest: p, Needed: 1, Expires: start.Add(time.Hour), Made: []string{"alice@example.com"}}, ok && !r.Done("approve")
		},
		Steps: []Step{
			act{"plan", func(context.Context, state.Reconciliation) Outcome { return plan.Done(live()) }},
			act{"approve", func(_ context.Context, r state.Reconciliation) Outcome {
				p, _ := plan.If(r)
				if len(r.Standing(p)) == 0 {
					return Wait(time.Hour, ForPeople, "waiting for 1 approval")
				}
				return Result[string]{"approve"}.Done("yes")
			}},
			act{"recheck", func(_ context.Context, r state.Reconciliation) Outcome {
				if p, _ := plan.If(r); p != live() {
					return Redo("plan", "replicas is now "+live())
				}
				return Result[string]{"recheck"}.Done("same")
			}},
			does("push", "abc"),
		},
	}
}

func TestFromQuestionToRecord(t *testing.T) {
	b := build(t, adoption(func() string { return "6" }))
	r := b.open(t)
	if !r.Done("survey") || r.IsClosed() || r.Wait != nil {
		t.Fatalf("after the survey: %+v", r)
	}
	r = b.decide(t, "adopt")
	if r.Wait == nil || r.Wait.Why != "waiting for 1 approval" {
		t.Fatalf("after the decision: %+v", r)
	}
	b.clock.at = start.Add(5 * time.Minute)
	if _, err := b.Vote(r.ID, state.Vote{By: bob, Yes: true, Digest: "6"}); err != nil {
		t.Fatal(err)
	}
	r = b.advance(t, r.ID)
	if r.Outcome != "adopted" || !r.IsClosed() {
		t.Fatalf("at the end: %+v", r)
	}
	if waited := r.Steps["approve"].Waited[ForPeople]; waited != 5*time.Minute {
		t.Errorf("waited %s for people, want 5m", waited)
	}
	if got, want := Times(r), (Spent{Total: 5 * time.Minute, People: 5 * time.Minute}); got != want {
		t.Errorf("the time went %+v, want %+v", got, want)
	}
	decided := r.Decision.At
	r.Decision.At = r.Opened.Add(-time.Minute) // in the command, before the survey
	if got := Times(r).People; got != 5*time.Minute {
		t.Errorf("people took %s, want 5m: a decision that came first is not waited for", got)
	}
	r.Decision.At = decided
	entries, err := b.db.Journal("")
	if err != nil || state.Verify(entries) != nil {
		t.Errorf("journal: %v, %v", err, state.Verify(entries))
	}
	var kinds []string
	for _, e := range entries {
		kinds = append(kinds, e.Kind)
	}
	if want := []string{"opened", "step", "decided", "step", "approved", "step", "step", "step", "closed"}; !slices.Equal(kinds, want) {
		t.Errorf("the journal tells %q, want %q", kinds, want)
	}
}

func TestWhoMayApprove(t *testing.T) {
	for name, c := range map[string]struct {
		vote state.Vote
		late bool
		kind fault.Kind
		say  string
	}{
		"whoever asked":              {vote: state.Vote{By: alice, Yes: true, Digest: "6"}, kind: fault.Denied, say: "you asked for it"},
		"who made it, by another id": {vote: state.Vote{By: state.Person{ID: "U9", Kubernetes: []string{"alice@example.com"}}, Yes: true, Digest: "6"}, kind: fault.Denied},
		"a vote for another plan":    {vote: state.Vote{By: bob, Yes: true, Digest: "8"}, kind: fault.Conflict, say: "changed"},
		"after it expired":           {vote: state.Vote{By: bob, Yes: true, Digest: "6"}, late: true, kind: fault.Conflict, say: "expired"},
	} {
		t.Run(name, func(t *testing.T) {
			b := build(t, adoption(func() string { return "6" }))
			b.open(t)
			b.decide(t, "adopt")
			if c.late {
				b.clock.at = start.Add(2 * time.Hour)
			}
			_, err := b.Vote("r-1", c.vote)
			if fault.Of(err) != c.kind || !strings.Contains(fault.Say(err, ""), c.say) {
				t.Errorf("Vote = %v", err)
			}
			if r, _ := b.db.Reconciliation("r-1"); len(r.Votes) != 0 {
				t.Errorf("the vote counted: %+v", r.Votes)
			}
		})
	}
}

func TestNobodyVotesTwiceAndNobodyDecidesTwice(t *testing.T) {
	book := adoption(func() string { return "6" })
	book.Steps[1] = act{"approve", func(context.Context, state.Reconciliation) Outcome { return Wait(time.Hour, ForPeople, "two") }}
	b := build(t, book)
	b.open(t)
	b.decide(t, "adopt")
	vote := state.Vote{By: bob, Yes: true, Digest: "6"}
	if _, err := b.Vote("r-1", vote); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Vote("r-1", vote); fault.Of(err) != fault.Conflict {
		t.Errorf("the second vote = %v", err)
	}
	if _, err := b.Decide("r-1", "adopt", state.Decision{By: carol, Delivery: "d-2"}); !errors.Is(err, state.ErrDecided) || !strings.Contains(fault.Say(err, ""), "alice") {
		t.Errorf("the second decision = %v", err)
	}
	if _, err := b.Decide("r-1", "adopt", state.Decision{By: alice, Delivery: "d-1"}); err != nil {
		t.Errorf("the same decision delivered again = %v", err)
	}
}

func TestAPlanThatMovedVoidsTheVotes(t *testing.T) {
	live := "6"
	b := build(t, adoption(func() string { return live }))
	b.open(t)
	b.decide(t, "adopt")
	if _, err := b.Vote("r-1", state.Vote{By: bob, Yes: true, Digest: "6"}); err != nil {
		t.Fatal(err)
	}
	live = "8"
	r := b.advance(t, "r-1")
	if r.Done("push") || r.Wait == nil {
		t.Fatalf("it went on with a plan that nobody saw: %+v", r)
	}
	if len(r.Standing("6")) != 0 || r.Votes[0].Void != "replicas is now 8" {
		t.Errorf("the votes = %+v", r.Votes)
	}
	if _, err := b.Vote("r-1", state.Vote{By: bob, Yes: true, Digest: "8"}); err != nil {
		t.Fatal(err)
	}
	if r = b.advance(t, "r-1"); r.Outcome != "adopted" {
		t.Errorf("after the new vote: %+v", r)
	}
}

func TestAStepThatPanicsEndsTheWayNotTheBot(t *testing.T) {
	b := build(t, Book{Name: "adopt", Version: 1, Ends: "adopted", Steps: []Step{
		act{"plan", func(context.Context, state.Reconciliation) Outcome { panic("secret detail") }},
	}})
	b.open(t)
	r := b.decide(t, "adopt")
	if r.Failure == nil || strings.Contains(r.Failure.Say, "secret") {
		t.Fatalf("failure = %+v", r.Failure)
	}
	if _, err := b.Again("r-1", alice); err != nil {
		t.Fatal(err)
	}
	if r = b.advance(t, "r-1"); !r.Done("survey") || r.Decided() || len(r.Past) != 1 {
		t.Errorf("begun again: %+v", r)
	}
}

func TestRetryGoesOnWithTheStepThatFailed(t *testing.T) {
	fails := true
	b := build(t, Book{Name: "adopt", Version: 1, Ends: "adopted", Steps: []Step{
		does("plan", "p"),
		act{"push", func(context.Context, state.Reconciliation) Outcome {
			if fails {
				return Fail(fault.New(fault.Refused, "The branch is taken."))
			}
			return Result[string]{"push"}.Done("abc")
		}},
	}})
	b.open(t)
	if r := b.decide(t, "adopt"); r.Failure == nil || r.Failure.Say != "The branch is taken." {
		t.Fatalf("failure = %+v", r.Failure)
	}
	fails = false
	if _, err := b.Retry("r-1", bob); err != nil {
		t.Fatal(err)
	}
	if r := b.advance(t, "r-1"); r.Outcome != "adopted" {
		t.Errorf("after the retry: %+v", r)
	}
}

func TestLeavingIsRefusedWhileUnderWay(t *testing.T) {
	b := build(t, adoption(func() string { return "6" }))
	b.open(t)
	b.decide(t, "adopt")
	if _, err := b.Leave("r-1", alice); fault.Of(err) != fault.Conflict {
		t.Errorf("Leave = %v", err)
	}
	b2 := build(t)
	b2.open(t)
	if r, err := b2.Leave("r-1", alice); err != nil || r.Outcome != "left" {
		t.Errorf("Leave = %+v, %v", r, err)
	}
	if _, err := b2.Leave("r-1", alice); fault.Of(err) != fault.Conflict {
		t.Errorf("leaving twice = %v", err)
	}
}

// TestEveryCrash stops a book at each of its writes, and at each of its
// effects before and after it took place, reopens, and goes on. Each effect
// is to be found once.
func TestEveryCrash(t *testing.T) {
	for point := 1; ; point++ {
		world := map[string]int{} // what exists outside
		crashed, done := crashAt(t, point, world)
		if !done {
			t.Fatalf("crash %d: not finished", point)
		}
		if world["branch"] != 1 || world["pull request"] != 1 {
			t.Errorf("crash %d: the world has %v", point, world)
		}
		if !crashed {
			t.Logf("%d points", point-1)
			return
		}
	}
}

// crashAt runs a book to its end with one crash at a point; crashed is false
// when the book has no such point.
func crashAt(t *testing.T, point int, world map[string]int) (crashed, done bool) {
	path := filepath.Join(t.TempDir(), "state.db")
	n := 0
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		reached := func() bool {
			n++
			if n == point {
				crashed = true
				cancel()
			}
			return n == point
		}
		effect := func(id state.StepID, name string) Step {
			return act{id, func(context.Context, state.Reconciliation) Outcome {
				if reached() {
					return Fail(errors.New("killed before"))
				}
				if world[name] == 0 { // looks first, as every step must
					world[name]++
				}
				if reached() {
					return Fail(errors.New("killed after"))
				}
				return Result[string]{id}.Done(name)
			}}
		}
		r, err := oneLife(ctx, path, reached, effect("push", "branch"), effect("pull-request", "pull request"))
		cancel()
		if err == nil && r.IsClosed() {
			return crashed, true
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("crash %d: %v", point, err)
		}
	}
	return crashed, false
}

func oneLife(ctx context.Context, path string, wrote func() bool, steps ...Step) (r state.Reconciliation, err error) {
	// Every write asks for the time once: a crash there is one right after
	// the write.
	db, err := state.Open(path, func() time.Time { wrote(); return start })
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	books := []Book{{Name: Survey, Version: 1, Steps: []Step{does("survey", "x")}}, {Name: "adopt", Version: 1, Ends: "adopted", Steps: steps}}
	e := New(Config{DB: db, Books: books, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return start }})
	if r, _, err = e.Open(Opening{ID: "r-1", Target: "eu/web", By: alice}); err != nil || ctx.Err() != nil {
		return r, errors.Join(err, ctx.Err())
	}
	if _, err = e.Decide("r-1", "adopt", state.Decision{By: alice, Delivery: "d-1"}); err != nil || ctx.Err() != nil {
		return r, errors.Join(err, ctx.Err())
	}
	return e.Advance(ctx, "r-1")
}

func TestRunWakesWhatIsDue(t *testing.T) {
	looks := make(chan int, 16)
	n := 0
	b := build(t, Book{Name: "adopt", Version: 1, Ends: "adopted", Steps: []Step{
		act{"merge", func(context.Context, state.Reconciliation) Outcome {
			n++
			looks <- n
			if n < 3 {
				return Wait(time.Millisecond, ForPoll, "waiting for checks")
			}
			return Result[string]{"merge"}.Done("merged")
		}},
	}})
	b.Engine.now = time.Now
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	if _, _, err := b.Open(Opening{ID: "r-1", Target: "eu/web", By: alice}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Decide("r-1", "adopt", state.Decision{By: alice}); err != nil {
		t.Fatal(err)
	}
	for want := 1; want <= 3; want++ {
		if got := <-looks; got != want {
			t.Fatalf("look %d, want %d", got, want)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("Run = %v", err)
	}
}

func TestAWaitWhoseReasonIsTheSameWritesNothing(t *testing.T) {
	b := build(t, Book{Name: "adopt", Version: 1, Ends: "adopted", Steps: []Step{
		act{"merge", func(context.Context, state.Reconciliation) Outcome {
			return Wait(time.Second, ForPoll, "waiting for checks")
		}},
	}})
	b.open(t)
	first := b.decide(t, "adopt")
	for i := range 5 {
		b.clock.at = b.clock.at.Add(time.Second)
		if r := b.advance(t, "r-1"); r.Rev != first.Rev || !r.Wait.Until.Equal(b.clock.at.Add(time.Second)) {
			t.Fatalf("look %d: revision %d, until %s", i, r.Rev, r.Wait.Until)
		}
	}
}

func TestPollLooksLessOftenWithTime(t *testing.T) {
	for _, c := range []struct{ waited, want time.Duration }{
		{0, time.Second}, {4 * time.Second, time.Second}, {40 * time.Second, 5 * time.Second}, {time.Hour, 15 * time.Second},
	} {
		if got := Poll(start, start.Add(c.waited), time.Second, 15*time.Second); got != c.want {
			t.Errorf("after %s: %s, want %s", c.waited, got, c.want)
		}
	}
}

func TestManyReconciliationsMoveSideBySide(t *testing.T) {
	b := build(t, Book{Name: "adopt", Version: 1, Ends: "adopted", Steps: []Step{does("push", "abc")}})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	for i := range 50 {
		id := state.ReconciliationID(fmt.Sprintf("r-%d", i))
		if _, _, err := b.Open(Opening{ID: id, Target: string(id), By: alice}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Decide(id, "adopt", state.Decision{By: alice}); err != nil {
			t.Fatal(err)
		}
	}
	for {
		list, err := b.db.Unclosed()
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 {
			break
		}
		select {
		case <-b.db.Changed():
		case <-t.Context().Done():
			t.Fatal("not all ended")
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
