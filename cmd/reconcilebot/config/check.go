package config

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"reconcilebot/runbook/forge"
	"reconcilebot/runbook/git"
	"reconcilebot/runbook/spell"
)

// checker looks for values that would hurt later.
type checker struct {
	*notes
	c      *Config
	dir    string
	getenv func(string) string
	// blind leaves out whether the secrets can be read.
	blind bool
}

// all checks everything and makes paths absolute and secrets readable.
func (k checker) all() {
	k.require("state", k.c.State, "the path of the state file, like /var/lib/reconcilebot/state.db")
	k.c.State = k.path(k.c.State)
	k.address("listen", k.c.Listen)
	k.slack()
	k.audit()
	k.clusters()
	k.github()
	k.tickets()
	k.people()
	k.groups()
	k.policy()
	k.timing()
	k.speak()
	k.oneOf("merge.method", k.c.Merge.Method, "auto", "squash", "merge", "rebase")
	k.oneOf("merge.when", k.c.Merge.When, "rules-met", "never")
}

func (k checker) slack() {
	s := &k.c.Slack
	k.web("slack.api", s.API)
	if s.API != "" && !strings.HasSuffix(s.API, "/") {
		k.add("slack.api", "must end in a slash, like https://slack.com/api/")
	}
	s.AppToken = k.secret("slack.appToken", s.AppTokenFile, s.AppTokenEnv, "xapp-", "an app-level token with the scope connections:write")
	s.BotToken = k.secret("slack.botToken", s.BotTokenFile, s.BotTokenEnv, "xoxb-", "the bot token of the installed app")
	if s.Sockets < 1 || s.Sockets > 3 {
		k.add("slack.sockets", "must be 1, 2 or 3; Slack allows ten connections over all that use the app")
	}
	if s.Team != "" && !teamID.MatchString(s.Team) {
		k.add("slack.team", "%q is not a workspace id; it begins with T or E and is in the address of Slack in the browser", s.Team)
	}
}

// auditID stands for an audit event's id in the link to it.
const auditID = "{auditID}"

// Page is where people read an audit event; "" if nowhere.
func (a *Audit) Page(id string) string {
	if a == nil || a.Link == "" || id == "" {
		return ""
	}
	return strings.ReplaceAll(a.Link, auditID, url.QueryEscape(id))
}

func (k checker) audit() {
	a := k.c.Audit
	if a == nil {
		return
	}
	k.require("audit.listen", a.Listen, "an address for the audit events, like 127.0.0.1:8444")
	k.address("audit.listen", a.Listen)
	a.Token = k.secret("audit.token", a.TokenFile, a.TokenEnv, "", "a long random text that the API server sends as a bearer token")
	a.TLSCertFile, a.TLSKeyFile, a.ClientCAFile = k.path(a.TLSCertFile), k.path(a.TLSKeyFile), k.path(a.ClientCAFile)
	switch {
	case (a.TLSCertFile == "") != (a.TLSKeyFile == ""):
		k.add("audit", "tlsCertFile and tlsKeyFile belong together; give both or none")
	case a.TLSCertFile == "" && !loopback(a.Listen):
		k.add("audit.listen", "can be reached from other machines, so the token would travel in the clear; give tlsCertFile and tlsKeyFile, or listen on 127.0.0.1")
	case a.TLSCertFile == "" && a.ClientCAFile != "":
		k.add("audit.clientCAFile", "needs tlsCertFile and tlsKeyFile")
	}
	if a.Link == "" {
		return
	}
	if u, err := url.Parse(a.Page("id")); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		k.add("audit.link", "is not an address that people can open, like https://logs.example.com/?q=%s", auditID)
	}
	if !strings.Contains(a.Link, auditID) {
		k.add("audit.link", "lacks %s, which stands for the event's id: https://logs.example.com/?q=%s", auditID, auditID)
	}
}

func (k checker) clusters() {
	if len(k.c.Clusters) == 0 {
		k.add("clusters", "is missing; name at least one cluster and its Argo CD")
	}
	seen := map[string]int{}
	for i := range k.c.Clusters {
		c, at := &k.c.Clusters[i], fmt.Sprintf("clusters[%d]", i)
		k.name(at+".name", c.Name, seen, i, "a name for the cluster, like production-eu")
		c.Kubeconfig = k.path(c.Kubeconfig)
		a := &c.ArgoCD
		k.require(at+".argocd.server", a.Server, "the address of Argo CD's server, like https://argocd.example.com")
		k.web(at+".argocd.server", a.Server)
		k.web(at+".argocd.ui", a.UI)
		a.Token = k.secret(at+".argocd.token", a.TokenFile, a.TokenEnv, "", "an API token of an account with apiKey")
		a.CAFile = k.path(a.CAFile)
		if a.Namespace == "" {
			a.Namespace = "argocd"
		}
		if a.UI == "" {
			a.UI = a.Server
		}
	}
}

