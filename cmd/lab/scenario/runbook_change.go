package scenario

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"reconcilebot/bot/slacksim"
	"reconcilebot/cmd/lab/world"
)

// changeScenarios are those of changes that are made through Git to begin
// with.
func changeScenarios() []Scenario {
	return []Scenario{
		{Name: "runbook-change", Does: "an emergency change is typed, approved, merged and synced; nobody touches the cluster", play: changeThroughGit},
		{Name: "runbook-change-heals", Does: "the same where Argo CD heals by itself", play: func(t *story) { t.heals(); changeThroughGit(t) }},
		{Name: "runbook-change-refused", Does: "a value that the API server would not take is refused with its own words; the dry run changes nothing", play: changeRefused},
		{Name: "runbook-change-fix", Does: "the merge of a change waits where its sync would undo what was changed by hand", play: changeOverFix},
	}
}

const needed = "the checkout queue needs more pods"

// changes types a change, and waits for what its card says.
func (t *story) changes(words string, says ...string) {
	t.types("change", "change "+t.world.App+" deployment/"+t.world.App+" "+words+" because "+needed)
	t.do("the change's card", func(ctx context.Context) (err error) {
		t.card, err = t.see(ctx, "the card, which says "+strings.Join(says, ", "), func(m slacksim.Message) bool {
			return has(m, append([]string{t.world.App}, says...)...)
		})
		return err
	})
}

func changeThroughGit(t *story) {
	t.changes("spec.replicas=6", "Change through Git", "spec.replicas", "3 → 6", needed, t.world.Manifest(), "not tried: reconcilebot has no right to a dry run")
	t.do("nothing is changed yet", func(ctx context.Context) error { return t.replicas(ctx, 3) })
	t.approves()
	t.proposed()
	t.do("an expedited pull request", func(context.Context) error {
		body := t.rig.Git.Pulls(t.world)[0].Body
		for _, want := range []string{"Emergency change for", "Needed by", needed} {
			if !strings.Contains(body, want) {
				return fmt.Errorf("it does not say %q: %s", want, body)
			}
		}
		return nil
	})
	t.reviewed()
	t.merged()
	t.stands(6)
	t.said("the record", "changed through Git", needed, "bob", "carol", "Synced, Healthy")
	t.do("Git has it", func(ctx context.Context) error {
		return errors.Join(t.inGit(ctx, strings.Replace(t.world.Text(), "replicas: 3", "replicas: 6", 1)), t.spent())
	})
}

// fenced gives the bot the right to dry runs in the scenario's namespace, as
// deploy/policy says, and waits until the fence stands.
func (t *story) fenced() {
	const bot = "system:serviceaccount:reconcilebot:reconcilebot"
	t.do("the right to dry runs", func(ctx context.Context) error {
		if out, err := t.admin(ctx, "apply", "--server-side", "-f", filepath.Join(t.rig.Source(), "deploy", "policy", "dry-run.yaml")); err != nil {
			return fmt.Errorf("kubectl apply: %w: %s", err, out)
		}
		if out, err := t.admin(ctx, "-n", t.world.Namespace(), "create", "rolebinding", "reconcilebot-dry-run", "--clusterrole", "reconcilebot-dry-run", "--serviceaccount", "reconcilebot:reconcilebot"); err != nil {
			return fmt.Errorf("bind the role: %w: %s", err, out)
		}
		patch := []string{"-n", t.world.Namespace(), "--as", bot, "patch", "deployment", t.world.App, "--type=merge", "-p", `{"metadata":{"annotations":{"fence":"tried"}}}`}
		// The API server takes up a new policy after a moment.
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(200 * time.Millisecond) {
			out, err := t.admin(ctx, patch...)
			if err != nil && strings.Contains(out, "may try changes in a dry run, and not make them") {
				break
			}
			if time.Now().After(end) {
				return fmt.Errorf("the bot's real patch was not refused by the policy: %v %s", err, out)
			}
		}
		if out, err := t.admin(ctx, append(patch, "--dry-run=server")...); err != nil {
			return fmt.Errorf("its dry run was refused: %w: %s", err, out)
		}
		out, err := t.admin(ctx, "-n", t.world.Namespace(), "annotate", "deployment", t.world.App, "fence-")
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	})
}

func changeRefused(t *story) {
	t.fenced()
	t.changes("spec.replicas=-1", "not proposed", "The API server would not take this", "must be greater than or equal to 0")
	t.do("nothing happened", func(ctx context.Context) error {
		if n := len(t.rig.Git.Pulls(t.world)); n != 0 {
			return fmt.Errorf("%d pull requests were opened", n)
		}
		return t.replicas(ctx, 3)
	})
	t.changes("spec.replicas=5", "Waiting for 1 approval", "3 → 5", "the API server takes it, as a dry run shows")
	t.stands(3)
	t.do("declined", func(ctx context.Context) error {
		return t.asked(ctx, world.AppOwner, "Decline", "Why not?", "five do not fit the quota")
	})
	t.shows("declined", "bob declined this plan")
}

func changeOverFix(t *story) {
	t.scaled()
	t.drifts()
	t.changes("image=ghcr.io/acme/payments-web:2.14.4", "Waiting for 1 approval", "2.14.4")
	t.approves()
	t.proposed()
	t.reviewed()
	t.shows("the merge waits", "not merged yet", "6 → 3", "Accept")
	t.stands(6)
	t.do("it is accepted", func(ctx context.Context) error { return t.press(ctx, world.AppOwner, "Accept: "+t.world.App) })
	t.merged()
	t.said("the record", "changed through Git", "2.14.4")
	t.stands(3)
}
