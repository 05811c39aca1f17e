package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"reconcilebot/bot"
	"reconcilebot/cmd/reconcilebot/config"
	"reconcilebot/commands"
	"reconcilebot/commands/access"
	"reconcilebot/commands/card"
	"reconcilebot/commands/courier"
	"reconcilebot/runbook"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/git"
	"reconcilebot/runbook/ticket"
	"reconcilebot/state"
)

// sites are the clusters, as those who speak with people need them.
type sites struct {
	listers   map[string]commands.Lister
	surveyors map[string]*drift.Surveyor
	// look says what differs in a target, without a reconciliation.
	look func(ctx context.Context, target string) (book.Seen, error)
	// foreign says what keeps a target from being reconciled.
	foreign func(ctx context.Context, t drift.Target, ours bool) ([]string, error)
}

// machinery builds what moves reconciliations: the systems, the books that
// use them, and the engine.
func machinery(cfg *config.Config, db *state.DB, host *gitHost, repos *repositories, people company, log *slog.Logger) (*runbook.Engine, sites, error) {
	clusters, listers, surveyors := map[string]book.Cluster{}, map[string]commands.Lister{}, map[string]*drift.Surveyor{}
	for _, c := range cfg.Clusters {
		site, surveyor, err := openSite(cfg, c, repos, writes{db}, log)
		if err != nil {
			return nil, sites{}, fmt.Errorf("cluster %s: %w", c.Name, err)
		}
		clusters[c.Name], listers[c.Name], surveyors[c.Name] = site, surveyor, surveyor
	}
	signer, err := openSigner(cfg.GitHub.Git.Sign)
	if err != nil {
		return nil, sites{}, err
	}
	t := cfg.Timing
	needed := book.Config{
		Clusters: clusters,
		Repo:     repos.Repo,
		Host:     host,
		Policy:   people.policy,
		StillMay: commands.Voters{Directory: people.directory, Access: people.policy, Team: people.team}.StillMay,
		Paused: func(target string) bool {
			_, err := db.Holding(state.PauseLease(target))
			return err == nil
		},
		Links: links(cfg, db),
		Timing: book.Timing{
			ApprovalExpires: t.ApprovalExpires, PollHost: t.PollGitHub, PollController: t.PollArgoCD,
			StableFor: t.StableFor, Verify: t.VerifyTimeout, Merge: t.MergeDeadline, Expedited: t.ExpeditedDeadline,
			PauseCheck: t.PauseCheck, PauseEscalate: t.PauseEscalate,
		},
		Sign:        signer,
		HostSigns:   cfg.GitHub.Git.Sign.By == config.SignGitHub,
		Author:      git.Person(cfg.GitHub.Git.Author),
		MergeMethod: strings.TrimPrefix(cfg.Merge.Method, "auto"),
		Merge:       cfg.Merge.When == "rules-met",
		Log:         log,
	}
	engine := runbook.New(runbook.Config{DB: db, Books: book.Books(needed), Log: log})
	return engine, sites{listers: listers, surveyors: surveyors, look: book.Look(needed), foreign: book.Foreign(clusters)}, nil
}

// openSite builds one cluster's side of things.
func openSite(cfg *config.Config, c config.Cluster, repos *repositories, audited writes, log *slog.Logger) (book.Cluster, *drift.Surveyor, error) {
	live, err := openCluster(c)
	if err != nil {
		return book.Cluster{}, nil, err
	}
	argo, err := openArgoCD(c)
	if err != nil {
		return book.Cluster{}, nil, err
	}
	// Without an audit log there are no writes to look for, which is another
	// thing than having found none.
	var written func(context.Context, string) ([]cluster.Write, error)
	if cfg.Audit != nil {
		written = audited.Of
	}
	surveyor := drift.New(drift.Config{Name: c.Name, Argo: argo, Live: live, Writes: written, Head: repos.Head, Log: log})
	return book.Cluster{Survey: surveyor, Argo: argo, Trial: live}, surveyor, nil
}

// policyOf is the config's people and policy, as commands know them, without
// the lists that others keep.
func policyOf(cfg *config.Config) *access.Policy {
	p := &access.Policy{Groups: map[string]access.Group{}}
	for _, one := range cfg.People {
		p.People = append(p.People, access.Person(one))
	}
	for name, g := range cfg.Groups {
		p.Groups[name] = access.Group(g)
	}
	for _, r := range cfg.Policy {
		p.Rules = append(p.Rules, access.Rule{
			Targets: r.Targets, See: r.See, Decide: r.Decide, Pause: r.Pause, Override: r.Override, Approve: access.Approvers(r.Approve),
		})
	}
	return p
}