func (k checker) github() {
	g := &k.c.GitHub
	k.web("github.api", g.API)
	g.CAFile = k.path(g.CAFile)
	switch {
	case g.App == nil:
		g.Token = k.secret("github.token", g.TokenFile, g.TokenEnv, "", "a token that may write contents and pull requests, or sign in with github.app")
	case g.TokenFile != "" || g.TokenEnv != "":
		k.add("github.app", "is given beside a token; keep one of them")
	default:
		k.app(g.App)
	}
	if g.Git.Cache == "" && k.c.State != "" {
		g.Git.Cache = filepath.Join(filepath.Dir(k.c.State), "git")
	}
	g.Git.Cache = k.path(g.Git.Cache)
	k.require("github.git.author.name", g.Git.Author.Name, "the bot's name in commits")
	k.sign(&g.Git.Sign)
	if !strings.Contains(g.Git.Author.Email, "@") {
		k.add("github.git.author.email", "is not an e-mail address; commits carry it")
	}
}

func (k checker) sign(s *Sign) {
	k.oneOf("github.git.sign.by", s.By, SignNone, SignKey, SignGitHub)
	given := s.KeyFile != "" || s.KeyEnv != ""
	switch {
	case s.By != SignKey && given:
		k.add("github.git.sign", "has a key, which only by: key uses")
	case s.By == SignKey:
		s.Key = k.place("github.git.sign.key", s.KeyFile, s.KeyEnv, "the private key to sign commits with")
		k.readable("github.git.sign.key", s.KeyFile, s.KeyEnv, s.Key, func(key string) error {
			_, err := git.NewSigner(key + "\n")
			return err
		})
	}
}

// readable looks at a secret that is more than a word.
func (k checker) readable(key, file, env string, s Secret, check func(string) error) {
	if k.blind || (file == "") == (env == "") {
		return
	}
	at := key + "File"
	if env != "" {
		at = key + "Env"
	}
	text, err := s.Value()
	if err == nil {
		err = check(text)
	}
	if err != nil {
		k.add(at, "%s", err)
	}
}

func (k checker) app(a *GitHubApp) {
	if (a.ClientID == "") == (a.ID == 0) {
		k.add("github.app", "needs either clientID or id; both are in the App's settings")
	}
	a.Key = k.place("github.app.key", a.KeyFile, a.KeyEnv, "the App's private key")
	k.readable("github.app.key", a.KeyFile, a.KeyEnv, a.Key, forge.CheckAppKey)
}

func (k checker) speak() {
	if d := k.c.Speak.OutOfSync; d < time.Minute || d > 7*24*time.Hour {
		k.add("speak.outOfSync", "%s is out of bounds; choose from 1m to 168h", d)
	}
	for i, to := range k.c.Speak.Channels {
		at := fmt.Sprintf("speak.channels[%d]", i)
		if len(to.Targets) == 0 {
			k.add(at+".targets", `is missing; give patterns like "production-eu/*"`)
		}
		for j, pattern := range to.Targets {
			k.pattern(fmt.Sprintf("%s.targets[%d]", at, j), pattern)
		}
		if !channelID.MatchString(to.Channel) {
			k.add(at+".channel", "%q is not a channel's id; it begins with C or G and is at the end of the channel's details in Slack", to.Channel)
		}
	}
}

// channelID is the form of the ids of channels.
var channelID = regexp.MustCompile(`^[CG][A-Z0-9]{2,20}$`)

