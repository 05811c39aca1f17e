package ticket

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// PagerDutyConfig is what a client of PagerDuty needs.
type PagerDutyConfig struct {
	Name     string
	URL      string // of the pages: https://acme.pagerduty.com
	API      string // "" means the one that belongs to URL
	Patterns Patterns
	// From is the e-mail address of the PagerDuty user in whose name notes
	// are written; an account's API key has none of its own.
	From       string
	Token      func() (string, error)
	HTTPClient *http.Client // nil for one with a timeout
}

// PagerDuty keeps records as notes of incidents. A note can't be edited: there
// is one when the record begins, and the final one.
type PagerDuty struct {
	c PagerDutyConfig
	wire
}

const (
	pagerDutyName  = "PagerDuty"
	pagerDutyRight = "an API key that may write, not a read-only one, and in `from` the address of a user who may respond to the incident"
	// pagerDutyLimit keeps a note to what people read; the API's own limit is
	// not documented.
	pagerDutyLimit = 20_000
)

// NewPagerDuty makes a client. It sends nothing.
func NewPagerDuty(c PagerDutyConfig) (*PagerDuty, error) {
	base := c.API
	if base == "" {
		base = pagerDutyAPI(c.URL)
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.User != nil || c.Token == nil || c.From == "" {
		return nil, fmt.Errorf("ticket system %s: want PagerDuty's address without user or password, a user's e-mail address, and a token", c.Name)
	}
	p := &PagerDuty{c: c}
	p.wire = wire{
		system: pagerDutyName, base: strings.TrimRight(base, "/"), client: closeMouthed(c.HTTPClient), now: time.Now, authorize: p.authorize,
		header: map[string]string{"Accept": "application/vnd.pagerduty+json;version=2", "From": c.From},
	}
	return p, nil
}

// pagerDutyAPI is the API that belongs to the pages: accounts of the European
// service region have their own.
// https://support.pagerduty.com/main/docs/service-regions
func pagerDutyAPI(web string) string {
	if u, err := url.Parse(web); err == nil && strings.HasSuffix(u.Hostname(), ".eu.pagerduty.com") {
		return "https://api.eu.pagerduty.com"
	}
	return "https://api.pagerduty.com"
}

// https://developer.pagerduty.com/docs/authentication
func (p *PagerDuty) authorize(r *http.Request) error {
	token, err := p.c.Token()
	if err == nil {
		r.Header.Set("Authorization", "Token token="+token)
	}
	return err
}

// Name is the system's name in the config.
func (p *PagerDuty) Name() string { return p.c.Name }

var pagerDutyID = regexp.MustCompile(`^incidents/([A-Z0-9]{5,40})$`)

func (p *PagerDuty) id(address string) (string, bool) {
	rest, ok := below(p.c.URL, address)
	m := pagerDutyID.FindStringSubmatch(rest)
	if !ok || m == nil {
		return "", false
	}
	return m[1], true
}

// Takes tells whether an address is that of an incident that may be written to.
func (p *PagerDuty) Takes(address string) bool {
	_, ok := p.id(address)
	return ok && p.c.Patterns.allowed(address)
}

// pagerDutyIncident is the part of an incident that matters here. One that was
// merged into another is resolved for that reason.
// https://developer.pagerduty.com/api-reference/005299ca43553-get-an-incident
type pagerDutyIncident struct {
	Incident struct {
		Status        string `json:"status"` // triggered, acknowledged or resolved
		ResolveReason *struct {
			Type     string `json:"type"`
			Incident struct {
				ID string `json:"id"`
			} `json:"incident"`
		} `json:"resolve_reason"`
	} `json:"incident"`
}

// pagerDutyNote is a note of an incident.
// https://developer.pagerduty.com/api-reference/3f00a0b2d8ad6-list-notes-for-an-incident
type pagerDutyNote struct {
	ID      string `json:"id,omitempty"`
	Content string `json:"content"`
}

// Put writes the note that the record's state asks for, unless it is there.
func (p *PagerDuty) Put(ctx context.Context, post Post) (Comment, error) {
	id, ok := p.id(post.Ticket)
	if !ok || !p.Takes(post.Ticket) {
		return Comment{}, fmt.Errorf("put a record on %s: it is no ticket of %s", post.Ticket, p.c.Name)
	}
	if err := post.Record.check(); err != nil {
		return Comment{}, err
	}
	if post.Known.ID != "" && (post.Known.Final || !post.Record.Final()) {
		return post.Known, nil
	}
	var incident pagerDutyIncident
	if err := p.call(ctx, http.MethodGet, "/incidents/"+id, nil, &incident); err != nil {
		return Comment{}, p.refused(post.Ticket, err)
	}
	if why := incident.Incident.ResolveReason; why != nil && why.Type == "merge_resolve_reason" {
		to := ""
		if why.Incident.ID != "" {
			to = strings.TrimRight(p.c.URL, "/") + "/incidents/" + why.Incident.ID
		}
		return Comment{}, &Refused{System: pagerDutyName, Why: Moved, Ticket: post.Ticket, To: to, Right: pagerDutyRight}
	}
	note, err := p.note(ctx, id, post.Record)
	if err != nil {
		return Comment{}, p.refused(post.Ticket, err)
	}
	return Comment{
		ID: note.ID, URL: post.Ticket, Sum: sum(note.Content), Final: post.Record.Final(),
		Closed: incident.Incident.Status == "resolved",
	}, nil
}

// note finds or writes the note. Whose it is can't be told from an account's
// key, so anybody's counts that ends in our marker: what it names is not known
// outside before the first note.
// https://developer.pagerduty.com/api-reference/a1ac30885eb7a-create-a-note-on-an-incident
func (p *PagerDuty) note(ctx context.Context, id string, r Record) (pagerDutyNote, error) {
	marker := textMarker(r.ID) + ", start"
	text := plain(r, "\nA note can't be edited: the final one follows at the end.\n"+marker, pagerDutyLimit)
	if r.Final() {
		marker = textMarker(r.ID) + ", final"
		text = plain(r, "\n"+marker, pagerDutyLimit)
	}
	var all struct {
		Notes []pagerDutyNote `json:"notes"`
	}
	if err := p.call(ctx, http.MethodGet, "/incidents/"+id+"/notes", nil, &all); err != nil {
		return pagerDutyNote{}, fmt.Errorf("look for the record: %w", err)
	}
	for _, n := range all.Notes {
		if hasLine(n.Content, marker) {
			return n, nil
		}
	}
	var made struct {
		Note pagerDutyNote `json:"note"`
	}
	send := map[string]pagerDutyNote{"note": {Content: text}}
	if err := p.call(ctx, http.MethodPost, "/incidents/"+id+"/notes", send, &made); err != nil {
		return pagerDutyNote{}, fmt.Errorf("write the record: %w", err)
	}
	return made.Note, nil
}

// refused gives an answer about one ticket its meaning.
func (p *PagerDuty) refused(ticket string, err error) error {
	no := &Refused{System: pagerDutyName, Ticket: ticket, Right: pagerDutyRight, Err: err}
	switch status(err) {
	case 0:
		return about(err, ticket)
	case http.StatusForbidden, http.StatusPaymentRequired:
		no.Why = Forbidden
	case http.StatusNotFound, http.StatusGone:
		no.Why = Missing
	default:
		no.Why = Unfit
	}
	return no
}

// Whoami asks whether the key works, and whether the user in whose name notes
// are written is there.
// https://developer.pagerduty.com/api-reference/c96e889522dd6-list-users
func (p *PagerDuty) Whoami(ctx context.Context) (Account, error) {
	var users struct {
		Users []struct {
			Name  string `json:"name"`
			Email string `json:"email"`
		} `json:"users"`
	}
	if err := p.call(ctx, http.MethodGet, "/users?query="+url.QueryEscape(p.c.From), nil, &users); err != nil {
		return Account{}, fmt.Errorf("ask PagerDuty for the user %s: %w", p.c.From, p.refused(p.c.URL, err))
	}
	for _, u := range users.Users {
		if strings.EqualFold(u.Email, p.c.From) {
			return Account{Name: u.Name, Warnings: []string{"whether the key may write shows at the first record"}}, nil
		}
	}
	return Account{}, &Refused{System: pagerDutyName, Why: Forbidden, Ticket: p.c.URL, Right: pagerDutyRight, Err: errors.New("no user has the address " + p.c.From)}
}
