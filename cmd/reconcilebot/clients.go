package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"

	"reconcilebot/cmd/reconcilebot/config"
	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/forge"
	"reconcilebot/runbook/stopwatch"
)

// userAgent names the bot in other systems' logs.
const userAgent = "reconcilebot"

// The clients here are made without calling anybody: a system that is down
// must not keep the bot from starting. The time of their calls is told apart
// from the bot's own.

func openCluster(c config.Cluster) (*cluster.Cluster, error) {
	return cluster.New(cluster.Config{Kubeconfig: c.Kubeconfig, Context: c.Context, UserAgent: userAgent, Wrap: stopwatch.Transport})
}

func openArgoCD(c config.Cluster) (*argocd.Client, error) {
	client, err := httpClient(c.ArgoCD.CAFile)
	if err != nil {
		return nil, err
	}
	return argocd.New(argocd.Config{
		Server: c.ArgoCD.Server, UI: c.ArgoCD.UI, Token: c.ArgoCD.Token.Value,
		HTTPClient: client, Namespace: c.ArgoCD.Namespace, Wrap: stopwatch.Transport,
	})
}

func openGitHub(g config.GitHub) (*forge.GitHub, error) {
	client := &http.Client{Transport: stopwatch.Transport(http.DefaultTransport)}
	return forge.NewGitHub(forge.Config{BaseURL: g.API, Token: g.Token.Value, HTTPClient: client})
}

// httpClient trusts the system's authorities and those in caFile, if any; nil
// means that the client's own default is right.
func httpClient(caFile string) (*http.Client, error) {
	if caFile == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(caFile)
	if err != nil {
		return nil, fmt.Errorf("read the certificate authority: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(raw) {
		return nil, fmt.Errorf("%s holds no certificate in PEM form", caFile)
	}
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		transport = &http.Transport{Proxy: http.ProxyFromEnvironment}
	}
	transport = transport.Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return &http.Client{Transport: transport}, nil
}
