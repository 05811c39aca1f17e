package systems

import (
	"context"
	"os"
	"testing"
	"time"
)

// TestKubernetesAndArgoCD needs built programs, which `go run ./cmd/lab` makes.
func TestKubernetesAndArgoCD(t *testing.T) {
	if os.Getenv("LABBIN") == "" {
		t.Skip()
	}
	dir := t.TempDir()
	begun := time.Now()
	k, ctx := NewKeeper(t.Context(), dir)
	defer k.Close()
	kube, err := StartKubernetes(ctx, k, KubernetesConfig{Dir: dir + "/k8s", Kubernetes: "/tmp/labbin/kubernetes", Kwok: "/tmp/labbin/kwok", People: []Person{{"alice", "alice@example.com", []string{"sre"}}}})
	if err != nil {
		t.Fatal(err, context.Cause(ctx))
	}
	t.Log("kube", time.Since(begun))
	a, err := StartArgoCD(ctx, k, ArgoCDConfig{Dir: dir + "/argo", Program: "/tmp/labbin/argocd2", CRDs: "/root/go/pkg/mod/github.com/argoproj/argo-cd/v2@v2.14.21/manifests/crds", Kube: kube})
	if err != nil {
		t.Fatal(err, context.Cause(ctx))
	}
	t.Log("argo", time.Since(begun))
	tok, err := a.Token(ctx, "reconcilebot")
	t.Log(len(tok), err, time.Since(begun))
	if os.Getenv("HOLD") != "" {
		t.Log(dir)
		<-ctx.Done()
		t.Fatal(context.Cause(ctx))
	}
}
