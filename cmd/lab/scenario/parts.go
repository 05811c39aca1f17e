package scenario

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"reconcilebot/bot/slacksim"
	"reconcilebot/cmd/lab/world"
)

const reason = "checkout queue backing up, 3 pods saturated"

// scaled is how every case begins: by hand, from 3 to 6.
func (t *story) scaled() {
	t.do("kubectl scale", func(ctx context.Context) error {
		return t.kubectl(ctx, world.OnCall, "scale", "deployment/"+t.world.App, "--replicas=6")
	})
}

// drifts waits for Argo CD to see the change.
func (t *story) drifts() {
	t.do("OutOfSync", func(ctx context.Context) error {
		_, err := t.rig.Kube.Until(ctx, t.world.ApplicationObject(), "OutOfSync", world.OutOfSync)
		return err
	})
}

// asks types the command, as the on-call engineer.
func (t *story) asks() {
	var inv *slacksim.Invocation
	t.do("command", func(ctx context.Context) (err error) {
		inv, err = t.as(world.OnCall).Slash(ctx, "/reconcile drift "+t.world.App)
		return err
	})
	if inv != nil {
		t.note("command to acknowledgement", inv.AckLatency)
	}
}

// found waits for the card that shows the change, who made it and where it lives.
func (t *story) found() {
	t.do("card", func(ctx context.Context) (err error) {
		t.card, err = t.see(ctx, "the card with the change, its author and its place in Git", func(m slacksim.Message) bool {
			_, adopt := m.Button("Adopt into Git")
			return adopt && has(m, t.world.App, "3 → 6", "alice@example.com", t.world.Manifest())
		})
		if err != nil {
			return err
		}
		return t.shares(ctx)
	})
}

// decides presses a button and gives the reason.
func (t *story) decides(button, label, why string) {
	t.do("reason", func(ctx context.Context) error {
		return t.asked(ctx, world.OnCall, button, label, why)
	})
	t.do("plan", func(ctx context.Context) (err error) {
		t.card, err = t.see(ctx, "the plan that waits for approval", func(m slacksim.Message) bool {
			_, approve := m.Button("Approve")
			return approve && has(m, t.world.App, why)
		})
		return err
	})
}

func (t *story) adopts() { t.decides("Adopt into Git", "Why was Git bypassed?", reason) }
func (t *story) reverts() {
	t.decides("Revert cluster", "Why is the change undone?", "the queue is empty again")
}

// approves is the application owner's yes, up to Slack's word that it was taken.
func (t *story) approves() {
	t.do("approval", func(ctx context.Context) error { return t.press(ctx, world.AppOwner, "Approve") })
}

// pushed waits for the branch on the Git host.
func (t *story) pushed() {
	t.do("branch pushed", func(ctx context.Context) error {
		return t.rig.Git.Until(ctx, "the branch on the Git host", func() bool { return t.rig.Git.Pushes(t.world) > 0 })
	})
}

// opened waits for the pull request on the Git host.
func (t *story) opened() {
	t.do("pull request open", func(ctx context.Context) error {
		return t.rig.Git.Until(ctx, "the pull request on the Git host", func() bool {
			pulls := t.rig.Git.Pulls(t.world)
			if len(pulls) > 0 {
				t.pull = pulls[0].Number
			}
			return len(pulls) > 0
		})
	})
}

var pullLink = regexp.MustCompile(`/pull/(\d+)`)

// linked waits until the channel shows who approved and links the pull request.
func (t *story) linked() {
	t.do("approval and pull request on the card", func(ctx context.Context) error {
		_, err := t.see(ctx, "the approval in the thread or on the card", func(m slacksim.Message) bool { return has(m, "pproved by bob") })
		if err != nil {
			return err
		}
		_, err = t.see(ctx, "a link to the pull request", func(m slacksim.Message) bool {
			texts := [][]byte{[]byte(m.Text)}
			for _, b := range m.Blocks {
				texts = append(texts, b.Raw)
			}
			for _, text := range texts {
				if found := pullLink.FindSubmatch(text); found != nil && string(found[1]) == strconv.Itoa(t.pull) {
					return true
				}
			}
			return false
		})
		return err
	})
}

// proposed is what follows an approval, up to the review.
func (t *story) proposed() {
	t.pushed()
	t.opened()
	t.linked()
}

// reviewed is the code owner's approval on the Git host.
func (t *story) reviewed() {
	t.do("review", func(ctx context.Context) error {
		return t.rig.Git.Approve(ctx, t.world, t.pull, world.Platform)
	})
}

// merged waits for the merge and then for Argo CD, which applies it.
func (t *story) merged() {
	var commit string
	t.do("merged", func(ctx context.Context) error {
		return t.rig.Git.Until(ctx, "the merge on the Git host", func() bool {
			for _, pull := range t.rig.Git.Pulls(t.world) {
				if pull.Number == t.pull && pull.State == "merged" {
					commit = pull.MergeSHA
				}
			}
			return commit != ""
		})
	})
	t.do("synced", func(ctx context.Context) error {
		_, err := t.rig.Kube.Until(ctx, t.world.ApplicationObject(), "Synced and Healthy at the merged commit", world.InOrderAt(commit))
		return err
	})
}

// recorded waits for the record, which says everything that an auditor asks.
func (t *story) recorded(says ...string) {
	t.do("record", func(ctx context.Context) error {
		says = append([]string{t.world.App, "reconciled", t.world.Incident, "alice@example.com", "bob", "Synced", "Healthy"}, says...)
		_, err := t.see(ctx, "a record that says "+strings.Join(says, ", "), func(m slacksim.Message) bool { return has(m, says...) })
		return err
	})
}

// adopted checks the end of an adoption: in the cluster, in Git, and nothing else.
func (t *story) adopted() {
	t.merged()
	t.recorded("adopted into Git", reason, "#"+strconv.Itoa(t.pull), "carol")
	t.do("cluster and Git agree", func(ctx context.Context) error {
		if err := t.replicas(ctx, 6); err != nil {
			return err
		}
		want := strings.Replace(t.world.Text(), "replicas: 3", "replicas: 6", 1)
		return errors.Join(t.inGit(ctx, want), t.spent())
	})
	t.do("the merged commit counts as synced", func(ctx context.Context) error {
		_, err := t.rig.Kube.Until(ctx, t.world.ApplicationObject(), "last synced at the revision it is compared with", world.Attempted)
		return err
	})
	t.do("one pull request", func(context.Context) error {
		if n := len(t.rig.Git.Pulls(t.world)); n != 1 {
			return fmt.Errorf("%d pull requests were opened", n)
		}
		return nil
	})
}

// inGit checks the manifest on main, to the byte.
func (t *story) inGit(ctx context.Context, want string) error {
	got, err := t.rig.Git.File(ctx, t.world, t.world.Manifest())
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("%s on main is not what it should be; it says:\n%s", t.world.Manifest(), got)
	}
	return nil
}

// clean checks what holds at the end of every case: one card in the channel
// for each reconciliation, and nothing done that Slack would object to.
func (t *story) clean(context.Context) error {
	cards := 0
	for _, m := range t.rig.Slack.Messages(t.world.ChannelID) {
		if (m.ThreadTS == "" || m.ThreadTS == m.TS) && has(m, t.world.App) && m.BotID != "" {
			cards++
		}
	}
	if want := 1 + t.further; cards != want {
		return fmt.Errorf("%d cards are in the channel, want %d:\n%s", cards, want, t.transcript())
	}
	if findings := t.rig.Slack.Findings(); len(findings) > 0 {
		return fmt.Errorf("the bot did what Slack objects to: %v", findings)
	}
	return nil
}
