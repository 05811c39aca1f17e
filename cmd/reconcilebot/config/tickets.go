package config

import (
	"fmt"
	"net/url"
	"strings"

	"reconcilebot/runbook/ticket"
)

// Ticket is a ticket system that keeps records.
type Ticket struct {
	// Name tells systems apart; it is stored with what is written there, so it
	// must stay. The kind if empty.
	Name string `yaml:"name"`
	// Kind is github, jira, pagerduty or webhook.
	Kind string `yaml:"kind"`
	// URL is the address of its pages; of a webhook, the endpoint.
	URL string `yaml:"url"`
	// API is the REST root when it is not the usual one for URL.
	API string `yaml:"api"`
	// Match are patterns of the tickets' addresses that may be written to: a
	// star stands for any run of characters but the slash, two for any at all.
	Match []string `yaml:"match"`
	// Deployment is cloud or datacenter, of a Jira.
	Deployment string `yaml:"deployment"`
	// User is the e-mail address that the API token of a Jira Cloud belongs to.
	User string `yaml:"user"`
	// From is the e-mail address of the PagerDuty user who writes the notes.
	From      string `yaml:"from"`
	CAFile    string `yaml:"caFile"`
	TokenFile string `yaml:"tokenFile"`
	TokenEnv  string `yaml:"tokenEnv"`

	// Token is a webhook's secret, whsec_…, or the others' token.
	Token Secret `yaml:"-"`
	// Patterns is Match, read.
	Patterns ticket.Patterns `yaml:"-"`
}

// The kinds of ticket systems.
const (
	TicketGitHub    = "github"
	TicketJira      = "jira"
	TicketPagerDuty = "pagerduty"
	TicketWebhook   = "webhook"
)

func (k checker) tickets() {
	seen := map[string]int{}
	for i := range k.c.Tickets {
		t, at := &k.c.Tickets[i], fmt.Sprintf("tickets[%d]", i)
		if t.Name == "" {
			t.Name = t.Kind
		}
		k.require(at+".kind", t.Kind, "what it is: github, jira, pagerduty or webhook")
		if t.Kind != "" {
			k.oneOf(at+".kind", t.Kind, TicketGitHub, TicketJira, TicketPagerDuty, TicketWebhook)
			k.name(at+".name", t.Name, seen, i, "a name for the ticket system")
		}
		if t.URL == "" && t.Kind == TicketGitHub {
			t.URL = "https://github.com"
		}
		k.require(at+".url", t.URL, "the address of its pages, or of the webhook's endpoint")
		k.web(at+".url", t.URL)
		k.web(at+".api", t.API)
		t.URL = strings.TrimRight(t.URL, "/")
		t.CAFile = k.path(t.CAFile)
		k.match(at+".match", t)
		k.ticketAccount(at, t)
	}
}

// match reads the patterns. One that no ticket of the system can fit is a
// mistake that would show only in an incident.
func (k checker) match(at string, t *Ticket) {
	if len(t.Match) == 0 {
		k.add(at, "is missing; list which tickets may be written to, like [%s]", exampleOf(t))
		return
	}
	for i, text := range t.Match {
		one := fmt.Sprintf("%s[%d]", at, i)
		p, err := ticket.ParsePattern(text)
		switch {
		case err != nil:
			k.add(one, "%s", err)
		case t.Kind != TicketWebhook && !strings.HasPrefix(strings.ToLower(text), strings.ToLower(t.URL)+"/"):
			k.add(one, "%q fits no ticket on %s; it has to begin with that", text, t.URL)
		default:
			t.Patterns = append(t.Patterns, p)
		}
	}
}

func exampleOf(t *Ticket) string {
	switch t.Kind {
	case TicketGitHub:
		return t.URL + "/acme/*/issues/*"
	case TicketJira:
		return t.URL + "/browse/OPS-*"
	case TicketPagerDuty:
		return t.URL + "/incidents/*"
	}
	return "https://tickets.example.com/**"
}

// ticketAccount checks what each kind needs to sign in, and that nothing is
// said that it does not read.
func (k checker) ticketAccount(at string, t *Ticket) {
	prefix, what := "", "a token of the account that writes the records"
	if t.Kind == TicketWebhook {
		prefix, what = "whsec_", "the webhook's secret"
	}
	t.Token = k.secret(at+".token", t.TokenFile, t.TokenEnv, prefix, what)
	if t.Kind == TicketWebhook && !k.blind {
		if value, err := t.Token.Value(); err == nil && strings.HasPrefix(value, prefix) {
			if _, err := ticket.ParseSecret(value); err != nil {
				k.add(at+".token", "%s", err)
			}
		}
	}
	if t.Kind == TicketJira {
		if u, err := url.Parse(t.URL); err == nil && t.Deployment == "" {
			t.Deployment = string(ticket.DataCenter)
			if strings.HasSuffix(u.Hostname(), ".atlassian.net") {
				t.Deployment = string(ticket.Cloud)
			}
		}
		k.oneOf(at+".deployment", t.Deployment, string(ticket.Cloud), string(ticket.DataCenter))
	}
	k.only(at+".deployment", t.Deployment, t.Kind == TicketJira, "a Jira")
	k.only(at+".user", t.User, t.Deployment == string(ticket.Cloud), "a Jira Cloud; a personal access token stands alone")
	k.only(at+".from", t.From, t.Kind == TicketPagerDuty, "PagerDuty")
	if t.Deployment == string(ticket.Cloud) && !strings.Contains(t.User, "@") {
		k.add(at+".user", "is missing; give the e-mail address that the API token belongs to")
	}
	if t.Kind == TicketPagerDuty && !strings.Contains(t.From, "@") {
		k.add(at+".from", "is missing; give the e-mail address of the PagerDuty user in whose name notes are written")
	}
}

func (k checker) only(key, value string, fits bool, whose string) {
	if value != "" && !fits {
		k.add(key, "is read only for %s; take it out", whose)
	}
}
