package ticket

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"
)

// GitHubConfig is what a client of GitHub Issues needs.
type GitHubConfig struct {
	Name     string
	URL      string // of the pages: https://github.com, or an Enterprise Server's
	API      string // the REST root; "" means the one that belongs to URL
	Patterns Patterns
	// Token gives the token at each request. It needs the right Issues: write
	// on the repositories of the tickets.
	Token      func() (string, error)
	HTTPClient *http.Client // nil for one with a timeout
}

// GitHub keeps records on issues of GitHub or GitHub Enterprise Server.
type GitHub struct {
	c   GitHubConfig
	api *github.Client
	now func() time.Time
}

const (
	githubName  = "GitHub"
	githubRight = "Issues: write on the repository"
)

// NewGitHub makes a client. It sends nothing.
func NewGitHub(c GitHubConfig) (*GitHub, error) {
	root := c.API
	if root == "" {
		root = githubAPI(c.URL)
	}
	base, err := url.Parse(strings.TrimRight(root, "/") + "/")
	if err != nil || base.Host == "" || base.User != nil || c.Token == nil {
		return nil, fmt.Errorf("ticket system %s: want the address of GitHub's REST API without user or password, and a token", c.Name)
	}
	client := closeMouthed(c.HTTPClient)
	client.Transport = bearer{token: c.Token, host: base.Host, next: client.Transport}
	api := github.NewClient(client)
	api.BaseURL, api.UserAgent = base, "reconcilebot"
	return &GitHub{c: c, api: api, now: time.Now}, nil
}

// githubAPI is the REST root that belongs to the pages' address.
// https://docs.github.com/enterprise-server/rest/quickstart
func githubAPI(web string) string {
	if web == "https://github.com" || web == "" {
		return "https://api.github.com/"
	}
	return strings.TrimRight(web, "/") + "/api/v3/"
}

// bearer adds the token to requests for one host.
type bearer struct {
	token func() (string, error)
	host  string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	next := b.next
	if next == nil {
		next = http.DefaultTransport
	}
	if r.URL.Host != b.host {
		return next.RoundTrip(r)
	}
	token, err := b.token()
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // RoundTrip must close it; nothing was read
		}
		return nil, &noToken{err}
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return next.RoundTrip(r)
}

// Name is the system's name in the config.
func (g *GitHub) Name() string { return g.c.Name }

// issueRef names an issue.
type issueRef struct {
	owner, repo string
	number      int
}

