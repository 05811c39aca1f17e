package scenario

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"reconcilebot/bot/slacksim"
	"reconcilebot/cmd/lab/world"
)

// fieldScenarios are those of decisions for each change.
func fieldScenarios() []Scenario {
	return []Scenario{
		{Name: "runbook-per-field", Does: "of two changes made by two people one is adopted and the other reverted, in one reconciliation", play: perField},
		{Name: "runbook-some-adopted", Does: "one of two changes is adopted by name; the other stays, and the record says so", play: someAdopted},
		{Name: "runbook-added-by-hand", Does: "a field that no sync removes is reverted by a person, with the command that the plan gives, and that is waited for", play: addedByHand},
	}
}

const hotfix = "ghcr.io/acme/payments-web:2.14.4-hotfix"

// twice changes two fields, by two people, and looks.
func (t *story) twice() {
	t.scaled()
	t.do("kubectl set image", func(ctx context.Context) error {
		return t.kubectl(ctx, world.AppOwner, "set", "image", "deployment/"+t.world.App, "web="+hotfix)
	})
	t.drifts()
	t.asks()
	t.do("card", func(ctx context.Context) (err error) {
		t.card, err = t.see(ctx, "the card with both changes", func(m slacksim.Message) bool {
			return has(m, t.world.App, "3 → 6", hotfix, "alice@example.com", "bob@example.com")
		})
		return err
	})
}

// image waits until the Deployment runs an image.
func (t *story) image(want string) {
	t.do("image "+want, func(ctx context.Context) error {
		_, err := t.rig.Kube.Until(ctx, t.world.DeploymentObject(), "image "+want, func(d *unstructured.Unstructured) bool {
			list, _, _ := unstructured.NestedSlice(d.Object, "spec", "template", "spec", "containers")
			first, _ := list[0].(map[string]any)
			return first["image"] == want
		})
		return err
	})
}

func perField(t *story) {
	t.twice()
	t.do("a choice for each", func(ctx context.Context) error {
		t.screen.Lock()
		defer t.screen.Unlock()
		p, err := t.opens(ctx, world.OnCall, "Decide per field")
		if err != nil {
			return err
		}
		// The riskier one comes first; the card has them in the same order.
		text := reads(t.card)
		fields := map[string]string{"field/0": "revert", "field/1": "adopt"}
		if strings.Index(text, "spec.replicas") < strings.Index(text, hotfix) {
			fields = map[string]string{"field/0": "adopt", "field/1": "revert"}
		}
		fields["Why?"] = "the pods are needed, the image is not"
		inv, err := p.Submit(ctx, "", fields)
		if err == nil && len(inv.Errors) > 0 {
			err = fmt.Errorf("it was refused: %v", inv.Errors)
		}
		return err
	})
	t.shows("plan", "Waiting for 1 approval", "Adopts", "Undoes", "nothing is pruned", "not alice", "bob, who made the change")
	t.do("bob's yes does not count", func(ctx context.Context) error {
		if err := t.press(ctx, world.AppOwner, "Approve"); err != nil {
			return err
		}
		return t.told(ctx, world.AppOwner, "the refusal", "can't approve this")
	})
	t.presses(world.Platform, "Approve")
	t.pushed()
	t.opened()
	t.reviewed()
	t.merged()
	t.said("the record", "in part adopted into Git, in part reverted", "3 → 6", "Left open  nothing")
	t.stands(6)
	t.image("ghcr.io/acme/payments-web:2.14.3")
	t.do("Git has the one", func(ctx context.Context) error {
		return errors.Join(t.inGit(ctx, strings.Replace(t.world.Text(), "replicas: 3", "replicas: 6", 1)), t.spent())
	})
}

func someAdopted(t *story) {
	t.do("automated sync off", func(ctx context.Context) error { return t.policy(ctx, t.world.App, `{"automated":null}`) })
	t.twice()
	t.types("adopt one", "adopt "+t.world.App+" deployment/"+t.world.App+" spec.replicas because "+needed)
	t.shows("plan", "Waiting for 1 approval", "Adopts", "3 → 6", "Stays as it is", hotfix)
	t.approves()
	t.proposed()
	t.reviewed()
	t.said("the record", "adopted into Git", "Left open  1 change left, undecided", hotfix)
	t.stands(6)
	t.image(hotfix)
}

var command = regexp.MustCompile(`kubectl patch deployment \S+ -n (\S+) --type=json -p '([^']+)'`)

func addedByHand(t *story) {
	t.do("kubectl label", func(ctx context.Context) error {
		return t.kubectl(ctx, world.OnCall, "label", "deployment/"+t.world.App, "debug=on")
	})
	t.asks()
	t.do("card", func(ctx context.Context) (err error) {
		t.card, err = t.see(ctx, "the card with the label", func(m slacksim.Message) bool {
			return has(m, t.world.App, "metadata.labels.debug", "invisible to Argo CD", "Reverting takes a hand")
		})
		return err
	})
	t.reverts()
	t.approves()
	var patch string
	t.do("the command is waited for", func(ctx context.Context) error {
		m, err := t.see(ctx, "the command", func(m slacksim.Message) bool {
			return m.TS == t.card.TS && has(m, "waiting for somebody to run") && command.MatchString(reads(m))
		})
		if err == nil {
			patch = command.FindStringSubmatch(reads(m))[2]
		}
		return err
	})
	t.do("alice runs it", func(ctx context.Context) error {
		return t.kubectl(ctx, world.OnCall, "patch", "deployment", t.world.App, "--type=json", "-p", patch)
	})
	t.said("the record", "reverted to Git", "metadata.labels.debug")
	t.do("the label is gone", func(ctx context.Context) error {
		d, err := t.rig.Kube.Get(ctx, t.world.DeploymentObject())
		if err == nil && d.GetLabels()["debug"] != "" {
			err = fmt.Errorf("labels %v", d.GetLabels())
		}
		return err
	})
}
