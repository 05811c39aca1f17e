package book

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/forge/githubsim"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// commits puts the manifest into Git, has the controller apply it, and answers
// with the commit.
func (w *world) commits(t *testing.T, message, content string) string {
	t.Helper()
	sha, err := w.host.Commit("acme/gitops", "main", githubsim.Change{Author: "bob", Message: message, Files: map[string]string{"prod/web.yaml": content}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Refresh(t.Context(), argocd.Ref{}, false); err != nil {
		t.Fatal(err)
	}
	replicas, err := w.replicasAt(t.Context(), sha)
	if err != nil {
		t.Fatal(err)
	}
	w.live = int(replicas)
	return sha
}

func (w *world) undoes(t *testing.T, commit string) state.Reconciliation {
	t.Helper()
	if _, err := w.engine.Decide(id, Rollback, state.Decision{By: alice, Reason: "it exhausts the database", Delivery: "d", Choice: UndoOf(commit)}); err != nil {
		t.Fatal(err)
	}
	return w.advance(t)
}

func (w *world) undo(t *testing.T, commit string) Plan {
	t.Helper()
	r := w.undoes(t, commit)
	plan, ok := PlanIn(r)
	if !ok {
		t.Fatalf("no plan: %+v", r.Failure)
	}
	return plan
}

// A later commit to the same file stays.
func TestARollbackIsTheInverseThroughGit(t *testing.T) {
	w := newWorld(t)
	w.auto = true
	bad := w.commits(t, "scale to 6", fmt.Sprintf(deployment, 6))
	w.commits(t, "another image", strings.Replace(fmt.Sprintf(deployment, 6), "web:1", "web:2", 1))
	w.open(t)
	plan := w.undo(t, bad[:9])
	if c := plan.Seen.Drift.Changes; len(c) != 1 || c[0].Path.String() != "spec.replicas" || c[0].Op != manifest.Set || c[0].Object != web || plan.Of.SHA != bad || plan.Of.Subject != "scale to 6" {
		t.Fatalf("plan = %+v of %+v", c, plan.Of)
	}
	w.approve(t, plan.Digest, bob)
	pr := w.host.Pulls("acme/gitops")[0]
	if pr.Title != "hotfix(reconcile): roll back "+bad[:7]+", scale payments/web to 3 replicas for INC-1234" || !strings.Contains(pr.Body, "this undoes commit "+bad+" (scale to 6)") {
		t.Errorf("%q\n%s", pr.Title, pr.Body)
	}
	w.allow(t)
	if r := w.finish(t); r.Outcome != "rolled back" || w.live != 3 || w.syncs != 1 {
		t.Errorf("ended %q %+v with %d replicas after %d syncs", r.Outcome, r.Failure, w.live, w.syncs)
	}
	if image, _ := w.imageAt(t.Context(), w.seen); image != "web:2" {
		t.Errorf("the later commit is gone: image %q", image)
	}
}

func TestWhatCanNotBeRolledBack(t *testing.T) {
	service := "\n---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n"
	for name, c := range map[string]struct {
		commits []string
		say     string
	}{
		"changed again since": {[]string{fmt.Sprintf(deployment, 6), fmt.Sprintf(deployment, 8)}, "A later commit changed the same again: spec.replicas of Deployment web is 8 by now."},
		"a comment":           {[]string{"# hello\n" + fmt.Sprintf(deployment, 3)}, "changes nothing that payments-web renders"},
		"a whole object":      {[]string{fmt.Sprintf(deployment, 3) + service}, "adds or takes away Service web"},
		"no such commit":      {nil, "There is no commit deadbeef in acme/gitops"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			first := "deadbeef"
			for i, content := range c.commits {
				if sha := w.commits(t, "a commit", content); i == 0 {
					first = sha
				}
			}
			w.open(t)
			if r := w.undoes(t, first); r.Failure == nil || !strings.Contains(r.Failure.Say, c.say) {
				t.Errorf("failure = %+v, want %q", r.Failure, c.say)
			}
		})
	}
}

func TestARollbackOfWhatIsBackAlreadyHasNothingToDo(t *testing.T) {
	w := newWorld(t)
	bad := w.commits(t, "scale to 6", fmt.Sprintf(deployment, 6))
	w.commits(t, "back to 3", fmt.Sprintf(deployment, 3))
	w.open(t)
	if r := w.undoes(t, bad); r.Outcome != "nothing to do" {
		t.Errorf("ended %q %+v", r.Outcome, r.Failure)
	}
}

// retrying is a controller whose sync of the bad commit never ends by itself.
type retrying struct {
	*world
	ended int
}

func (c *retrying) Terminate(context.Context, argocd.Ref) error {
	c.ended++
	c.last = &argocd.Operation{Phase: "Failed", Revision: c.last.Revision}
	return nil
}

func TestARetryingSyncOfTheBadCommitIsEnded(t *testing.T) {
	w := newWorld(t)
	c := &retrying{world: w}
	w.config.Clusters = map[string]Cluster{"eu": {Survey: w, Argo: c}}
	if err := w.db.Close(); err != nil {
		t.Fatal(err)
	}
	w.start(t)
	bad := w.commits(t, "scale to 6", fmt.Sprintf(deployment, 6))
	w.open(t)
	w.approve(t, w.undo(t, bad).Digest, bob)
	w.last = &argocd.Operation{Phase: "Running", Revision: bad, Retrying: true, StartedAt: w.clock().Add(-time.Minute)}
	w.allow(t)
	if r := w.finish(t); r.Outcome != "rolled back" || c.ended != 1 || w.live != 3 {
		t.Errorf("ended %q %+v after %d terminations, %d replicas", r.Outcome, r.Failure, c.ended, w.live)
	}
}