// company is who may do what, and those who know.
type company struct {
	// team is the workspace whose people may use the bot.
	team      string
	slack     *bot.Slack
	directory *bot.Directory
	policy    *access.Policy
}

// openCompany waits, if the config does not say it, until Slack tells which
// workspace it is.
func openCompany(ctx context.Context, cfg *config.Config, host *gitHost, repos *repositories, log *slog.Logger) (company, error) {
	team, err := workspace(ctx, cfg.Slack, log)
	if err != nil {
		return company{}, err
	}
	wire, err := bot.NewSlack(bot.SlackConfig{API: cfg.Slack.API, BotToken: cfg.Slack.BotToken.Value, AppToken: cfg.Slack.AppToken.Value})
	if err != nil {
		return company{}, err
	}
	policy := policyOf(cfg)
	policy.Lists = access.Remember(groups{slack: wire, host: host, repos: repos}, time.Now)
	return company{team: team, slack: wire, directory: bot.NewDirectory(wire, time.Now), policy: policy}, nil
}

// voice builds what speaks with people, and what asks them again.
func voice(cfg *config.Config, db *state.DB, engine *runbook.Engine, at sites, people company, desk []ticket.System, log *slog.Logger) (*bot.Bot, *commands.Commands, error) {
	scopes, err := neededScopes()
	if err != nil {
		return nil, nil, err
	}
	app := commands.New(commands.Config{
		DB: db, Engine: engine, Directory: people.directory, Targets: at.listers, Foreign: at.foreign, Timeline: at.timeline, Team: people.team,
		Access: people.policy, Tickets: courier.Namer(desk), Links: card.Links{Commit: links(cfg, db).Commit, Audit: cfg.Audit.Page}, Log: log,
	})
	b, err := bot.New(bot.Config{
		App: app, DB: db, Slack: people.slack, Directory: people.directory, Team: people.team, Sockets: cfg.Slack.Sockets,
		Scopes: scopes, Redact: redact(cfg), Log: log,
	})
	return b, app, err
}

// askAgain is how long Slack may take to say its name, and the pause after it
// did not.
const askAgain = 5 * time.Second

// workspace is the id of the workspace whose people may use the bot. A config
// that does not name it trusts the bot token, and waits until Slack says whose
// that is.
func workspace(ctx context.Context, s config.Slack, log *slog.Logger) (string, error) {
	for s.Team == "" {
		token, err := s.BotToken.Value()
		if err == nil {
			var who *slack.AuthTestResponse
			if who, err = slack.New(token, slack.OptionAPIURL(s.API), slack.OptionHTTPClient(&http.Client{Timeout: askAgain})).AuthTestContext(ctx); err == nil {
				return who.TeamID, nil
			}
		}
		log.Warn("Slack does not say which workspace the bot token is for; slack.team in the config would", "err", err)
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(askAgain):
		}
	}
	return s.Team, nil
}

// gitHubToken matches GitHub's tokens: those of an App are made as the bot runs,
// and no place names them.
// https://github.blog/engineering/behind-githubs-new-authentication-token-formats/
var gitHubToken = regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{16,}|\bgithub_pat_[A-Za-z0-9_]{16,}`)

// redact cuts the bot's own secrets out of a text, wherever it came from.
func redact(cfg *config.Config) func(string) string {
	secrets := []config.Secret{cfg.Slack.AppToken, cfg.Slack.BotToken, cfg.GitHub.Token, cfg.GitHub.Git.Sign.Key}
	for _, c := range cfg.Clusters {
		secrets = append(secrets, c.ArgoCD.Token)
	}
	if cfg.Audit != nil {
		secrets = append(secrets, cfg.Audit.Token)
	}
	for _, t := range cfg.Tickets {
		secrets = append(secrets, t.Token)
	}
	return func(text string) string {
		for _, secret := range secrets {
			// One that can't be read now can't have got into the text either.
			if value, err := secret.Value(); err == nil && len(value) >= 8 {
				text = strings.ReplaceAll(text, value, "[secret]")
			}
		}
		return gitHubToken.ReplaceAllString(text, "[secret]")
	}
}
