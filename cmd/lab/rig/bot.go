package rig

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"reconcilebot/bot/slacksim"
	"reconcilebot/cmd/lab/systems"
	"reconcilebot/cmd/lab/world"
	"reconcilebot/runbook/ticket/ticketsim"
)

// A Bot is `reconcilebot serve` as a process of its own. Start, Kill and Stop
// must not be called at the same time: those who stop it are alone in the lab.
type Bot struct {
	Program string // path of reconcilebot
	Config  string // path of its config file

	keeper *systems.Keeper
	slack  *slacksim.Sim
	listen string // probes
	audit  string
	minded bool // it is started again when it ends by itself

	mu      sync.Mutex // guards process, which changes when it is started again
	process *systems.Process
}

// Start starts the bot and returns when it says that it is ready, which it
// does once it hears Slack.
func (b *Bot) Start(ctx context.Context) error {
	if err := b.launch(); err != nil {
		return err
	}
	ctx, ended := context.WithCancelCause(ctx)
	defer ended(nil)
	go func() { // ends with ctx, which ends with this call
		select {
		case <-b.current().Done():
			how, _ := b.current().Exit()
			ended(fmt.Errorf("reconcilebot ended (%s); %s", how, b.current().LastWords()))
		case <-ctx.Done():
		}
	}()
	if err := systems.Answers(ctx, "the bot", "http://"+b.listen+"/readyz"); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 30*time.Second, fmt.Errorf("not connected within 30 s; its log is %s", b.Log()))
	defer cancel()
	return b.slack.Wait(ctx, "the bot's connection to Slack", func() bool { return len(b.slack.Connections()) > 0 })
}

// launch starts the process and waits for nothing.
func (b *Bot) launch() error {
	p, err := b.keeper.Start(systems.Command{
		Name: "reconcilebot", Path: b.Program, Args: []string{"serve", "--config", b.Config}, Graceful: true, Minded: b.minded,
	})
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.process = p
	return nil
}

func (b *Bot) current() *systems.Process {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.process
}

// Command is how the bot is started, for people who want to do it themselves.
func (b *Bot) Command() string { return b.Program + " serve --config " + b.Config }

// PID is the process's number, 0 if the lab has not started it.
func (b *Bot) PID() int {
	if p := b.current(); p != nil {
		return p.PID()
	}
	return 0
}

// Kill ends the bot at once, as kill -9 or a power cut does.
func (b *Bot) Kill() { b.current().Kill() }

// Stop ends the bot as Kubernetes does.
func (b *Bot) Stop() { b.current().Stop() }

// Log is the path of the bot's log.
func (b *Bot) Log() string { return b.current().Log() }

// KillBot kills the bot. Slack can't tell what it was about to do, or what of
// Slack's answers it had no time to write down; both are excused, also what
// falls between the word and the deed.
func (r *Rig) KillBot() {
	r.Slack.AppDies()
	r.Bot.Kill()
	r.Slack.AppDies()
}

// secrets are made anew for every rig.
type secrets struct{ audit string }

func newSecrets() secrets { return secrets{audit: systems.Secret()} }

