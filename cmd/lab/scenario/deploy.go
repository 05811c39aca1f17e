package scenario

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// deployApplies has the API server judge deploy/base as a user's would, and
// asks it what the bot's ServiceAccount may do.
func deployApplies(t *story) {
	t.further = -1 // there is no reconciliation in it
	t.do("deploy/base is valid", func(ctx context.Context) error {
		out, err := t.admin(ctx, "apply", "--server-side", "--dry-run=server", "-k", filepath.Join(t.rig.Source(), "deploy", "base"))
		if err != nil {
			return fmt.Errorf("kubectl apply: %w: %s", err, out)
		}
		for _, object := range []string{"deployment.apps/reconcilebot", "networkpolicy.networking.k8s.io/reconcilebot",
			"persistentvolumeclaim/reconcilebot", "service/reconcilebot", "configmap/reconcilebot-", "serviceaccount/reconcilebot",
			"clusterrole.rbac.authorization.k8s.io/reconcilebot", "namespace/reconcilebot"} {
			if !strings.Contains(out, object) {
				return fmt.Errorf("kubectl apply names no %s; it said:\n%s", object, out)
			}
		}
		// PodSecurity warns of pods that it would refuse later.
		if strings.Contains(out, "Warning") {
			return fmt.Errorf("the API server warns:\n%s", out)
		}
		return nil
	})
	t.do("the bot may read what it needs", func(ctx context.Context) error {
		return t.may(ctx, "yes", "get", "deployments.apps", "statefulsets.apps", "daemonsets.apps", "replicasets.apps",
			"controllerrevisions.apps", "configmaps", "services", "events", "horizontalpodautoscalers.autoscaling",
			"cronjobs.batch", "ingresses.networking.k8s.io", "applications.argoproj.io", "appprojects.argoproj.io")
	})
	t.do("the bot may not read Secrets", func(ctx context.Context) error {
		return errors.Join(t.may(ctx, "no", "get", "secrets"), t.may(ctx, "no", "list", "secrets"), t.may(ctx, "no", "watch", "secrets"))
	})
	t.do("the bot may not write", func(ctx context.Context) error {
		return errors.Join(
			t.may(ctx, "no", "patch", "deployments.apps", "deployments.apps/scale", "configmaps", "applications.argoproj.io"),
			t.may(ctx, "no", "create", "pods/exec", "serviceaccounts/token", "clusterrolebindings.rbac.authorization.k8s.io"))
	})
}

// may checks what the API server answers for the bot's ServiceAccount, in all
// namespaces.
func (t *story) may(ctx context.Context, want, verb string, resources ...string) error {
	for _, resource := range resources {
		name, part, _ := strings.Cut(resource, "/")
		out, err := t.admin(ctx, "auth", "can-i", verb, name, "--subresource", part,
			"--all-namespaces", "--as", "system:serviceaccount:reconcilebot:reconcilebot")
		// It exits with 1 for no; the answer is the last line.
		lines := strings.Fields(out)
		if len(lines) == 0 || lines[len(lines)-1] != want {
			return fmt.Errorf("may the bot %s %s: want %s, got %q (%v)", verb, resource, want, out, err)
		}
	}
	return nil
}

// admin runs kubectl as the cluster's administrator.
func (t *story) admin(ctx context.Context, args ...string) (string, error) {
	args = append([]string{"--kubeconfig", t.rig.Kube.Kubeconfig("admin")}, args...)
	out, err := exec.CommandContext(ctx, t.rig.Kube.Kubectl, args...).CombinedOutput()
	return string(out), err
}
