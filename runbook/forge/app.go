package forge

import (
	"cmp"
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v4"
	"github.com/google/go-github/v62/github"
)

// AppConfig is what a GitHub App signs in with.
type AppConfig struct {
	// BaseURL and HTTPClient are as in Config.
	BaseURL    string
	HTTPClient *http.Client
	// Issuer is the App's client id (Iv…) or its number, as text.
	Issuer string
	// Key gives the private key, in PEM form, each time it is needed.
	Key func() (string, error)
	// Now is the clock; time.Now if nil.
	Now func() time.Time
}

// App signs in as a GitHub App: with a token of an hour for each owner that
// has it installed. It is safe for concurrent use.
//
// Why not github.com/bradleyfalzon/ghinstallation: it takes the number of one
// installation, which has to be looked up for each owner anyway, and renews a
// token in its last minute, so that a clone that begins then is cut off.
//
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/authenticating-as-a-github-app-installation
type App struct {
	api *github.Client
	now func() time.Time

	mu      sync.Mutex // guards owners and slug, not what is in them
	owners  map[string]*installation
	appSlug string
}

// installation is the App with one owner.
type installation struct {
	minting sync.Mutex // held while a token is asked for
	id      int64      // guarded by minting

	mu             sync.Mutex // guards what follows
	token          string
	renew, expires time.Time
}

const (
	// renewBefore is how long before its end a token is renewed: the longest
	// exchange with a server must be over by then. One that lives less than
	// four times that long is renewed in its last quarter.
	renewBefore = 10 * time.Minute
	// keyLife is how long a signed request is good; GitHub takes ten minutes at
	// most. It begins early, because clocks differ.
	keyLife, keyEarly = 8 * time.Minute, time.Minute
)

// NewApp makes a GitHub App's sign-in. It sends nothing.
func NewApp(c AppConfig) (*App, error) {
	if c.Issuer == "" || c.Key == nil {
		return nil, errors.New("GitHub App: it needs its client id, or its number, and its private key")
	}
	at, err := locate(c.BaseURL)
	if err != nil {
		return nil, err
	}
	now := c.Now
	if now == nil {
		now = time.Now
	}
	client := patient(c.HTTPClient)
	client.Transport = signing{issuer: c.Issuer, key: c.Key, now: now, at: at, next: client.Transport}
	api, err := at.client(client)
	if err != nil {
		return nil, err
	}
	return &App{api: api, now: now, owners: map[string]*installation{}}, nil
}

// CheckAppKey tells what is wrong with a private key, without showing any of
// it.
func CheckAppKey(pem string) error {
	_, err := parseAppKey(pem)
	return err
}

func parseAppKey(pem string) (*rsa.PrivateKey, error) {
	key, err := jwt.ParseRSAPrivateKeyFromPEM([]byte(pem))
	if err != nil {
		// Not %w: nothing that was read of a key may travel in an error.
		return nil, errors.New("it is no RSA private key in PEM form; download one from the App's settings, under Private keys")
	}
	return key, nil
}

// signing signs each request to the one host with the App's key.
type signing struct {
	issuer string
	key    func() (string, error)
	now    func() time.Time
	at     place
	next   http.RoundTripper
}

func (s signing) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != s.at.host || r.URL.Scheme != s.at.scheme {
		return s.next.RoundTrip(r)
	}
	signed, err := s.sign()
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // RoundTrip must close it; nothing was read
		}
		return nil, &tokenError{err}
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+signed)
	return s.next.RoundTrip(r)
}

// sign makes what stands for the App itself.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
func (s signing) sign() (string, error) {
	pem, err := s.key()
	if err != nil {
		return "", fmt.Errorf("read the GitHub App's private key: %w", err)
	}
	key, err := parseAppKey(pem)
	if err != nil {
		return "", fmt.Errorf("read the GitHub App's private key: %w", err)
	}
	now := s.now()
	signed, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
		Issuer: s.issuer, IssuedAt: jwt.NewNumericDate(now.Add(-keyEarly)), ExpiresAt: jwt.NewNumericDate(now.Add(keyLife)),
	}).SignedString(key)
	if err != nil {
		return "", errors.New("sign with the GitHub App's private key: the key does not work")
	}
	return signed, nil
}

// errNoOwner is why nothing is asked: an App has no token that is good
// everywhere.
var errNoOwner = errors.New("a GitHub App can ask only about an organisation's or a person's repositories")

// Token gives a token for what an owner has, which lives for another ten
// minutes. While GitHub does not give a new one, the old one is used for as
// long as it lives.
func (a *App) Token(ctx context.Context, owner string) (string, error) {
	if owner == "" {
		return "", errNoOwner
	}
	in := a.of(owner)
	if token, fresh := in.fresh(a.now()); fresh {
		return token, nil
	}
	in.minting.Lock()
	defer in.minting.Unlock()
	// Somebody else may have been faster.
	if token, fresh := in.fresh(a.now()); fresh {
		return token, nil
	}
	err := a.mint(ctx, owner, in)
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.token != "" && a.now().Before(in.expires) {
		return in.token, nil
	}
	return "", err
}

