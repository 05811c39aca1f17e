package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"time"

	"reconcilebot/cmd/reconcilebot/config"
	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/forge"
	"reconcilebot/runbook/git"
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

// gitHost is the way to the Git host: one client, and one sign-in for it and
// for Git, so that an App's tokens are made once.
type gitHost struct {
	*forge.GitHub
	app   *forge.App // nil with a token
	token config.Secret
	ca    []byte
}

func openGitHub(g config.GitHub) (*gitHost, error) {
	client := &http.Client{Timeout: gitHubCall}
	host := &gitHost{token: g.Token}
	base := http.DefaultTransport
	if g.CAFile != "" {
		private, err := httpClient(g.CAFile)
		if err != nil {
			return nil, fmt.Errorf("github.caFile: %w", err)
		}
		base = private.Transport
		if host.ca, err = os.ReadFile(g.CAFile); err != nil {
			return nil, fmt.Errorf("github.caFile: %w", err)
		}
	}
	client.Transport = stopwatch.Transport(base)
	if g.App != nil {
		var err error
		host.app, err = forge.NewApp(forge.AppConfig{BaseURL: g.API, Issuer: g.App.Issuer(), Key: g.App.Key.Value, HTTPClient: client})
		if err != nil {
			return nil, err
		}
	}
	var err error
	host.GitHub, err = forge.NewGitHub(forge.Config{BaseURL: g.API, Token: g.Token.Value, App: host.app, HTTPClient: client})
	return host, err
}

// gitHubCall bounds one request to GitHub.
const gitHubCall = 30 * time.Second

// tokenFor gives Git the token for an owner's repositories.
func (h *gitHost) tokenFor(owner string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		if h.app != nil {
			return h.app.Token(ctx, owner)
		}
		return h.token.Value()
	}
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

// openSigner reads the key that commits are signed with; nil if there is none.
func openSigner(s config.Sign) (*git.Signer, error) {
	if s.By != config.SignKey {
		return nil, nil
	}
	key, err := s.Key.Value()
	if err != nil {
		return nil, err
	}
	// The line break at its end belongs to a key.
	return git.NewSigner(key + "\n")
}
