package config

import (
	"strconv"
	"time"
)

// Config is what the file says, checked, with defaults filled in. Relative
// paths in it are taken from the file's own folder.
type Config struct {
	// State is the path of the state file; its folder must exist.
	State string `yaml:"state"`
	// Listen is the address for /livez, /readyz and /metrics; "" is off.
	Listen   string           `yaml:"listen"`
	Slack    Slack            `yaml:"slack"`
	Audit    *Audit           `yaml:"audit"`
	Clusters []Cluster        `yaml:"clusters"`
	GitHub   GitHub           `yaml:"github"`
	Tickets  []Ticket         `yaml:"tickets"`
	People   []Person         `yaml:"people"`
	Groups   map[string]Group `yaml:"groups"`
	Policy   []Rule           `yaml:"policy"`
	Timing   Timing           `yaml:"timing"`
	Merge    Merge            `yaml:"merge"`
	Speak    Speak            `yaml:"speak"`
}

// Speak says where the bot speaks first, of a change made by hand that nobody
// asked it about. Without a channel it never does.
type Speak struct {
	// OutOfSync is how long a target may be out of sync before it is spoken
	// of, whoever made it so.
	OutOfSync time.Duration `yaml:"outOfSync"`
	Channels  []SpeakTo     `yaml:"channels"`
}

// SpeakTo is a channel and the targets that belong there. The first that fits
// a target counts. An incident that has dealt with the target goes before it.
type SpeakTo struct {
	// Targets are patterns of CLUSTER/NAME, as in a Rule.
	Targets []string `yaml:"targets"`
	// Channel is the id of a channel, C…, which has to be bound to an incident
	// at the time.
	Channel string `yaml:"channel"`
}

// Slack says how to reach the workspace.
type Slack struct {
	// API is the base address of the Web API, with a slash at its end.
	API          string `yaml:"api"`
	AppTokenFile string `yaml:"appTokenFile"`
	AppTokenEnv  string `yaml:"appTokenEnv"`
	BotTokenFile string `yaml:"botTokenFile"`
	BotTokenEnv  string `yaml:"botTokenEnv"`
	// Sockets is how many connections are kept open side by side: with two,
	// one can be replaced while the other listens.
	Sockets int `yaml:"sockets"`
	// Team is the workspace's id, T…; people of others are refused. Empty
	// means the workspace of the bot token.
	Team string `yaml:"team"`

	// AppToken (xapp-…) opens the connections, BotToken (xoxb-…) does the rest.
	AppToken Secret `yaml:"-"`
	BotToken Secret `yaml:"-"`
}

// Audit is the listener to which a kube-apiserver sends its audit events.
type Audit struct {
	Listen      string `yaml:"listen"`
	TokenFile   string `yaml:"tokenFile"`
	TokenEnv    string `yaml:"tokenEnv"`
	TLSCertFile string `yaml:"tlsCertFile"`
	TLSKeyFile  string `yaml:"tlsKeyFile"`
	// ClientCAFile, when set, makes the sender show a certificate of that
	// authority in addition to the token.
	ClientCAFile string `yaml:"clientCAFile"`
	// Link is where people read an audit event, with {auditID} in the place of
	// its id; empty means that they can't.
	Link string `yaml:"link"`

	Token Secret `yaml:"-"`
}

// Cluster is a Kubernetes cluster and the Argo CD that deploys to it.
type Cluster struct {
	// Name is how people name it: production-eu.
	Name string `yaml:"name"`
	// Kubeconfig and Context choose the credentials; both empty means those
	// of the pod that the bot runs in.
	Kubeconfig string `yaml:"kubeconfig"`
	Context    string `yaml:"context"`
	ArgoCD     ArgoCD `yaml:"argocd"`
}

// ArgoCD says how to reach one Argo CD.
type ArgoCD struct {
	Server    string `yaml:"server"`
	TokenFile string `yaml:"tokenFile"`
	TokenEnv  string `yaml:"tokenEnv"`
	// Namespace is where the control plane and, by default, its
	// Applications are.
	Namespace string `yaml:"namespace"`
	CAFile    string `yaml:"caFile"`
	// UI is the address that people use; Server if empty.
	UI string `yaml:"ui"`

	Token Secret `yaml:"-"`
}

// GitHub says how to reach the Git host.
type GitHub struct {
	// API is the REST base address; "" is github.com.
	API       string     `yaml:"api"`
	CAFile    string     `yaml:"caFile"`
	App       *GitHubApp `yaml:"app"`
	TokenFile string     `yaml:"tokenFile"`
	TokenEnv  string     `yaml:"tokenEnv"`
	Git       Git        `yaml:"git"`

	// Token is unset with App.
	Token Secret `yaml:"-"`
}

// GitHubApp is the App that the bot signs in as.
type GitHubApp struct {
	// ClientID is in the App's settings, and so is ID, its number, which older
	// servers want. One of them is given.
	ClientID string `yaml:"clientID"`
	ID       int    `yaml:"id"`
	KeyFile  string `yaml:"keyFile"`
	KeyEnv   string `yaml:"keyEnv"`

	// Key is the private key, in PEM form.
	Key Secret `yaml:"-"`
}

