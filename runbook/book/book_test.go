package book

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"reconcilebot/runbook"
	"reconcilebot/runbook/forge/githubsim"
	"reconcilebot/runbook/git"
	"reconcilebot/state"
)

const id = state.ReconciliationID("r-01TEST")

func (w *world) open(t *testing.T) state.Reconciliation {
	t.Helper()
	if _, _, err := w.engine.Open(runbook.Opening{ID: id, Incident: "INC-1234", Room: "C1", Target: target.String(), By: alice}); err != nil {
		t.Fatal(err)
	}
	return w.advance(t)
}

func (w *world) advance(t *testing.T) state.Reconciliation {
	t.Helper()
	r, err := w.engine.Advance(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (w *world) decide(t *testing.T, book state.BookName) Plan {
	t.Helper()
	if _, err := w.engine.Decide(id, book, state.Decision{By: alice, Reason: "checkout queue backing up", Delivery: "d"}); err != nil {
		t.Fatal(err)
	}
	r := w.advance(t)
	plan, ok := PlanIn(r)
	if !ok {
		t.Fatalf("no plan: %+v", r.Failure)
	}
	return plan
}

func (w *world) approve(t *testing.T, digest string, by state.Person) state.Reconciliation {
	t.Helper()
	if _, err := w.engine.Vote(id, state.Vote{By: by, Yes: true, Digest: digest}); err != nil {
		t.Fatal(err)
	}
	return w.advance(t)
}

// allow gives the pull request what its branch asks for.
func (w *world) allow(t *testing.T) {
	t.Helper()
	pulls := w.host.Pulls("acme/gitops")
	if len(pulls) != 1 {
		t.Fatalf("%d pull requests", len(pulls))
	}
	if err := w.host.SetCheck("acme/gitops", pulls[0].HeadSHA, "validate", "success"); err != nil {
		t.Fatal(err)
	}
	if err := w.host.Review("acme/gitops", 1, "bob", "APPROVE"); err != nil {
		t.Fatal(err)
	}
}

// finish goes on until the end, letting time pass.
func (w *world) finish(t *testing.T) state.Reconciliation {
	t.Helper()
	for range 20 {
		r := w.advance(t)
		if r.IsClosed() || r.Failure != nil {
			return r
		}
		w.pass(30 * time.Second)
	}
	t.Fatal("it does not end")
	return state.Reconciliation{}
}

func TestTheFirstLookSaysWhereTheValueLives(t *testing.T) {
	w := newWorld(t)
	s, ok := SeenIn(w.open(t))
	if !ok || len(s.Places) != 1 || s.Places[0].File != "prod/web.yaml" || s.Places[0].Line != 7 || s.Branch != "main" {
		t.Fatalf("seen = %+v", s)
	}
	if s.Places[0].Last.Subject != "Initial commit" || s.Places[0].URL != "https://git/acme/gitops/prod/web.yaml#L7" {
		t.Errorf("place = %+v", s.Places[0])
	}
}

func TestAdoptFromScaleToRecord(t *testing.T) {
	w := newWorld(t)
	w.open(t)
	plan := w.decide(t, Adopt)
	if len(plan.Edits) != 1 || plan.Edits[0].Before != "  replicas: 3  # one more than a zone takes away\n" && !strings.Contains(plan.Edits[0].Before, "replicas: 3") {
		t.Errorf("edits = %+v", plan.Edits)
	}
	if got := plan.Needs; got.Approvals != 1 || len(got.Owners) != 1 || got.Owners[0] != "@acme/payments" || got.Excluded[0].Why != "asked for it and made the change" {
		t.Errorf("needs = %+v", got)
	}
	r := w.approve(t, plan.Digest, bob)
	if r.Wait == nil || !strings.Contains(r.Wait.Why, "validate") {
		t.Fatalf("after the approval: %+v, %+v", r.Wait, r.Failure)
	}
	w.allow(t)
	r = w.finish(t)
	if r.Outcome != "adopted" {
		t.Fatalf("ended %q: %+v", r.Outcome, r.Failure)
	}
	m, _ := MergedIn(r)
	v, _ := VerifiedIn(r)
	if m.SHA == "" || m.Reviewers[0] != "bob" || v.Sync != "Synced" || v.Stable < time.Minute {
		t.Errorf("merged %+v, verified %+v", m, v)
	}
	if w.syncs != 0 || w.live != 6 {
		t.Errorf("the cluster was touched: %d syncs, %d replicas", w.syncs, w.live)
	}
	if got, err := w.replicasAt(t.Context(), w.seen); err != nil || got != 6 {
		t.Errorf("Git has %v, %v", got, err)
	}
}

// TestTheMergedCommitCountsAsSynced: where sync is automated, a commit that
// was never attempted would undo the next change by hand.
func TestTheMergedCommitCountsAsSynced(t *testing.T) {
	w := newWorld(t)
	w.auto = true
	w.open(t)
	w.approve(t, w.decide(t, Adopt).Digest, bob)
	w.allow(t)
	r := w.finish(t)
	if r.Outcome != "adopted" || w.syncs != 1 || w.live != 6 || w.last.Revision != w.seen {
		t.Errorf("ended %q %+v after %d syncs, the last of %q, seen %q", r.Outcome, r.Failure, w.syncs, w.last.Revision, w.seen)
	}
	if s, _ := SyncedIn(r); s.Needed {
		t.Errorf("it says that the cluster needed the sync: %+v", s)
	}
}

// TestTheSyncThatCouldUndoOthersIsLeftOut, and said.
func TestTheSyncThatCouldUndoOthersIsLeftOut(t *testing.T) {
	w := newWorld(t)
	w.auto = true
	w.open(t)
	w.approve(t, w.decide(t, Adopt).Digest, bob)
	w.later = true
	w.allow(t)
	r := w.finish(t)
	if s, _ := SyncedIn(r); r.Outcome != "adopted" || w.syncs != 0 || s.Held != 1 {
		t.Errorf("ended %q %+v after %d syncs, %+v", r.Outcome, r.Failure, w.syncs, s)
	}
}

// TestTheMergedCommitCountsAsSyncedUnderAPause: what is held back now comes
// when the pause ends.
func TestTheMergedCommitCountsAsSyncedUnderAPause(t *testing.T) {
	w := newWorld(t)
	w.config.Paused = func(target string) bool { return target == "eu/argocd/payments-web" }
	if err := w.db.Close(); err != nil {
		t.Fatal(err)
	}
	w.start(t)
	w.open(t)
	w.approve(t, w.decide(t, Adopt).Digest, bob)
	w.allow(t)
	if r := w.finish(t); r.Outcome != "adopted" || w.syncs != 1 {
		t.Errorf("ended %q %+v after %d syncs", r.Outcome, r.Failure, w.syncs)
	}
}

func TestWhatTheCommitAndThePullRequestSay(t *testing.T) {
	w := newWorld(t)
	w.open(t)
	plan := w.decide(t, Adopt)
	w.approve(t, plan.Digest, bob)
	pr := w.host.Pulls("acme/gitops")[0]
	if pr.Title != "hotfix(reconcile): scale payments/web to 6 replicas for INC-1234" {
		t.Errorf("title %q", pr.Title)
	}
	for _, want := range []string{"Deployment `payments/web` was scaled by hand from `3` to `6` replicas in `eu` during `INC-1234`.", "checkout queue backing up", "alice@example.com", "[thread](https://slack/",
		"[ticket](https://tickets/INC-1234)", "[audit log, request a-1](https://logs/a-1)", "No other Application", "Approved by | bob", "0 differences here", "here; nothing else renders from these files. Argo CD rendered commit", "Argo CD then puts the cluster back"} {
		if !strings.Contains(pr.Body, want) {
			t.Errorf("the pull request does not say %q:\n%s", want, pr.Body)
		}
	}
	r, err := w.db.Reconciliation(id)
	if err != nil {
		t.Fatal(err)
	}
	push, _ := PushedIn(r)
	history, err := w.repo.History(t.Context(), push.SHA, "prod/web.yaml", 1)
	if err != nil || len(history) != 1 {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"Incident": "INC-1234", "Operator": "alice@example.com", "Requested-by": "alice",
		"Approved-by": "bob (plan " + short(plan.Digest) + ")", "Reconciliation": string(id),
	} {
		if got := history[0].Trailers[key]; got != want {
			t.Errorf("trailer %s = %q, want %q", key, got, want)
		}
	}
}

func TestRevertSyncsJustTheObject(t *testing.T) {
	w := newWorld(t)
	w.open(t)
	plan := w.decide(t, Revert)
	if len(plan.Actions) != 1 || len(plan.Actions[0].Objects) != 1 || plan.Actions[0].Objects[0] != web {
		t.Fatalf("actions = %+v", plan.Actions)
	}
	w.approve(t, plan.Digest, bob)
	r := w.finish(t)
	if r.Outcome != "reverted" || w.live != 3 || w.syncs != 1 || len(w.host.Pulls("acme/gitops")) != 0 {
		t.Errorf("ended %q %+v with %d replicas after %d syncs", r.Outcome, r.Failure, w.live, w.syncs)
	}
	if w.last.Infos["incident"] != "INC-1234" {
		t.Errorf("the operation does not say why: %v", w.last.Infos)
	}
}

func TestAnUnknownAuthorNeedsTwoWhoDisown(t *testing.T) {
	w := newWorld(t)
	w.person = ""
	w.open(t)
	if plan := w.decide(t, Adopt); plan.Needs.Approvals != 2 || !plan.Needs.Disown {
		t.Errorf("needs = %+v", plan.Needs)
	}
}

// TestWhatMovesBetweenTheVoteAndTheAct: what the vote is bound to moves and
// voids it; an unrelated commit does not.
func TestWhatMovesBetweenTheVoteAndTheAct(t *testing.T) {
	for name, c := range map[string]struct {
		move func(*testing.T, *world)
		void string
	}{
		"the cluster": {func(_ *testing.T, w *world) { w.live = 8 }, "spec.replicas is now 8 in the cluster"},
		"the file": {func(t *testing.T, w *world) {
			w.commit(t, "prod/web.yaml", strings.Replace(fmt.Sprintf(deployment, 3), "web:1", "web:2", 1))
		}, "a file that the plan rests on was changed in Git"},
		"the change is gone": {func(_ *testing.T, w *world) { w.live = 3 }, "nothing differs any more"},
		"an unrelated file":  {func(t *testing.T, w *world) { w.commit(t, "docs/readme.md", "hello") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.open(t)
			plan := w.decide(t, Adopt)
			c.move(t, w)
			r := w.approve(t, plan.Digest, bob)
			if got := r.Votes[0].Void; got != c.void {
				t.Errorf("the vote is void because %q, want %q (%+v)", got, c.void, r.Failure)
			}
			if pulls := w.host.Pulls("acme/gitops"); (len(pulls) == 1) != (c.void == "") {
				t.Errorf("%d pull requests", len(pulls))
			}
		})
	}
}

func (w *world) commit(t *testing.T, path, content string) {
	t.Helper()
	if _, err := w.host.Commit("acme/gitops", "main", githubsim.Change{Author: "bob", Message: "other work", Files: map[string]string{path: content}}); err != nil {
		t.Fatal(err)
	}
}

func TestWhatCanHappenToThePullRequest(t *testing.T) {
	for name, c := range map[string]struct {
		do      func(*world) error
		outcome string
		say     string
	}{
		"merged by somebody else": {func(w *world) error { return w.host.MergePull("acme/gitops", 1, "bob", "squash") }, "adopted", ""},
		"closed":                  {func(w *world) error { return w.host.ClosePull("acme/gitops", 1) }, "", "was closed without a merge"},
		"the branch is deleted":   {func(w *world) error { return w.host.DeleteBranch("acme/gitops", w.host.Pulls("acme/gitops")[0].Head) }, "", "was closed without a merge"},
		"main changed in the same place": {func(w *world) error {
			_, err := w.host.Commit("acme/gitops", "main", githubsim.Change{Author: "bob", Message: "mine", Files: map[string]string{"prod/web.yaml": fmt.Sprintf(deployment, 9)}})
			return err
		}, "", "the votes do not carry over"},
		"somebody pushed to the branch": {func(w *world) error {
			_, err := w.host.Commit("acme/gitops", w.host.Pulls("acme/gitops")[0].Head, githubsim.Change{Author: "bob", Message: "more", Files: map[string]string{"prod/x.yaml": ""}})
			return err
		}, "", "not what was approved"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.open(t)
			w.approve(t, w.decide(t, Adopt).Digest, bob)
			w.allow(t)
			if err := c.do(w); err != nil {
				t.Fatal(err)
			}
			r := w.finish(t)
			if r.Outcome != c.outcome {
				t.Errorf("ended %q, want %q: %+v", r.Outcome, c.outcome, r.Failure)
			}
			if c.say != "" && (r.Failure == nil || !strings.Contains(r.Failure.Say, c.say)) {
				t.Errorf("failure = %+v, want it to say %q", r.Failure, c.say)
			}
		})
	}
}

func TestADeclinedAndAnExpiredPlanChangeNothing(t *testing.T) {
	for name, act := range map[string]func(*testing.T, *world, string){
		"bob declined": func(t *testing.T, w *world, digest string) {
			if _, err := w.engine.Vote(id, state.Vote{By: bob, Digest: digest}); err != nil {
				t.Fatal(err)
			}
		},
		"Nobody approved": func(_ *testing.T, w *world, _ string) { w.pass(31 * time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.open(t)
			act(t, w, w.decide(t, Adopt).Digest)
			r := w.advance(t)
			if r.Failure == nil || !strings.Contains(r.Failure.Say, name) || len(w.host.Pulls("acme/gitops")) != 0 {
				t.Errorf("failure = %+v", r.Failure)
			}
		})
	}
}

func TestAnOutageIsWaitedFor(t *testing.T) {
	w := newWorld(t)
	w.down = true
	r := w.open(t)
	if r.Failure != nil || r.Wait == nil || r.Wait.For != runbook.ForOutage || !strings.Contains(r.Wait.Why, "Argo CD") {
		t.Fatalf("while Argo CD is down: %+v %+v", r.Wait, r.Failure)
	}
	w.down = false
	if r = w.advance(t); !r.Done("survey") || r.Wait != nil {
		t.Errorf("when it is back: %+v", r)
	}
	plan := w.decide(t, Adopt)
	w.host.SetDown(true)
	if r = w.approve(t, plan.Digest, bob); r.Wait == nil || r.Wait.For != runbook.ForOutage {
		t.Fatalf("while the Git host is down: %+v %+v", r.Wait, r.Failure)
	}
	w.host.SetDown(false)
	w.advance(t)
	w.allow(t)
	if r = w.finish(t); r.Outcome != "adopted" {
		t.Errorf("ended %q: %+v", r.Outcome, r.Failure)
	}
}

func TestWhatCannotBeJudgedIsNotPlanned(t *testing.T) {
	w := newWorld(t)
	w.open(t)
	w.refused = "Argo CD can't render the source (ComparisonError)"
	if _, err := w.engine.Decide(id, Adopt, state.Decision{By: alice, Delivery: "d"}); err != nil {
		t.Fatal(err)
	}
	if r := w.advance(t); r.Failure == nil || !strings.Contains(r.Failure.Say, "ComparisonError") {
		t.Errorf("failure = %+v", r.Failure)
	}
}

// TestEveryCrashOfTheBooks stops each book at every write and goes on with a
// new process: one branch, one pull request, one merge, one sync.
func TestEveryCrashOfTheBooks(t *testing.T) {
	for _, book := range []state.BookName{Adopt, Revert, Change, Mixed, Rollback} {
		t.Run(string(book), func(t *testing.T) {
			for point := 1; crashOnce(t, book, point); point++ {
			}
		})
	}
}

// crashOnce tells whether the book has such a point.
func crashOnce(t *testing.T, book state.BookName, point int) bool {
	w := newWorld(t)
	plan := w.begin(t, book)
	if _, err := w.engine.Vote(id, state.Vote{By: bob, Yes: true, Digest: plan.Digest}); err != nil {
		t.Fatal(err)
	}
	crashed := false
	for range 60 {
		ctx, kill := context.WithCancel(t.Context())
		if err := w.db.Close(); err != nil {
			t.Fatal(err)
		}
		writes := 0
		w.startCounting(t, func() {
			if writes++; writes == point && !crashed {
				crashed = true
				kill()
			}
		})
		r, err := w.engine.Advance(ctx, id)
		kill()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("point %d: %v", point, err)
		}
		if r.Failure != nil {
			t.Fatalf("point %d: %+v", point, r.Failure)
		}
		if err == nil && r.IsClosed() {
			break
		}
		if pulls := w.host.Pulls("acme/gitops"); len(pulls) == 1 && pulls[0].State == "open" {
			w.allow(t)
		}
		w.pass(30 * time.Second)
	}
	w.once(t, book, point)
	return crashed
}