func (a *App) refused(owner, token string) bool {
	in := a.of(owner)
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.token == token {
		in.token = ""
	}
	return true
}

func (a *App) of(owner string) *installation {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := strings.ToLower(owner)
	in := a.owners[key]
	if in == nil {
		in = &installation{}
		a.owners[key] = in
	}
	return in
}

// fresh is the token in hand, if it need not be renewed yet.
func (in *installation) fresh(now time.Time) (token string, fresh bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.token, in.token != "" && now.Before(in.renew)
}

// mint asks for a new token. The caller holds in.minting.
func (a *App) mint(ctx context.Context, owner string, in *installation) error {
	if in.id == 0 {
		found, err := a.installedAt(ctx, owner)
		if err != nil {
			return err
		}
		in.id = found.GetID()
	}
	made, _, err := a.api.Apps.CreateInstallationToken(ctx, in.id, &github.InstallationTokenOptions{})
	if status(err) == http.StatusNotFound {
		in.id = 0 // taken away, and perhaps installed anew under another number
	}
	if err != nil {
		return a.explain(owner, "get a token for "+owner, err)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.token, in.expires = made.GetToken(), made.GetExpiresAt().Time
	in.renew = in.expires.Add(-min(renewBefore, in.expires.Sub(a.now())/4))
	return nil
}

// installedAt finds the installation with an owner.
func (a *App) installedAt(ctx context.Context, owner string) (*github.Installation, error) {
	found, _, err := a.api.Apps.FindOrganizationInstallation(ctx, owner)
	if status(err) == http.StatusNotFound {
		found, _, err = a.api.Apps.FindUserInstallation(ctx, owner)
	}
	if err != nil {
		return nil, a.explain(owner, "look for the installation with "+owner, err)
	}
	return found, nil
}

// NotInstalled says that an owner has not installed the App, or suspended it.
type NotInstalled struct {
	Owner string
	Err   error
}

func (e *NotInstalled) Error() string {
	return fmt.Sprintf("the GitHub App is not installed with %s, or suspended there: install it under the App's settings, Install App (%s)", e.Owner, said(e.Err))
}

// Unwrap gives the answer that said so.
func (e *NotInstalled) Unwrap() error { return e.Err }

func (a *App) explain(owner, doing string, err error) error {
	sorted := sortAt(err, a.now())
	switch code := status(err); {
	case sorted != err && code != http.StatusUnauthorized:
	case code == http.StatusUnauthorized:
		return fmt.Errorf("%s: GitHub does not accept the App's sign-in (%s); check the App's id, its private key, and this machine's clock", doing, said(err))
	case code == http.StatusNotFound && strings.Contains(said(err), "Integration not found"):
		return fmt.Errorf("%s: GitHub knows no App with this id; check the App's id and the server's address", doing)
	case code == http.StatusNotFound || code == http.StatusForbidden:
		return &NotInstalled{owner, err}
	}
	return fmt.Errorf("%s: %w", doing, sorted)
}

// Slug is the App's name in addresses; in commits and reviews it is followed
// by [bot].
func (a *App) Slug(ctx context.Context) (string, error) {
	a.mu.Lock()
	slug := a.appSlug
	a.mu.Unlock()
	if slug != "" {
		return slug, nil
	}
	app, _, err := a.api.Apps.Get(ctx, "")
	if err != nil {
		return "", a.explain("", "ask GitHub which App this is", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.appSlug = app.GetSlug()
	return a.appSlug, nil
}

// Installation is the App with one owner, as GitHub shows it.
type Installation struct {
	Owner string
	// All is true if all of the owner's repositories are open to it.
	All       bool
	Suspended bool
	Rights    Rights
}

// Installations lists who has the App, in the order of their names.
func (a *App) Installations(ctx context.Context) ([]Installation, error) {
	var all []Installation
	for page := 1; page > 0; {
		// Read here and not by the client library, which drops the rights that
		// its version does not know.
		req, err := a.api.NewRequest(http.MethodGet, fmt.Sprintf("app/installations?per_page=100&page=%d", page), nil)
		if err != nil {
			return nil, fmt.Errorf("list who has the GitHub App: %w", err)
		}
		var list []struct {
			Account     struct{ Login string } `json:"account"`
			Selection   string                 `json:"repository_selection"`
			Suspended   *time.Time             `json:"suspended_at"`
			Permissions Rights                 `json:"permissions"`
		}
		resp, err := a.api.Do(ctx, req, &list)
		if err != nil {
			return nil, a.explain("", "list who has the GitHub App", err)
		}
		for _, in := range list {
			all = append(all, Installation{Owner: in.Account.Login, All: in.Selection == "all", Suspended: in.Suspended != nil, Rights: in.Permissions})
		}
		page = resp.NextPage
	}
	slices.SortFunc(all, func(a, b Installation) int { return cmp.Compare(a.Owner, b.Owner) })
	return all, nil
}

// Rights are what an owner granted.
func (a *App) Rights(ctx context.Context, owner string) (Rights, error) {
	all, err := a.Installations(ctx)
	if err != nil {
		return nil, err
	}
	for _, in := range all {
		if strings.EqualFold(in.Owner, owner) {
			return in.Rights, nil
		}
	}
	return nil, nil
}
