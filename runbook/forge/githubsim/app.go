package githubsim

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v4"
)

// App is a GitHub App.
type App struct {
	Slug, Name string
	// ClientID is its id in addresses and signatures; its number is the other.
	ClientID string
	// Owner is the account that registered it.
	Owner string
	// Key is the public half of its private key.
	Key *rsa.PublicKey
	// Rights are what it asks for.
	Rights map[string]string
	// TokenLife is how long installation tokens live; an hour if zero.
	TokenLife time.Duration
}

// Install is an App given to an owner.
type Install struct {
	Owner string
	// Repos are the names of the repositories that it may see; all if empty.
	Repos []string
	// Rights are what the owner granted; what the App asks for if nil.
	Rights map[string]string
}

type app struct {
	App
	id      int64
	created time.Time
}

// bot is the account in whose name the App acts.
func (p *app) bot() string { return p.Slug + "[bot]" }

type installation struct {
	Install
	id        int64
	app       *app
	created   time.Time
	suspended time.Time
}

// mint is a token of an installation.
type mint struct {
	in      *installation
	rights  map[string]string
	expires time.Time
}

// covers tells whether an installation may see a repository.
func (in *installation) covers(owner, name string) bool {
	return strings.EqualFold(in.Owner, owner) && in.suspended.IsZero() && (len(in.Repos) == 0 || slices.Contains(in.Repos, name))
}

// AddApp registers an App, and returns its number.
func (s *Sim) AddApp(a App) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.TokenLife == 0 {
		a.TokenLife = time.Hour
	}
	p := &app{App: a, id: s.id(), created: s.now()}
	s.apps = append(s.apps, p)
	s.users[p.bot()] = &User{Login: p.bot(), Name: p.bot(), id: s.id(), bot: true}
	return p.id
}

// InstallApp gives an App to an owner; again, and the grant is replaced.
func (s *Sim) InstallApp(slug string, i Install) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.apps, func(p *app) bool { return p.Slug == slug })
	if at < 0 {
		return fmt.Errorf("there is no App %s", slug)
	}
	p := s.apps[at]
	if i.Rights == nil {
		i.Rights = p.Rights
	}
	if in := s.installedFor(p, i.Owner); in != nil {
		in.Install = i
		return nil
	}
	s.installs = append(s.installs, &installation{Install: i, id: s.id(), app: p, created: s.now()})
	return nil
}

// UninstallApp takes an App from an owner, with its tokens.
func (s *Sim) UninstallApp(slug, owner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gone := func(in *installation) bool { return in.app.Slug == slug && strings.EqualFold(in.Owner, owner) }
	maps.DeleteFunc(s.minted, func(_ string, m mint) bool { return gone(m.in) })
	s.installs = slices.DeleteFunc(s.installs, gone)
}

// SuspendApp stops an App at an owner, or lets it go on.
func (s *Sim) SuspendApp(slug, owner string, suspended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, in := range s.installs {
		if in.app.Slug == slug && strings.EqualFold(in.Owner, owner) {
			in.suspended = time.Time{}
			if suspended {
				in.suspended = s.now()
			}
		}
	}
}

// RevokeTokens ends all tokens of all installations at once, as an owner can.
func (s *Sim) RevokeTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.minted)
}

// Minted is how many installation tokens were ever made.
func (s *Sim) Minted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mints
}

func (s *Sim) installedFor(p *app, owner string) *installation {
	for _, in := range s.installs {
		if in.app == p && strings.EqualFold(in.Owner, owner) {
			return in
		}
	}
	return nil
}

// installed is who a token of an installation speaks for.
func (s *Sim) installed(m mint) (actor, *failure) {
	switch {
	case !s.now().Before(m.expires):
		return actor{}, &failure{status: http.StatusUnauthorized, message: "Bad credentials"}
	case !m.in.suspended.IsZero():
		return actor{}, &failure{status: http.StatusForbidden, message: "This installation has been suspended"}
	}
	return actor{login: m.in.app.bot(), rights: m.rights, in: m.in}, nil
}

// signed is the App that signed a request.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
func (s *Sim) signed(token string) (actor, *failure) {
	refuse := func(text string) (actor, *failure) {
		return actor{}, &failure{status: http.StatusUnauthorized, message: text}
	}
	var claims jwt.RegisteredClaims
	var found *app
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"RS256"}), jwt.WithoutClaimsValidation())
	_, err := parser.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) {
		for _, p := range s.apps {
			if claims.Issuer == p.ClientID || claims.Issuer == strconv.FormatInt(p.id, 10) {
				found = p
				return p.Key, nil
			}
		}
		return nil, errors.New("no such App")
	})
	now := s.now()
	switch {
	case found == nil && err != nil && claims.Issuer != "":
		return actor{}, &failure{status: http.StatusNotFound, message: "Integration not found"}
	case err != nil:
		return refuse("A JSON web token could not be decoded")
	case claims.ExpiresAt == nil || !claims.ExpiresAt.After(now):
		return refuse("'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires")
	case claims.ExpiresAt.Sub(now) > 10*time.Minute:
		return refuse("'Expiration time' claim ('exp') is too far in the future")
	case claims.IssuedAt == nil || claims.IssuedAt.After(now):
		return refuse("'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued")
	}
	return actor{login: found.bot(), app: found}, nil
}

