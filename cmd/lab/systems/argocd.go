package systems

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/alicebob/miniredis/v2"
	"golang.org/x/crypto/bcrypt"
	"golang.org/x/sync/errgroup"
)

// ArgoCDConfig says what Argo CD to start.
type ArgoCDConfig struct {
	Dir     string // an empty folder
	Program string // path of the program that is every part of Argo CD
	Tools   []string
	CRDs    string // folder with its custom resource definitions
	Kube    *Kubernetes
}

// ArgoCD is a running Argo CD, in the namespace argocd.
type ArgoCD struct {
	URL      string // of its API server
	CLI      string // path of the argocd command line
	Password string // the admin's

	redis   *miniredis.Miniredis
	parts   []*Process
	program string
	dir     string
	env     []string
	ports   []int
	keeper  *Keeper
	kube    *Kubernetes
}

// StartArgoCD installs Argo CD, as its own manifests would, and starts it. It
// returns when its API answers.
func StartArgoCD(ctx context.Context, k *Keeper, c ArgoCDConfig) (*ArgoCD, error) {
	ports, err := Ports(4)
	if err != nil {
		return nil, err
	}
	redis := miniredis.NewMiniRedis()
	if err := redis.StartAddr("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("start Redis: %w", err)
	}
	a := &ArgoCD{
		URL: "http://" + local(ports[0]), Password: Secret(),
		redis: redis, dir: c.Dir, ports: ports, keeper: k, kube: c.Kube, program: c.Program,
	}
	if err := a.folders(c); err != nil {
		return nil, fmt.Errorf("prepare Argo CD's folder: %w", err)
	}
	if err := a.install(ctx, c.CRDs); err != nil {
		return nil, fmt.Errorf("install Argo CD: %w", err)
	}
	return a, a.Start(ctx)
}

// folders makes what the container image would have: the links by which its
// parts are started, and places for temporary files.
func (a *ArgoCD) folders(c ArgoCDConfig) error {
	for _, dir := range []string{"tmp", "ssh", "tls", "gpg"} {
		if err := os.MkdirAll(filepath.Join(a.dir, dir), 0o700); err != nil {
			return err
		}
	}
	for _, name := range []string{"argocd", "argocd-server", "argocd-repo-server", "argocd-application-controller"} {
		if _, err := link(a.dir, name, a.program); err != nil {
			return err
		}
	}
	for _, tool := range c.Tools {
		if _, err := link(a.dir, filepath.Base(tool), tool); err != nil {
			return err
		}
	}
	bin := filepath.Join(a.dir, "bin")
	a.CLI = filepath.Join(bin, "argocd")
	a.env = []string{
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"),
		"TMPDIR=" + filepath.Join(a.dir, "tmp"),
		"HOME=" + a.dir,
		"ARGOCD_GPG_ENABLED=false",
		"ARGOCD_SSH_DATA_PATH=" + filepath.Join(a.dir, "ssh"),
		"ARGOCD_TLS_DATA_PATH=" + filepath.Join(a.dir, "tls"),
		"ARGOCD_ASK_PASS_SOCK=" + filepath.Join(a.dir, "askpass.sock"),
		// Destinations name https://kubernetes.default.svc, as they do in most
		// installations, and reach this cluster by the kubeconfig.
		"ARGOCD_FAKE_IN_CLUSTER=true",
		"ARGOCD_RECONCILIATION_TIMEOUT=180s",
	}
	return nil
}

// install applies the custom resources, the namespace and the configuration.
func (a *ArgoCD) install(ctx context.Context, crds string) error {
	hash, err := bcrypt.GenerateFromPassword([]byte(a.Password), bcrypt.MinCost)
	if err != nil {
		return err
	}
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error {
		return a.kube.Apply(ctx, fmt.Sprintf(argocdConfig, a.URL, hash, Secret()))
	})
	for _, name := range []string{"application", "appproject", "applicationset"} {
		all.Go(func() error {
			text, err := os.ReadFile(filepath.Join(crds, name+"-crd.yaml"))
			if err != nil {
				return err
			}
			if err := a.kube.Apply(ctx, string(text)); err != nil {
				return err
			}
			_, err = a.kube.Until(ctx, Object{Kind: "CustomResourceDefinition", Name: name + "s.argoproj.io"}, "established", established)
			return err
		})
	}
	return all.Wait()
}

