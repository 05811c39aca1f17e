package rig

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"reconcilebot/cmd/lab/build"
)

// Programs are what has to be built before the lab can start, in the order in
// which it pays to build them.
func Programs(tree string) []build.Program {
	nested := func(name, pkg, ldflags string, usual time.Duration) build.Program {
		return build.Program{
			Name: name, Module: filepath.Join(tree, "deploy", "lab", name), Package: pkg,
			LDFlags: strings.TrimSpace("-s -w " + ldflags), Usual: usual,
		}
	}
	return []build.Program{
		nested("kubernetes", ".", "-X k8s.io/component-base/version.gitVersion=v1.34.4", 200*time.Second),
		nested("argocd", ".", "-X github.com/argoproj/argo-cd/v2/common.version=2.14.21", 300*time.Second),
		nested("kwok", "sigs.k8s.io/kwok/cmd/kwok", "", 70*time.Second),
		{Name: "reconcilebot", Module: tree, Package: "./cmd/reconcilebot", Usual: 120 * time.Second, Changing: true},
		// Argo CD's repo-server calls these for sources of their kind.
		nested("kustomize", "sigs.k8s.io/kustomize/kustomize/v5", "", 40*time.Second),
		nested("helm", "helm.sh/helm/v3/cmd/helm", "", 90*time.Second),
	}
}

// Tree is the folder of the source tree that the lab is started in.
func Tree(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the source tree: %w; is Go installed (https://go.dev/dl)?", err)
	}
	module := strings.TrimSpace(string(out))
	if module == "" || module == os.DevNull {
		return "", fmt.Errorf("this folder is in no Go module: start the lab from within reconcilebot's source tree")
	}
	tree := filepath.Dir(module)
	if found, _ := filepath.Glob(filepath.Join(tree, "deploy", "lab", "*", "go.mod")); len(found) == 0 {
		return "", fmt.Errorf("%s is not reconcilebot's source tree: start the lab from within it", tree)
	}
	return tree, nil
}

// crds is the folder of Argo CD's custom resource definitions, in its module.
func crds(ctx context.Context, tree string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/argoproj/argo-cd/v2")
	cmd.Dir = filepath.Join(tree, "deploy", "lab", "argocd")
	cmd.Env = append(cmd.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("find Argo CD's module: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "manifests", "crds"), nil
}