func (k checker) timing() {
	t := k.c.Timing
	for _, d := range []struct {
		key         string
		have        time.Duration
		least, most time.Duration
	}{
		{"approvalExpires", t.ApprovalExpires, 10 * time.Second, 7 * 24 * time.Hour},
		{"pollGitHub", t.PollGitHub, 100 * time.Millisecond, time.Hour},
		{"pollArgoCD", t.PollArgoCD, 50 * time.Millisecond, time.Hour},
		{"pauseCheck", t.PauseCheck, 100 * time.Millisecond, 10 * time.Minute},
		{"pauseEscalate", t.PauseEscalate, time.Second, 24 * time.Hour},
		{"stableFor", t.StableFor, 0, time.Hour},
		{"verifyTimeout", t.VerifyTimeout, 10 * time.Second, 24 * time.Hour},
		{"expeditedDeadline", t.ExpeditedDeadline, 10 * time.Second, 24 * time.Hour},
		{"mergeDeadline", t.MergeDeadline, 10 * time.Second, 90 * 24 * time.Hour},
	} {
		if d.have < d.least || d.have > d.most {
			k.add("timing."+d.key, "%s is out of bounds; choose from %s to %s", d.have, d.least, d.most)
		}
	}
	if t.StableFor > t.VerifyTimeout {
		k.add("timing.stableFor", "is longer than verifyTimeout, so that nothing could ever be verified")
	}
}

// teamID is the form of the ids of workspaces and of whole organisations.
var teamID = regexp.MustCompile(`^[TE][A-Z0-9]{2,20}$`)

func (k checker) require(key, value, what string) {
	if value == "" {
		k.add(key, "is missing; give %s", what)
	}
}

// name checks a name that others in the file refer to.
func (k checker) name(key, name string, seen map[string]int, i int, what string) {
	k.require(key, name, what)
	if strings.ContainsAny(name, "/ \t\n*") {
		k.add(key, "%q must be without spaces, slashes and stars; others refer to it", name)
	}
	if first, twice := seen[name]; twice && name != "" {
		k.add(key, "%q is taken by number %d of this list; choose another", name, first+1)
	}
	seen[name] = i
}

func (k checker) oneOf(key, have string, allowed ...string) {
	if !slices.Contains(allowed, have) {
		k.add(key, "%q is unknown%s; choose one of %s", have, spell.Hint(have, allowed), strings.Join(allowed, ", "))
	}
}

func (k checker) path(p string) string {
	if p == "" || filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(k.dir, p)
}

func (k checker) address(key, address string) {
	if address == "" {
		return
	}
	_, port, err := net.SplitHostPort(address)
	number, bad := strconv.Atoi(port)
	if err != nil || bad != nil || number < 0 || number > 65535 {
		k.add(key, "%q is not an address to listen on; write it like 127.0.0.1:8080", address)
	}
}

// web checks an address that tokens are sent to.
func (k checker) web(key, address string) {
	if address == "" {
		return
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		k.add(key, "is not an address like https://example.com")
	case u.User != nil:
		k.add(key, "holds a name or a password; take them out, and use a token from a file")
	case u.RawQuery != "" || u.Fragment != "":
		k.add(key, "must end after the path, without ? and #")
	case u.Scheme == "http" && !loopback(u.Host) && !inCluster(u.Hostname()):
		k.add(key, "would send the token in the clear; use https")
	}
}

// loopback tells whether an address stays on this machine.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// inCluster tells whether a name is a Kubernetes service's. Argo CD's server
// often speaks plain HTTP there and leaves TLS to the ingress.
func inCluster(host string) bool {
	return strings.HasSuffix(host, ".svc") || strings.HasSuffix(host, ".svc.cluster.local")
}

// secret checks that exactly one place is named and that it holds something
// of the right kind, and returns the way to it.
func (k checker) secret(key, file, env, prefix, what string) Secret {
	s := k.place(key, file, env, what)
	if (file == "") == (env == "") {
		return s
	}
	at := key + "File"
	if env != "" {
		at = key + "Env"
	}
	if k.blind {
		return s
	}
	value, err := s.Value()
	switch {
	case err != nil:
		k.add(at, "%s", err)
	case !strings.HasPrefix(value, prefix):
		k.add(at, "%s does not begin with %s; it should hold %s", s, prefix, what)
	case strings.ContainsAny(value, " \t\r\n"):
		k.add(at, "%s holds more than one word; it should hold the token alone", s)
	}
	return s
}

// place is where a secret is; exactly one place may be named.
func (k checker) place(key, file, env, what string) Secret {
	switch {
	case file == "" && env == "":
		k.add(key+"File", "is missing; name the file, or with %sEnv the environment variable, that holds %s", last(key), what)
	case file != "" && env != "":
		k.add(key+"Env", "is given beside %sFile; keep one of them", last(key))
	}
	return Secret{file: k.path(file), env: env, getenv: k.getenv}
}

func last(key string) string { return key[strings.LastIndex(key, ".")+1:] }