// Start starts the parts of Argo CD, also again after Stop, and returns when
// its API answers.
func (a *ArgoCD) Start(ctx context.Context) error {
	api, repo := a.ports[0], a.ports[1]
	kubeconfig := func(name string) []string {
		return []string{"--kubeconfig", a.kube.Kubeconfig(name), "--namespace", "argocd"}
	}
	shared := []string{"--redis", a.redis.Addr(), "--loglevel", "info"}
	reach := []string{"--repo-server", local(repo), "--repo-server-plaintext"}
	bin := filepath.Join(a.dir, "bin")
	commands := []Command{
		{Name: "argocd-repo-server", Args: join(shared, []string{
			"--address", "127.0.0.1", "--port", fmt.Sprint(repo), "--disable-tls",
			"--metrics-address", "127.0.0.1", "--metrics-port", fmt.Sprint(a.ports[2])})},
		{Name: "argocd-server", Args: join(shared, reach, kubeconfig("argocd-server"), []string{
			"--address", "127.0.0.1", "--port", fmt.Sprint(api), "--insecure",
			"--metrics-port", fmt.Sprint(a.ports[3]), "--metrics-address", "127.0.0.1"}),
			Env: []string{"KUBECONFIG=" + a.kube.Kubeconfig("argocd-server")}},
		{Name: "argocd-application-controller", Args: join(shared, reach, kubeconfig("argocd-controller"), []string{
			// No metrics: their address cannot be narrowed to loopback.
			"--metrics-port=-1"}),
			Env: []string{"KUBECONFIG=" + a.kube.Kubeconfig("argocd-controller")}},
	}
	a.parts = nil
	for _, c := range commands {
		c.Path = filepath.Join(bin, c.Name)
		c.Env = append(c.Env, a.env...)
		p, err := a.keeper.Start(c)
		if err != nil {
			return err
		}
		a.parts = append(a.parts, p)
	}
	if err := await(ctx, "Argo CD's API", answers(http.DefaultClient, a.URL+"/healthz", "")); err != nil {
		return err
	}
	return await(ctx, "Argo CD's repo-server", listens(local(repo)))
}

// Stop ends every part of Argo CD at once, as an outage would.
func (a *ArgoCD) Stop() {
	for _, p := range a.parts {
		p.Kill()
	}
}

// Close ends Redis; the processes are the keeper's.
func (a *ArgoCD) Close() { a.redis.Close() }

func join(lists ...[]string) []string {
	var all []string
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// The accounts of Argo CD that are programs.
const (
	BotAccount    = "reconcilebot" // reads and syncs applications
	ViewerAccount = "viewer"       // reads them
)

// argocdConfig is what the installation's manifests configure, with accounts
// for the bot and for the lab's own pages that may do nothing else than said.
const argocdConfig = `
apiVersion: v1
kind: Namespace
metadata: {name: argocd}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm, namespace: argocd, labels: {app.kubernetes.io/part-of: argocd}}
data:
  url: %[1]s
  accounts.reconcilebot: apiKey
  accounts.viewer: apiKey
  timeout.reconciliation: 180s
---
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-rbac-cm, namespace: argocd, labels: {app.kubernetes.io/part-of: argocd}}
data:
  policy.default: ""
  policy.csv: |
    p, role:reconcilebot, applications, get, */*, allow
    p, role:reconcilebot, applications, sync, */*, allow
    p, role:reconcilebot, applications, update, */*, allow
    p, role:reconcilebot, applicationsets, get, */*, allow
    g, reconcilebot, role:reconcilebot
    p, role:viewer, applications, get, */*, allow
    g, viewer, role:viewer
---
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cmd-params-cm, namespace: argocd, labels: {app.kubernetes.io/part-of: argocd}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-gpg-keys-cm, namespace: argocd, labels: {app.kubernetes.io/part-of: argocd}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-ssh-known-hosts-cm, namespace: argocd, labels: {app.kubernetes.io/part-of: argocd}}
data: {ssh_known_hosts: ""}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-tls-certs-cm, namespace: argocd, labels: {app.kubernetes.io/part-of: argocd}}
---
apiVersion: v1
kind: Secret
metadata: {name: argocd-secret, namespace: argocd, labels: {app.kubernetes.io/part-of: argocd}}
stringData:
  admin.password: %[2]q
  admin.passwordMtime: "2026-01-01T00:00:00Z"
  server.secretkey: %[3]q
---
apiVersion: v1
kind: Secret
metadata: {name: argocd-redis, namespace: argocd, labels: {app.kubernetes.io/part-of: argocd}}
stringData: {auth: ""}
`
