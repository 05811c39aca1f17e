package systems

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// A Person is someone with an account in the cluster.
type Person struct {
	Name   string // "alice"; names the kubeconfig too
	User   string // what Kubernetes calls them: "alice@example.com"
	Groups []string
}

// KubernetesConfig says what cluster to start.
type KubernetesConfig struct {
	Dir        string // an empty folder, for data, keys and kubeconfigs
	Kubernetes string // path of the program that is etcd, the control plane and kubectl
	Kwok       string // path of kwok, which plays the kubelet
	People     []Person
	Audit      Audit
}

// Kubernetes is a running cluster.
type Kubernetes struct {
	*API
	URL     string
	CA      []byte // PEM
	Kubectl string // path of a kubectl
	// AuditKeys are for the server that receives audit events: the API server
	// sends its token over TLS only, and trusts the cluster's authority.
	AuditKeys Pair

	dir string
}

// users of the cluster that are programs. They are superusers here, under the
// names that they have in a real cluster, because audit events and managed
// fields show those names.
var users = []Person{
	{Name: "admin", User: "kubernetes-admin"},
	{Name: "controller-manager", User: "system:kube-controller-manager"},
	{Name: "scheduler", User: "system:kube-scheduler"},
	{Name: "kubelet", User: "system:kwok"},
	{Name: "argocd-controller", User: "system:serviceaccount:argocd:argocd-application-controller"},
	{Name: "argocd-server", User: "system:serviceaccount:argocd:argocd-server"},
}

// AuditLog is the file with the audit events, one a line.
func (kube *Kubernetes) AuditLog() string { return filepath.Join(kube.dir, auditLog) }

// StartKubernetes starts the cluster and returns when its API answers; the
// controllers and the node come up while the caller goes on.
func StartKubernetes(ctx context.Context, k *Keeper, c KubernetesConfig) (*Kubernetes, error) {
	ports, err := Ports(4)
	if err != nil {
		return nil, err
	}
	keys, err := makeKeys(filepath.Join(c.Dir, "keys"))
	if err != nil {
		return nil, fmt.Errorf("make the cluster's keys: %w", err)
	}
	kube := &Kubernetes{URL: "https://" + local(ports[2]), CA: keys.ca, AuditKeys: keys.audit, dir: c.Dir}
	if kube.Kubectl, err = link(c.Dir, "kubectl", c.Kubernetes); err != nil {
		return nil, err
	}
	admin, err := kube.accounts(c)
	if err != nil {
		return nil, fmt.Errorf("write the cluster's accounts: %w", err)
	}
	if err := c.Audit.write(c.Dir, keys.caFile); err != nil {
		return nil, err
	}
	if err := kube.control(ctx, k, c, keys, ports); err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(keys.ca)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	if err := await(ctx, "the Kubernetes API", answers(client, kube.URL+"/readyz", admin)); err != nil {
		return nil, err
	}
	client.CloseIdleConnections()
	if kube.API, err = NewAPI(kube.URL, keys.ca, admin); err != nil {
		return nil, err
	}
	return kube, kube.workers(ctx, k, c, keys)
}

// control starts etcd and the API server.
func (kube *Kubernetes) control(ctx context.Context, k *Keeper, c KubernetesConfig, keys keys, ports []int) error {
	etcd := "http://" + local(ports[0])
	peer := "http://" + local(ports[1])
	_, err := k.Start(Command{Name: "etcd", Path: c.Kubernetes, Args: []string{"etcd",
		"--data-dir", filepath.Join(c.Dir, "etcd"), "--unsafe-no-fsync",
		"--listen-client-urls", etcd, "--advertise-client-urls", etcd,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer,
		"--log-level", "warn"}})
	if err != nil {
		return err
	}
	if err := await(ctx, "etcd", listens(local(ports[0]))); err != nil {
		return err
	}
	_, err = k.Start(Command{Name: "kube-apiserver", Path: c.Kubernetes, Args: append([]string{"kube-apiserver",
		"--etcd-servers", etcd,
		"--bind-address", "127.0.0.1", "--secure-port", fmt.Sprint(ports[2]), "--advertise-address", "127.0.0.1",
		"--tls-cert-file", keys.certFile, "--tls-private-key-file", keys.keyFile, "--cert-dir", filepath.Join(c.Dir, "keys"),
		"--service-account-key-file", keys.serviceAccount, "--service-account-signing-key-file", keys.serviceAccount,
		"--service-account-issuer", "https://kubernetes.default.svc",
		"--token-auth-file", filepath.Join(c.Dir, "tokens.csv"),
		"--authorization-mode", "RBAC", "--service-cluster-ip-range", "10.96.0.0/16",
		// Pods of the lab never run, so they need no token of their own.
		"--disable-admission-plugins", "ServiceAccount",
		// The kubernetes Service's endpoints would have to name an address
		// other than loopback.
		"--endpoint-reconciler-type", "none",
		"--profiling=false"}, c.Audit.flags(c.Dir)...)})
	return err
}