// bot writes the bot's config and tokens, as its installation would, and starts
// it.
func (r *Rig) bot(ctx context.Context) error {
	if err := os.MkdirAll(r.path("bot"), 0o700); err != nil {
		return err
	}
	if err := r.account(ctx); err != nil {
		return fmt.Errorf("make the bot's account in the cluster: %w", err)
	}
	argocd, err := r.Argo.Token(ctx, systems.BotAccount)
	if err != nil {
		return err
	}
	for name, secret := range map[string]string{
		"slack-app": r.Slack.AppToken(), "slack-bot": r.Slack.BotToken(),
		"argocd": argocd, "audit": r.secrets.audit, "tickets": ticketsim.Token,
	} {
		if err := os.WriteFile(r.path("bot", name+".token"), []byte(secret+"\n"), 0o600); err != nil {
			return err
		}
	}
	if err := os.WriteFile(r.path("bot", "github-app.pem"), r.Git.AppKey(), 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(r.Bot.Config, []byte(r.configText()), 0o600); err != nil {
		return err
	}
	if r.options.NoBot {
		return nil
	}
	if err := r.Bot.Start(ctx); err != nil {
		return err
	}
	r.options.Say("reconcilebot is connected")
	return nil
}

// account gives the bot the service account and the rights of deploy/base.
func (r *Rig) account(ctx context.Context) error {
	const namespace = "reconcilebot"
	for _, file := range []string{"namespace.yaml", "serviceaccount.yaml", "rbac.yaml"} {
		text, err := os.ReadFile(filepath.Join(r.options.Tree, "deploy", "base", file))
		if err != nil {
			return err
		}
		// Kustomize writes the namespace into the objects that have one.
		manifest := strings.Replace(string(text), "kind: ServiceAccount\nmetadata:\n", "kind: ServiceAccount\nmetadata:\n  namespace: "+namespace+"\n", 1)
		if err := r.Kube.Apply(ctx, manifest); err != nil {
			return err
		}
	}
	token, err := r.Kube.ServiceAccountToken(ctx, namespace, "reconcilebot")
	if err != nil {
		return err
	}
	return r.Kube.WriteKubeconfig("reconcilebot", token)
}

// configText is a config file such as a user writes.
func (r *Rig) configText() string {
	var people strings.Builder
	for _, p := range world.People() {
		if p.Kubernetes != "" {
			fmt.Fprintf(&people, "- {name: %s, slack: %s, github: %[1]s, kubernetes: [%[3]s]}\n", p.Name, p.Slack, p.Kubernetes)
		}
	}
	timing := timingUsual
	if r.options.Fast {
		timing = timingFast
	}
	return strings.NewReplacer(
		"$SLACK", r.Page, "$LISTEN", r.Bot.listen, "$AUDIT", r.Bot.audit, "$CLUSTER", world.Cluster,
		"$KUBECONFIG", r.Kube.Kubeconfig("reconcilebot"), "$ARGOCD", r.Argo.URL, "$ARGOPAGE", r.ArgoPage, "$GIT", r.GitPage,
		"$CERT", r.Kube.AuditKeys.Cert, "$KEY", r.Kube.AuditKeys.Key, "$PEOPLE", people.String(), "$TIMING", timing,
		"$TICKETS", r.ticketsYAML(), "$APP", appClient, "$SPEAK", r.speakYAML(),
	).Replace(configYAML)
}

// speakYAML has the bot speak first where a person watches, and in the
// scenarios that are about it: the others begin with a question.
func (r *Rig) speakYAML() string {
	var b strings.Builder
	for _, w := range r.Worlds {
		if r.options.Fast && !strings.HasPrefix(w.Name, world.SpeaksFirst) {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("\n# Where the bot speaks first, without having been asked.\nspeak:\n  channels:\n")
		}
		fmt.Fprintf(&b, "  - {targets: [%q], channel: %s}\n", world.Cluster+"/"+w.App, w.ChannelID)
	}
	return b.String()
}

const configYAML = `# The bot's config in the lab. Secrets are in the files that it names.
state: state.db
listen: $LISTEN

slack:
  api: $SLACK/api/
  appTokenFile: slack-app.token
  botTokenFile: slack-bot.token

audit:
  listen: $AUDIT
  tokenFile: audit.token
  tlsCertFile: $CERT
  tlsKeyFile: $KEY
  link: $ARGOPAGE/audit/{auditID}

clusters:
- name: $CLUSTER
  kubeconfig: $KUBECONFIG
  argocd:
    server: $ARGOCD
    ui: $ARGOPAGE
    tokenFile: argocd.token
    namespace: argocd

github:
  api: $GIT/api/v3/
  app: {clientID: $APP, keyFile: github-app.pem}
  git:
    cache: git
    author: {name: reconcilebot, email: reconcilebot@example.com}
    sign: {by: github}

$TICKETS
people:
$PEOPLE
groups:
  on-call: [alice, bob, carol]
  owners: [alice, bob, carol]

# Alice may approve what others ask for, so that in the lab it is the rule
# about one's own changes, and not this list, that keeps her from approving hers.
policy:
- targets: ["$CLUSTER/*"]
  see: [everyone]
  decide: [on-call]
  pause: [on-call]
  approve: {by: [owners], count: 1}

timing: $TIMING
$SPEAK`

// A minute of quiet after the end is what production needs. In the lab a person
// watches.
const timingUsual = "{pollGitHub: 1s, pollArgoCD: 500ms, stableFor: 3s, pauseCheck: 5s}"

const timingFast = "{pollGitHub: 200ms, pollArgoCD: 200ms, stableFor: 500ms, pauseCheck: 500ms, pauseEscalate: 4s}"
