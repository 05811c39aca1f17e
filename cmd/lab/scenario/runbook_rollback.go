package scenario

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"reconcilebot/bot/slacksim"
	"reconcilebot/cmd/lab/world"
)

// rollbackScenarios are those of what was merged and turns out to be wrong.
func rollbackScenarios() []Scenario {
	return []Scenario{
		{Name: "runbook-rollback", Does: "an adopted change is undone through Git again, from its record, although automated sync is on", play: rollBack},
		{Name: "runbook-rollback-commit", Does: "a commit that somebody made is undone by its name; a later commit to the same file stays", play: rollBackCommit},
		{Name: "runbook-rollback-overtaken", Does: "a commit whose value was changed again since is refused, with what stands in the way", play: rollBackOvertaken},
	}
}

const wrong = "six replicas exhaust the database"

// undoneThroughGit follows a rollback from its approval to 3 replicas.
func (t *story) undoneThroughGit() {
	t.approves()
	t.do("its pull request", func(ctx context.Context) error {
		return t.rig.Git.Until(ctx, "an open pull request on the Git host", func() bool {
			for _, pull := range t.rig.Git.Pulls(t.world) {
				if pull.State == "open" && strings.Contains(pull.Title, "roll back") {
					t.pull = pull.Number
					return true
				}
			}
			return false
		})
	})
	t.reviewed()
	t.merged()
	t.stands(3)
}

func rollBack(t *story) {
	scaledAdopt(t)
	t.shows("the card with the record", "adopted into Git")
	t.do("Roll back", func(ctx context.Context) error {
		return t.asked(ctx, world.OnCall, "Roll back", "Why is it undone?", wrong)
	})
	t.further++
	t.do("the rollback's plan", func(ctx context.Context) (err error) {
		t.card, err = t.see(ctx, "the plan of the rollback", func(m slacksim.Message) bool {
			_, approve := m.Button("Approve")
			return approve && has(m, "Roll back", "Undoes", "6 → 3", wrong, "hotfix(reconcile)")
		})
		return err
	})
	t.undoneThroughGit()
	t.said("the record", "rolled back through Git", wrong, "bob", "carol")
	t.do("Git is as it was", func(ctx context.Context) error {
		return errors.Join(t.inGit(ctx, t.world.Text()), t.spent())
	})
}

// commits makes a commit as a platform engineer, and waits for Argo CD.
func (t *story) commits(message, text string) (sha string) {
	t.do(message, func(ctx context.Context) (err error) {
		if sha, err = t.rig.Git.Commit(t.world, world.Platform, message, map[string]string{t.world.Manifest(): text}); err != nil {
			return err
		}
		// Argo CD asks the Git host every three minutes, and now.
		if err := t.rig.Kube.Merge(ctx, t.world.ApplicationObject(), `{"metadata":{"annotations":{"argocd.argoproj.io/refresh":"normal"}}}`); err != nil {
			return err
		}
		_, err = t.rig.Kube.Until(ctx, t.world.ApplicationObject(), "Synced and Healthy at "+sha, world.InOrderAt(sha))
		return err
	})
	return sha
}

func rollBackCommit(t *story) {
	six := strings.Replace(t.world.Text(), "replicas: 3", "replicas: 6", 1)
	bad := t.commits("Scale to six", six)
	t.commits("Keep more history", strings.Replace(six, "revisionHistoryLimit: 5", "revisionHistoryLimit: 7", 1))
	t.stands(6)
	t.types("rollback", fmt.Sprintf("rollback %s %s because %s", t.world.App, bad[:min(len(bad), 10)], wrong))
	t.do("plan", func(ctx context.Context) (err error) {
		t.card, err = t.see(ctx, "the plan of the rollback", func(m slacksim.Message) bool {
			return has(m, "Waiting for 1 approval", "Undoes  commit", "Scale to six", "6 → 3")
		})
		return err
	})
	t.undoneThroughGit()
	t.said("the record", "rolled back through Git", "Scale to six")
	t.do("the later commit stays", func(ctx context.Context) error {
		return t.inGit(ctx, strings.Replace(t.world.Text(), "revisionHistoryLimit: 5", "revisionHistoryLimit: 7", 1))
	})
}

func rollBackOvertaken(t *story) {
	bad := t.commits("Scale to six", strings.Replace(t.world.Text(), "replicas: 3", "replicas: 6", 1))
	t.commits("Scale to eight", strings.Replace(t.world.Text(), "replicas: 3", "replicas: 8", 1))
	t.types("rollback", fmt.Sprintf("rollback %s %s because %s", t.world.App, bad, wrong))
	t.said("refused", "A later commit changed the same again", "is 8 by now")
	t.stands(8)
}