// begin goes up to the plan of a book.
func (w *world) begin(t *testing.T, book state.BookName) Plan {
	t.Helper()
	if book == Change {
		w.live = 3
		w.open(t)
		return w.wish(t, "spec.replicas=6")
	}
	if book == Rollback {
		bad := w.commits(t, "scale to 6", strings.Replace(fmt.Sprintf(deployment, 6), "web:1", "web:1", 1))
		w.open(t)
		return w.undo(t, bad)
	}
	if book == Mixed {
		w.image = "web:2"
		w.open(t)
		return w.choose(t, Mixed, DoRevert, DoAdopt)
	}
	w.open(t)
	return w.decide(t, book)
}

func (w *world) startCounting(t *testing.T, wrote func()) {
	t.Helper()
	db, err := state.Open(w.path, func() time.Time { wrote(); return w.clock() })
	if err != nil {
		t.Fatal(err)
	}
	w.db = db
	w.engine = runbook.New(runbook.Config{DB: db, Books: Books(w.config), Log: w.config.Log, Now: w.clock})
}

func (w *world) once(t *testing.T, book state.BookName, point int) {
	t.Helper()
	pulls := w.host.Pulls("acme/gitops")
	switch book {
	case Adopt, Change:
		syncs := 0
		if book == Change {
			syncs = 1
		}
		if len(pulls) != 1 || pulls[0].State != "merged" || w.syncs != syncs || w.live != 6 {
			t.Errorf("point %d: pull requests %+v, %d syncs", point, pulls, w.syncs)
		}
		var history []git.Commit
		if err := w.repo.Fetch(t.Context()); err == nil {
			head, _, _ := w.repo.Branch(t.Context(), "main")
			history, _ = w.repo.History(t.Context(), head, "prod/web.yaml", 10)
		}
		if len(history) != 2 {
			t.Errorf("point %d: the file has %d commits, want 2", point, len(history))
		}
	case Rollback:
		if len(pulls) != 1 || pulls[0].State != "merged" || w.syncs != 1 || w.live != 3 {
			t.Errorf("point %d: pull requests %+v, %d syncs, %d replicas", point, pulls, w.syncs, w.live)
		}
	case Mixed:
		if len(pulls) != 1 || pulls[0].State != "merged" || w.syncs != 1 || w.live != 6 || w.image != "" {
			t.Errorf("point %d: pull requests %+v, %d syncs, %d replicas, image %q", point, pulls, w.syncs, w.live, w.image)
		}
	case Revert:
		if w.syncs != 1 || w.live != 3 {
			t.Errorf("point %d: %d syncs, %d replicas", point, w.syncs, w.live)
		}
	}
	r, err := w.db.Reconciliation(id)
	if err != nil || !r.IsClosed() {
		t.Errorf("point %d: not ended: %+v, %v", point, r.Votes, err)
	}
}
