package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"reconcilebot/cmd/reconcilebot/config"
	"reconcilebot/cmd/reconcilebot/doctor"
	"reconcilebot/commands"
	"reconcilebot/deploy/base"
	"reconcilebot/runbook/argocd"
)

// examine runs the doctor.
func examine(ctx context.Context, c console, args []string) error {
	var format string
	path, err := c.configFlag("doctor", args, func(f *flag.FlagSet) {
		f.StringVar(&format, "o", "text", "the `FORMAT`: text or json")
	})
	if err != nil {
		return err
	}
	if !slices.Contains([]string{"text", "json"}, format) {
		return usageError{fmt.Sprintf("doctor knows no format %q; choose text or json", format)}
	}
	cfg, err := c.load(path)
	if err != nil {
		return err
	}
	checks, err := checks(cfg)
	if err != nil {
		return err
	}
	found := doctor.Examine(ctx, checks)
	write := doctor.Print
	if format == "json" {
		write = doctor.PrintJSON
	}
	if err := write(c.stdout, found); err != nil {
		return err
	}
	if !doctor.Healthy(found) {
		return errReported
	}
	return nil
}

// checks lists what the doctor looks at with this config.
func checks(cfg *config.Config) ([]doctor.Check, error) {
	scopes, err := neededScopes()
	if err != nil {
		return nil, err
	}
	rights, err := neededRights()
	if err != nil {
		return nil, err
	}
	people := map[string]string{}
	for _, p := range cfg.People {
		people[p.Name] = p.Slack
	}
	list := doctor.Disk{State: cfg.State, Cache: cfg.GitHub.Git.Cache}.Checks()
	list = append(list, doctor.Slack{
		API: cfg.Slack.API, AppToken: cfg.Slack.AppToken.Value, BotToken: cfg.Slack.BotToken.Value,
		Team: cfg.Slack.Team, Scopes: scopes, People: people, Listen: cfg.Listen, HTTP: &http.Client{},
	}.Checks()...)
	audit := doctor.Audit{}
	if a := cfg.Audit; a != nil {
		audit = doctor.Audit{Listen: a.Listen, CertFile: a.TLSCertFile, KeyFile: a.TLSKeyFile}
	}
	list = append(list, audit.Checks()...)
	var argos []*argocd.Client
	for _, c := range cfg.Clusters {
		checks, argo := clusterChecks(c, rights)
		list = append(list, checks...)
		if argo != nil {
			argos = append(argos, argo)
		}
	}
	desk, err := openTickets(cfg.Tickets)
	if err != nil {
		list = append(list, doctor.Broken("tickets", "config", "correct tickets", err))
	}
	for _, system := range desk {
		list = append(list, doctor.Tickets{System: system}.Checks()...)
	}
	host, err := openGitHub(cfg.GitHub)
	if err != nil {
		return append(list, doctor.Broken("github", "config", "correct github.api, app and caFile", err)), nil
	}
	hosted := doctor.GitHub{Host: host, Web: cfg.GitHub.Web(), Apps: allApps(argos)}
	if host.app != nil {
		hosted.App = host.app
	}
	return append(list, hosted.Checks()...), nil
}

// allApps lists the Applications of several Argo CDs.
func allApps(argos []*argocd.Client) func(context.Context) ([]argocd.App, error) {
	return func(ctx context.Context) (all []argocd.App, err error) {
		for _, argo := range argos {
			apps, err := argo.Apps(ctx)
			if err != nil {
				return nil, err
			}
			all = append(all, apps...)
		}
		return all, nil
	}
}

// clusterChecks are those of one cluster and its Argo CD, whose client comes
// back too; nil if it could not be made, which is a finding like any other.
func clusterChecks(c config.Cluster, rights []doctor.Right) (list []doctor.Check, argo *argocd.Client) {
	k, err := openCluster(c)
	if err != nil {
		list = append(list, doctor.Broken("kubernetes "+c.Name, "config", "correct kubeconfig and context", err))
	} else {
		list = append(list, doctor.Cluster{Name: c.Name, Kubernetes: k, Rights: rights}.Checks()...)
	}
	argo, err = openArgoCD(c)
	if err != nil {
		return append(list, doctor.Broken("argocd "+c.Name, "config", "correct argocd.server and caFile", err)), nil
	}
	return append(list, doctor.ArgoCD{Cluster: c.Name, Argo: argo}.Checks()...), argo
}

// neededScopes are those that the Slack app's manifest asks for.
func neededScopes() ([]string, error) {
	var m struct {
		OAuth struct {
			Scopes struct {
				Bot []string `json:"bot"`
			} `json:"scopes"`
		} `json:"oauth_config"`
	}
	if err := yaml.Unmarshal([]byte(commands.Manifest()), &m); err != nil {
		return nil, fmt.Errorf("read the Slack app's manifest: %w", err)
	}
	return m.OAuth.Scopes.Bot, nil
}

// neededRights are those of the ClusterRole that deploy/base ships.
func neededRights() (rights []doctor.Right, err error) {
	docs := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(base.RBAC()), 4096)
	for {
		var role rbacv1.ClusterRole
		switch err := docs.Decode(&role); {
		case errors.Is(err, io.EOF):
			return rights, nil
		case err != nil:
			return nil, fmt.Errorf("read the ClusterRole: %w", err)
		}
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				rights = append(rights, doctor.Right{Group: rule.APIGroups[0], Resource: resource, Verbs: rule.Verbs})
			}
		}
	}
}
