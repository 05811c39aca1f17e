package ticket

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Deployment is which of the two Jiras it is.
type Deployment string

// The deployments: Cloud has version 3 of the REST API and documents, Data
// Center version 2 and wiki markup.
const (
	Cloud      Deployment = "cloud"
	DataCenter Deployment = "datacenter"
)

// JiraConfig is what a client of Jira needs.
type JiraConfig struct {
	Name       string
	URL        string // of the pages: https://acme.atlassian.net, https://jira.example.com/jira
	API        string // the REST root when it is not URL, as for scoped tokens of Cloud
	Deployment Deployment
	Patterns   Patterns
	// User is the e-mail address that belongs to the API token, in Cloud. Data
	// Center's personal access tokens stand alone.
	User       string
	Token      func() (string, error)
	HTTPClient *http.Client // nil for one with a timeout
}

// Jira keeps records on issues of Jira Cloud or Jira Data Center.
type Jira struct {
	c JiraConfig
	wire
	root string // of the REST API, below the base
}

const (
	jiraName  = "Jira"
	jiraRight = "the project permissions Browse Projects, Add Comments and Edit Own Comments"
)

// NewJira makes a client. It sends nothing.
func NewJira(c JiraConfig) (*Jira, error) {
	base := c.API
	if base == "" {
		base = c.URL
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.User != nil || c.Token == nil || c.Deployment != Cloud && c.Deployment != DataCenter {
		return nil, fmt.Errorf("ticket system %s: want Jira's address without user or password, its deployment, and a token", c.Name)
	}
	j := &Jira{c: c, root: "/rest/api/3"}
	if c.Deployment == DataCenter {
		j.root = "/rest/api/2"
	}
	j.wire = wire{system: jiraName, base: strings.TrimRight(base, "/"), client: closeMouthed(c.HTTPClient), now: time.Now, authorize: j.authorize}
	return j, nil
}

// authorize adds the credentials: an e-mail address with an API token in
// Cloud, a personal access token in Data Center.
// https://developer.atlassian.com/cloud/jira/platform/basic-auth-for-rest-apis/
// https://confluence.atlassian.com/enterprise/using-personal-access-tokens-1026032365.html
func (j *Jira) authorize(r *http.Request) error {
	token, err := j.c.Token()
	if err != nil {
		return err
	}
	if j.c.User != "" {
		r.SetBasicAuth(j.c.User, token)
		return nil
	}
	r.Header.Set("Authorization", "Bearer "+token)
	return nil
}

// Name is the system's name in the config.
func (j *Jira) Name() string { return j.c.Name }

// jiraKey is the usual form of an issue's key.
// https://confluence.atlassian.com/adminjiraserver/changing-the-project-key-format-938847081.html
var jiraKey = regexp.MustCompile(`^browse/([A-Z][A-Z0-9_]{0,30}-[1-9][0-9]{0,9})$`)

func (j *Jira) key(address string) (string, bool) {
	rest, ok := below(j.c.URL, address)
	m := jiraKey.FindStringSubmatch(rest)
	if !ok || m == nil {
		return "", false
	}
	return m[1], true
}

func (j *Jira) page(key string) string { return strings.TrimRight(j.c.URL, "/") + "/browse/" + key }

// Takes tells whether an address is that of an issue that may be written to.
func (j *Jira) Takes(address string) bool {
	_, ok := j.key(address)
	return ok && j.c.Patterns.allowed(address)
}

// jiraIssue is the part of an issue that matters here.
type jiraIssue struct {
	Key    string `json:"key"`
	Fields struct {
		Status struct {
			StatusCategory struct {
				// Key is new, indeterminate or done, however the statuses are
				// called.
				Key string `json:"key"`
			} `json:"statusCategory"`
		} `json:"status"`
	} `json:"fields"`
}

// Put keeps the record in one comment of the issue.
// https://developer.atlassian.com/cloud/jira/platform/rest/v3/api-group-issue-comments/
// https://docs.atlassian.com/software/jira/docs/api/REST/9.17.0/#api/2/issue-addComment
func (j *Jira) Put(ctx context.Context, p Post) (Comment, error) {
	key, ok := j.key(p.Ticket)
	if !ok || !j.Takes(p.Ticket) {
		return Comment{}, fmt.Errorf("put a record on %s: it is no ticket of %s", p.Ticket, j.c.Name)
	}
	if err := p.Record.check(); err != nil {
		return Comment{}, err
	}
	body, err := j.draw(p.Record)
	if err != nil {
		return Comment{}, err
	}
	if same(p, body) {
		return p.Known, nil
	}
	var issue jiraIssue
	if err := j.call(ctx, http.MethodGet, j.root+"/issue/"+key+"?fields=status", nil, &issue); err != nil {
		return Comment{}, j.refused(p.Ticket, issue, err)
	}
	if issue.Key != key {
		// Jira answers for the old key with the issue that was moved.
		return Comment{}, &Refused{System: jiraName, Why: Moved, Ticket: p.Ticket, To: j.page(issue.Key), Right: jiraRight}
	}
	c, err := keep(ctx, &jiraBoard{Jira: j, key: key}, p, body)
	if err != nil {
		return Comment{}, j.refused(p.Ticket, issue, err)
	}
	c.Closed = issue.done()
	return c, nil
}

func (i jiraIssue) done() bool { return i.Fields.Status.StatusCategory.Key == "done" }

func (j *Jira) draw(r Record) (string, error) {
	if j.c.Deployment == DataCenter {
		return wiki(r), nil
	}
	raw, err := encode(adf(r))
	return string(raw), err
}

// refused gives an answer about one ticket its meaning.
func (j *Jira) refused(ticket string, issue jiraIssue, err error) error {
	no := &Refused{System: jiraName, Ticket: ticket, Right: jiraRight, Err: err}
	a, ok := unsorted(err)
	switch {
	case !ok:
		return about(err, ticket)
	case unknownToJira(a):
		no.Why = Token
	case a.status == http.StatusForbidden && issue.done():
		no.Why = Locked
	case a.status == http.StatusForbidden:
		no.Why = Forbidden
	case a.status == http.StatusNotFound, a.status == http.StatusGone:
		no.Why = Missing
	default:
		no.Why = Unfit
	}
	return no
}

// unknownToJira tells whether Jira took the request for an anonymous one, or
// wants a person to solve a puzzle first: it answers 404 or 403 then, not 401.
// https://developer.atlassian.com/server/jira/platform/basic-authentication/
func unknownToJira(a *answer) bool {
	return strings.Contains(a.header.Get("X-Seraph-Loginreason"), "AUTHENTICATED_FAILED") ||
		strings.Contains(a.header.Get("X-Seraph-Loginreason"), "AUTHENTICATION_DENIED") ||
		strings.Contains(a.header.Get("X-Authentication-Denied-Reason"), "CAPTCHA")
}

// jiraUser is an account as Cloud (accountId) or Data Center (key) names it.
type jiraUser struct {
	AccountID   string `json:"accountId"`
	Key         string `json:"key"`
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
}

func (u jiraUser) is(o jiraUser) bool {
	return u.AccountID != "" && u.AccountID == o.AccountID || u.AccountID == "" && u.Key != "" && u.Key == o.Key
}

func (j *Jira) myself(ctx context.Context) (me jiraUser, err error) {
	err = j.call(ctx, http.MethodGet, j.root+"/myself", nil, &me)
	return me, err
}

// Whoami asks who the bot is, which Jira this is, and what it may do in any
// project.
func (j *Jira) Whoami(ctx context.Context) (Account, error) {
	me, err := j.myself(ctx)
	if err != nil {
		return Account{}, fmt.Errorf("ask Jira whose token this is: %w", j.refused(j.c.URL, jiraIssue{}, err))
	}
	acc := Account{Name: me.DisplayName}
	var server struct {
		DeploymentType string `json:"deploymentType"` // Cloud or Server
	}
	if err := j.call(ctx, http.MethodGet, j.root+"/serverInfo", nil, &server); err != nil {
		return acc, fmt.Errorf("ask Jira what it is: %w", err)
	}
	if is := strings.EqualFold(server.DeploymentType, "cloud"); is != (j.c.Deployment == Cloud) {
		acc.Warnings = append(acc.Warnings, fmt.Sprintf("says that its deployment is %q: correct deployment in the config", server.DeploymentType))
	}
	missing, err := j.missing(ctx)
	if err != nil {
		return acc, fmt.Errorf("ask Jira what the bot may do: %w", err)
	}
	if len(missing) > 0 {
		acc.Warnings = append(acc.Warnings, "the account has in no project "+strings.Join(missing, ", ")+"; it needs "+jiraRight)
	}
	return acc, nil
}

// missing lists the permissions that the account has in no project at all.
// https://developer.atlassian.com/cloud/jira/platform/rest/v3/api-group-permissions/#api-rest-api-3-mypermissions-get
func (j *Jira) missing(ctx context.Context) (list []string, err error) {
	var mine struct {
		Permissions map[string]struct {
			HavePermission bool `json:"havePermission"`
		} `json:"permissions"`
	}
	needed := []string{"BROWSE_PROJECTS", "ADD_COMMENTS", "EDIT_OWN_COMMENTS"}
	if err := j.call(ctx, http.MethodGet, j.root+"/mypermissions?permissions="+strings.Join(needed, ","), nil, &mine); err != nil {
		return nil, err
	}
	for _, p := range needed {
		if !mine.Permissions[p].HavePermission {
			list = append(list, p)
		}
	}
	return list, nil
}