// workers starts what makes objects come true.
func (kube *Kubernetes) workers(ctx context.Context, k *Keeper, c KubernetesConfig, keys keys) error {
	commands := []Command{
		{Name: "kube-controller-manager", Path: c.Kubernetes, Args: []string{"kube-controller-manager",
			"--kubeconfig", kube.Kubeconfig("controller-manager"), "--leader-elect=false", "--secure-port=0",
			"--service-account-private-key-file", keys.serviceAccount, "--root-ca-file", keys.caFile,
			"--use-service-account-credentials=false", "--profiling=false",
			"--kube-api-qps=200", "--kube-api-burst=400"}},
		{Name: "kube-scheduler", Path: c.Kubernetes, Args: []string{"kube-scheduler",
			"--kubeconfig", kube.Kubeconfig("scheduler"), "--leader-elect=false", "--secure-port=0", "--profiling=false",
			"--kube-api-qps=200", "--kube-api-burst=400"}},
		// Without a lease the node turns unready after about 50 seconds.
		{Name: "kwok", Path: c.Kwok, Args: []string{"--kubeconfig", kube.Kubeconfig("kubelet"),
			"--manage-all-nodes=true", "--node-lease-duration-seconds=40"}},
	}
	for _, c := range commands {
		if _, err := k.Start(c); err != nil {
			return err
		}
	}
	return kube.Apply(ctx, node)
}

const node = `
apiVersion: v1
kind: Node
metadata:
  name: node-1
  labels: {kubernetes.io/hostname: node-1, kubernetes.io/os: linux}
`

// accounts writes the token file and everyone's kubeconfig.
func (kube *Kubernetes) accounts(c KubernetesConfig) (adminToken string, err error) {
	var csv strings.Builder
	line := func(p Person, groups []string) error {
		token := Secret()
		if p.Name == "admin" {
			adminToken = token
		}
		fmt.Fprintf(&csv, "%s,%s,%s,%q\n", token, p.User, p.Name, strings.Join(groups, ","))
		return kube.WriteKubeconfig(p.Name, token)
	}
	for _, p := range users {
		if err := line(p, []string{"system:masters"}); err != nil {
			return "", err
		}
	}
	for _, p := range c.People {
		if err := line(p, p.Groups); err != nil {
			return "", err
		}
		if err := kube.script(p.Name); err != nil {
			return "", err
		}
	}
	return adminToken, os.WriteFile(filepath.Join(c.Dir, "tokens.csv"), []byte(csv.String()), 0o600)
}

// KubectlOf is the path of a kubectl that acts as a person.
func (kube *Kubernetes) KubectlOf(person string) string {
	return filepath.Join(kube.dir, "bin", "kubectl-"+person)
}

func (kube *Kubernetes) script(person string) error {
	text := fmt.Sprintf("#!/bin/sh\nexec %q --kubeconfig %q \"$@\"\n", kube.Kubectl, kube.Kubeconfig(person))
	return os.WriteFile(kube.KubectlOf(person), []byte(text), 0o755)
}

// link makes a program callable under another name: programs that are several
// in one file go by the name they are called by.
func link(dir, name, target string) (string, error) {
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(bin, name)
	if err := os.Symlink(target, path); err != nil {
		return "", fmt.Errorf("link %s: %w", name, err)
	}
	return path, nil
}
