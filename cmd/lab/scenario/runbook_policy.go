package scenario

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"reconcilebot/cmd/lab/world"
)

// policyScenarios are those of deploy/policy.
func policyScenarios() []Scenario {
	return []Scenario{{Name: "runbook-policy-git-only", Does: "the admission policy warns of a manual change, then refuses it, and lets Argo CD and who holds the break-glass role pass", play: gitOnly}}
}

// scales scales by hand until the answer is the expected one: a policy and a
// label take effect after a moment.
func (t *story) scales(stage, replicas string, ok bool, says string) {
	t.do(stage, func(ctx context.Context) error {
		args := []string{"--kubeconfig", t.rig.Kube.Kubeconfig(world.OnCall), "--namespace", t.world.Namespace(), "scale", "deployment/" + t.world.App, "--replicas=" + replicas}
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(300 * time.Millisecond) {
			out, err := exec.CommandContext(ctx, t.rig.Kube.Kubectl, args...).CombinedOutput()
			if (err == nil) == ok && strings.Contains(string(out), says) {
				return nil
			}
			if time.Now().After(end) {
				return fmt.Errorf("kubectl scale: %w: %s", err, out)
			}
		}
	})
}

func (t *story) administers(stage string, args ...string) {
	t.do(stage, func(ctx context.Context) error {
		out, err := t.admin(ctx, args...)
		if err != nil {
			err = fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, out)
		}
		return err
	})
}

func gitOnly(t *story) {
	const refusal = "are changed through Git"
	namespace := t.world.Namespace()
	t.further = -1 // there is no reconciliation in it
	t.administers("the policy", "apply", "--server-side", "-f", filepath.Join(t.rig.Source(), "deploy", "policy", "git-only.yaml"))
	t.administers("audit", "label", "namespace", namespace, "reconcilebot/git-only=audit")
	t.scales("warned", "4", true, refusal)
	t.administers("enforce", "label", "namespace", namespace, "reconcilebot/git-only=enforce", "--overwrite")
	t.scales("refused", "5", false, refusal)
	t.commits("Scale to six", strings.Replace(t.world.Text(), "replicas: 3", "replicas: 6", 1))
	t.stands(6)
	t.administers("break glass", "-n", namespace, "create", "rolebinding", "break-glass", "--clusterrole", "reconcilebot-break-glass", "--user", "alice@example.com")
	t.scales("let pass", "7", true, "scaled")
	t.administers("taken away", "-n", namespace, "delete", "rolebinding", "break-glass")
	t.scales("refused again", "8", false, refusal)
}