var githubIssue = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9-]*)/([A-Za-z0-9._-]+)/issues/([1-9][0-9]{0,9})$`)

func (g *GitHub) ref(address string) (issueRef, bool) {
	web := g.c.URL
	if web == "" {
		web = "https://github.com"
	}
	rest, ok := below(web, address)
	m := githubIssue.FindStringSubmatch(rest)
	if !ok || m == nil || m[2] == "." || m[2] == ".." {
		return issueRef{}, false
	}
	number, err := strconv.Atoi(m[3])
	return issueRef{m[1], m[2], number}, err == nil
}

// Takes tells whether an address is that of an issue that may be written to.
func (g *GitHub) Takes(address string) bool {
	_, ok := g.ref(address)
	return ok && g.c.Patterns.allowed(address)
}

// Put keeps the record in one comment of the issue.
// https://docs.github.com/en/rest/issues/comments
func (g *GitHub) Put(ctx context.Context, p Post) (Comment, error) {
	ref, ok := g.ref(p.Ticket)
	if !ok || !g.Takes(p.Ticket) {
		return Comment{}, fmt.Errorf("put a record on %s: it is no ticket of %s", p.Ticket, g.c.Name)
	}
	if err := p.Record.check(); err != nil {
		return Comment{}, err
	}
	body := markdown(p.Record)
	if same(p, body) {
		return p.Known, nil
	}
	issue, _, err := g.api.Issues.Get(ctx, ref.owner, ref.repo, ref.number)
	if err != nil {
		return Comment{}, g.refused(ctx, p.Ticket, nil, g.sort(err))
	}
	c, err := keep(ctx, &githubBoard{GitHub: g, ref: ref}, p, body)
	if err != nil {
		return Comment{}, g.refused(ctx, p.Ticket, issue, err)
	}
	c.Closed = issue.GetState() == "closed"
	return c, nil
}

// refused gives an answer about one ticket its meaning.
func (g *GitHub) refused(ctx context.Context, ticket string, issue *github.Issue, err error) error {
	no := &Refused{System: githubName, Ticket: ticket, Right: githubRight, Err: err}
	switch status(err) {
	case 0:
		return about(err, ticket)
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		// A transferred issue, or a renamed repository.
		// https://docs.github.com/en/rest/issues/issues#get-an-issue
		no.Why, no.To = Moved, g.movedTo(ctx, err)
	case http.StatusForbidden:
		no.Why = Forbidden
		if issue.GetLocked() {
			no.Why = Locked
		}
	case http.StatusNotFound, http.StatusGone:
		no.Why = Missing
	default:
		no.Why = Unfit
	}
	return no
}

// movedTo asks for the page of the issue that the old address leads to, on
// the same host; "" when it can't be told.
func (g *GitHub) movedTo(ctx context.Context, err error) string {
	a, _ := errors.AsType[*answer](err)
	to, parseErr := url.Parse(a.header.Get("Location"))
	if parseErr != nil || to.Host != g.api.BaseURL.Host || to.Scheme != g.api.BaseURL.Scheme {
		return ""
	}
	req, reqErr := g.api.NewRequest(http.MethodGet, to.String(), nil)
	if reqErr != nil {
		return ""
	}
	var issue github.Issue
	if _, err := g.api.Do(ctx, req, &issue); err != nil {
		return ""
	}
	return issue.GetHTMLURL()
}

// about puts the ticket into an error of this package that lacks it.
func about(err error, ticket string) error {
	if r, ok := errors.AsType[*Refused](err); ok && r.Ticket == "" {
		r.Ticket = ticket
	}
	return err
}

// sort turns an error of the client library into one of this package's.
func (g *GitHub) sort(err error) error {
	if err == nil {
		return nil
	}
	if limit, ok := errors.AsType[*github.RateLimitError](err); ok {
		return &Unavailable{System: githubName, Until: limit.Rate.Reset.Time, Err: err}
	}
	if limit, ok := errors.AsType[*github.AbuseRateLimitError](err); ok {
		return &Unavailable{System: githubName, Until: g.now().Add(secondary(limit)), Err: err}
	}
	if said, ok := errors.AsType[*github.ErrorResponse](err); ok {
		return sortStatus(githubName, &answer{said.Response.StatusCode, said.Response.Header, cutSaid(said.Message)}, g.now())
	}
	return sortPlain(githubName, err)
}

// secondary is how long to wait after a secondary limit; GitHub asks for at
// least one minute when it names no time.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
func secondary(e *github.AbuseRateLimitError) time.Duration {
	if e.RetryAfter != nil {
		return *e.RetryAfter
	}
	return limitPause
}

// Whoami asks whose token this is.
func (g *GitHub) Whoami(ctx context.Context) (Account, error) {
	login, err := g.login(ctx)
	if err != nil {
		return Account{}, err
	}
	if login == "" {
		return Account{Name: "a GitHub App", Warnings: []string{"whether it may write issues shows at the first record"}}, nil
	}
	return Account{Name: login}, nil
}

// login is the account's; "" for an App's installation token, which GitHub
// does not answer this question.
// https://docs.github.com/en/rest/users/users#get-the-authenticated-user
func (g *GitHub) login(ctx context.Context) (string, error) {
	user, _, err := g.api.Users.Get(ctx, "")
	err = g.sort(err)
	if status(err) == http.StatusForbidden {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("ask GitHub whose token this is: %w", err)
	}
	return user.GetLogin(), nil
}