// Issuer is how the App names itself.
func (a GitHubApp) Issuer() string {
	if a.ClientID != "" {
		return a.ClientID
	}
	return strconv.Itoa(a.ID)
}

// Git says how the bot keeps and writes repositories.
type Git struct {
	// Cache is the folder for copies of the repositories. It can be deleted
	// whenever the bot does not run.
	Cache  string `yaml:"cache"`
	Author Author `yaml:"author"`
	Sign   Sign   `yaml:"sign"`
}

// Sign says how commits are signed.
type Sign struct {
	// By is none; key, with a private key in SSH's or OpenPGP's form; or github:
	// then GitHub makes the commits, in the name of the token's owner, and signs
	// them. For an App that is the only way: it can't register a key.
	By      string `yaml:"by"`
	KeyFile string `yaml:"keyFile"`
	KeyEnv  string `yaml:"keyEnv"`

	Key Secret `yaml:"-"`
}

// Author is who the bot is in commits.
type Author struct {
	Name  string `yaml:"name"`
	Email string `yaml:"email"`
}

// Person is one human under all their names.
type Person struct {
	Name       string   `yaml:"name"`
	Slack      string   `yaml:"slack"`
	GitHub     string   `yaml:"github"`
	Kubernetes []string `yaml:"kubernetes"`
}

// Group is people who are named together: a list of names or Slack ids, or
// where somebody else keeps one.
type Group struct {
	Members []string `yaml:"members"`
	// Slack is the id of a user group, S….
	Slack string `yaml:"slack"`
	// GitHub is a team, as organisation/team.
	GitHub string `yaml:"github"`
	// CodeOwners are those whom CODEOWNERS names for what is edited.
	CodeOwners bool `yaml:"codeowners"`
}

// Rule says who may do what to some targets. The first rule that matches a
// target decides; where none matches, nobody may do anything.
type Rule struct {
	// Targets are patterns of CLUSTER/NAME, where * stands for any run of
	// characters but the slash.
	Targets []string `yaml:"targets"`
	// See, Decide and Pause name people, groups, or everyone.
	See     []string `yaml:"see"`
	Decide  []string `yaml:"decide"`
	Pause   []string `yaml:"pause"`
	Approve Approve  `yaml:"approve"`
	// Override names who may go on without approval. Whoever a list does not
	// name may not, so a rule without this lets nobody.
	Override []string `yaml:"override"`
}

// Approve says whose yes is needed, and how many of them.
type Approve struct {
	By    []string `yaml:"by"`
	Count int      `yaml:"count"`
}

// The ways to sign.
const (
	SignNone   = "none"
	SignKey    = "key"
	SignGitHub = "github"
)

// Everyone stands for all full members of the workspace, never for guests.
const Everyone = "everyone"

// Timing is how long things may take and how often the bot looks.
type Timing struct {
	ApprovalExpires time.Duration `yaml:"approvalExpires"`
	PollGitHub      time.Duration `yaml:"pollGitHub"`
	PollArgoCD      time.Duration `yaml:"pollArgoCD"`
	// PauseCheck is how often a pause is looked at; PauseEscalate how long a
	// question about its end waits for an answer before it is put again.
	PauseCheck    time.Duration `yaml:"pauseCheck"`
	PauseEscalate time.Duration `yaml:"pauseEscalate"`
	// StableFor is how long a good end state must hold before it is believed.
	StableFor time.Duration `yaml:"stableFor"`
	// VerifyTimeout bounds the way from the merge, or the sync, to that state.
	VerifyTimeout time.Duration `yaml:"verifyTimeout"`
	// MergeDeadline bounds the way from the pull request to its merge.
	MergeDeadline time.Duration `yaml:"mergeDeadline"`
	// ExpeditedDeadline is that for a change that is asked for as an emergency.
	ExpeditedDeadline time.Duration `yaml:"expeditedDeadline"`
}

// Merge says how pull requests are merged.
type Merge struct {
	// Method is squash, merge, rebase, or auto: what the repository prefers.
	Method string `yaml:"method"`
	// When is rules-met, or never: then people merge.
	When string `yaml:"when"`
}

// defaults is a Config in which everything optional is said.
func defaults() Config {
	return Config{
		Listen: "127.0.0.1:8080",
		Slack:  Slack{API: "https://slack.com/api/", Sockets: 2},
		GitHub: GitHub{Git: Git{Sign: Sign{By: SignNone}, Author: Author{Name: "reconcilebot", Email: "reconcilebot@users.noreply.github.com"}}},
		Timing: Timing{
			ApprovalExpires:   30 * time.Minute,
			PollGitHub:        5 * time.Second,
			PollArgoCD:        2 * time.Second,
			PauseCheck:        30 * time.Second,
			PauseEscalate:     10 * time.Minute,
			StableFor:         time.Minute,
			VerifyTimeout:     15 * time.Minute,
			MergeDeadline:     24 * time.Hour,
			ExpeditedDeadline: 30 * time.Minute,
		},
		Merge: Merge{Method: "auto", When: "rules-met"},
		Speak: Speak{OutOfSync: 15 * time.Minute},
	}
}