func (s *Sim) getApp(a *asked) (int, any, error) {
	return http.StatusOK, s.appJSON(a.actor.app), nil
}

func (s *Sim) appJSON(p *app) map[string]any {
	rights := p.Rights
	if rights == nil {
		rights = map[string]string{}
	}
	return map[string]any{
		"id": p.id, "slug": p.Slug, "node_id": node("App", p.id), "client_id": p.ClientID, "owner": s.ownerJSON(p.Owner), "name": p.Name,
		"description": "", "external_url": s.url + "/apps/" + p.Slug, "html_url": s.url + "/apps/" + p.Slug,
		"created_at": stamp(p.created), "updated_at": stamp(p.created), "permissions": rights, "events": []string{},
		"installations_count": len(s.installs),
	}
}

func (s *Sim) installJSON(in *installation) map[string]any {
	selection := "all"
	if len(in.Repos) > 0 {
		selection = "selected"
	}
	id := strconv.FormatInt(in.id, 10)
	account := s.ownerJSON(in.Owner)
	body := map[string]any{
		"id": in.id, "account": account, "repository_selection": selection,
		"access_tokens_url": s.apiURL("app/installations", id, "access_tokens"), "repositories_url": s.apiURL("installation/repositories"),
		"html_url": s.url + "/organizations/" + in.Owner + "/settings/installations/" + id, "app_id": in.app.id, "app_slug": in.app.Slug,
		"client_id": in.app.ClientID, "target_id": account["id"], "target_type": account["type"], "permissions": in.Rights, "events": []string{},
		"created_at": stamp(in.created), "updated_at": stamp(in.created), "single_file_name": nil, "has_multiple_single_files": false,
		"single_file_paths": []string{}, "suspended_at": nil, "suspended_by": nil,
	}
	if !in.suspended.IsZero() {
		body["suspended_at"], body["suspended_by"] = stamp(in.suspended), account
	}
	return body
}

func (s *Sim) getInstallations(a *asked) (int, any, error) {
	list := []map[string]any{}
	for _, in := range s.installs {
		if in.app == a.actor.app {
			list = append(list, s.installJSON(in))
		}
	}
	return http.StatusOK, page(a, list), nil
}

func (a *asked) installation() (*installation, error) {
	for _, in := range a.sim.installs {
		if in.app == a.actor.app && strconv.FormatInt(in.id, 10) == a.PathValue("id") {
			return in, nil
		}
	}
	return nil, notFound()
}

func (s *Sim) getInstallation(a *asked) (int, any, error) {
	in, err := a.installation()
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, s.installJSON(in), nil
}

// getInstallationOf serves the three addresses that lead to an installation:
// by organisation, by person and by repository.
func (s *Sim) getInstallationOf(a *asked) (int, any, error) {
	owner := a.PathValue("owner") + a.PathValue("org") + a.PathValue("login")
	in := s.installedFor(a.actor.app, owner)
	person := a.PathValue("login") != ""
	switch {
	case in == nil, person && !s.isPerson(owner), a.PathValue("org") != "" && s.isPerson(owner):
		return 0, nil, notFound()
	case a.PathValue("repo") != "" && !in.covers(owner, a.PathValue("repo")):
		return 0, nil, notFound()
	}
	return http.StatusOK, s.installJSON(in), nil
}

// postToken makes a token, with all that is granted or with less.
// https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
func (s *Sim) postToken(a *asked) (int, any, error) {
	in, err := a.installation()
	if err != nil {
		return 0, nil, err
	}
	if !in.suspended.IsZero() {
		return 0, nil, &failure{status: http.StatusForbidden, message: "This installation has been suspended"}
	}
	var want struct {
		Permissions map[string]string
	}
	if err := a.body(&want); err != nil {
		return 0, nil, err
	}
	rights := in.Rights
	if want.Permissions != nil {
		for name, least := range want.Permissions {
			if level(in.Rights[name]) < level(least) {
				return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "The permissions requested are not granted to this installation."}
			}
		}
		rights = want.Permissions
	}
	raw := make([]byte, 18)
	if _, err := rand.Read(raw); err != nil {
		return 0, nil, err
	}
	token := "ghs_" + hex.EncodeToString(raw)
	expires := s.now().Add(in.app.TokenLife)
	s.minted[token] = mint{in, rights, expires}
	s.mints++
	selection := "all"
	if len(in.Repos) > 0 {
		selection = "selected"
	}
	return http.StatusCreated, map[string]any{"token": token, "expires_at": stamp(expires), "permissions": rights, "repository_selection": selection}, nil
}

// getInstalledRepos lists what an installation's token can see.
func (s *Sim) getInstalledRepos(a *asked) (int, any, error) {
	list := []map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.repos)) {
		if r := s.repos[name]; r.may(a.login) >= Read && a.actor.in != nil {
			list = append(list, r.json(a.login))
		}
	}
	return http.StatusOK, map[string]any{"total_count": len(list), "repository_selection": "selected", "repositories": page(a, list)}, nil
}
