package githubsim

import (
	"fmt"
	"html/template"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Config is what a host needs.
type Config struct {
	// Dir holds the bare repositories; it must exist.
	Dir string
	// URL is the address that links begin with, without a slash at the end.
	URL string
	// Now is the clock; time.Now if nil.
	Now func() time.Time
}

// Sim is the host. It is safe for concurrent use.
type Sim struct {
	dir        string
	url        string
	now        func() time.Time
	api, pages *http.ServeMux
	templates  *template.Template

	mu     sync.Mutex
	users  map[string]*User // by login
	tokens map[string]string
	teams  map[string][]string // "org/team" → logins
	repos  map[string]*repo    // "owner/name"

	apps     []*app
	installs []*installation
	minted   map[string]mint // installation tokens
	mints    int             // how many there ever were

	down  bool
	holds []*Hold
	// spent are the requests that cost rate limit, ever; spentBefore those
	// before this hour.
	spent, spentBefore  int
	hour, limited, busy time.Time
	nextID              int64
}

// User is an account.
type User struct {
	Login string
	Name  string
	Email string
	// Token signs the account in, for REST and for Git.
	Token string
	// Scopes are those of a classic token.
	Scopes string
	// Rights are those of a fine-grained token; nil is a classic one, which may
	// do what the account may. No right goes beyond the account's own.
	Rights map[string]string
	// SigningKey is the SSH key that the account registered for signing, as in
	// authorized_keys.
	SigningKey string
	id         int64
	bot        bool
}

// Permission is what an account may do in a repository.
type Permission int

// The permissions, each including those before it.
const (
	None Permission = iota
	Read
	Write
	Admin
)

func (p Permission) String() string { return [...]string{"none", "read", "write", "admin"}[p] }

// Options are a repository's settings.
type Options struct {
	// Access maps logins to what they may do. Everybody else does not see the
	// repository: all are private.
	Access map[string]Permission
	// Methods are the merge methods that are allowed; all three if empty.
	Methods []string
	// DeleteBranches removes a branch when its pull request is merged.
	DeleteBranches bool
	// Checks are the check runs that every pushed commit gets.
	Checks []AutoCheck
}

// AutoCheck is a check run that ends by itself.
type AutoCheck struct {
	Name string
	// After is how long it runs.
	After time.Duration
	// Conclusion is "success" if empty.
	Conclusion string
}

// Protection is what a branch asks for. A protected branch takes no push: its
// changes come by pull request.
type Protection struct {
	Reviews    int
	CodeOwners bool
	Checks     []string
	// Strict wants the head to have all commits of the branch.
	Strict       bool
	DismissStale bool
	Linear       bool
	// LastPush does not count the approval of who pushed last.
	LastPush bool
	// Signed takes verified commits only.
	Signed bool
	// Locked takes nothing.
	Locked bool
	// Pushers are the accounts, @teams and apps (by their slug) that may push,
	// and so merge; nil lets all who may write.
	Pushers []string
	// Queue merges through a merge queue, which takes that long.
	Queue *time.Duration
	// Ruleset keeps it as a ruleset, which all who read the repository see;
	// otherwise it is a branch protection, which only administrators see.
	Ruleset bool
}

// Demand is what a ruleset asks of branches that anybody may push to.
type Demand struct {
	// Signed takes signed commits only, NoCreate no new branch.
	Signed, NoCreate bool
	// Patterns are shown; what they bind is not looked at here.
	Patterns []Pattern
}

// Pattern is a rule of a ruleset on names, messages or addresses.
type Pattern struct {
	// Type is branch_name_pattern, commit_message_pattern and so on, Operator
	// starts_with, ends_with, contains or regex.
	Type, Operator, Pattern string
	Negate                  bool
}

// New makes an empty host.
func New(c Config) (*Sim, error) {
	if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("use %q for repositories: it is no folder", c.Dir)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	s := &Sim{
		dir: c.Dir, url: c.URL, now: c.Now,
		users: map[string]*User{}, tokens: map[string]string{}, teams: map[string][]string{}, repos: map[string]*repo{},
		minted: map[string]mint{},
	}
	var err error
	if s.templates, err = newPages(); err != nil {
		return nil, fmt.Errorf("read the pages' templates: %w", err)
	}
	s.api, s.pages = s.routes(), s.pageRoutes()
	return s, nil
}

// AddUser makes an account.
func (s *Sim) AddUser(u User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u.id = s.id()
	s.users[u.Login] = &u
	if u.Token != "" {
		s.tokens[u.Token] = u.Login
	}
}

// AddTeam makes a team of an organisation.
func (s *Sim) AddTeam(org, team string, logins ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.teams[org+"/"+team] = logins
}

// Demand sets what all branches ask for whose names begin so.
func (s *Sim) Demand(fullName, start string, d Demand) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.repo(fullName)
	if err != nil {
		return err
	}
	r.demands[start] = d
	return nil
}

// Protect sets what a branch asks for.
func (s *Sim) Protect(fullName, branch string, p Protection) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.repo(fullName)
	if err != nil {
		return err
	}
	r.protected[branch] = &p
	return nil
}

// Unprotect takes all rules from a branch.
func (s *Sim) Unprotect(fullName, branch string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.repo(fullName)
	if err != nil {
		return err
	}
	delete(r.protected, branch)
	return nil
}

// SetDown makes the host answer nothing but 503.
func (s *Sim) SetDown(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

func (s *Sim) id() int64 {
	s.nextID++
	return s.nextID
}

func (s *Sim) repo(fullName string) (*repo, error) {
	r, ok := s.repos[fullName]
	if !ok {
		return nil, fmt.Errorf("there is no repository %s", fullName)
	}
	return r, nil
}

func (s *Sim) path(fullName string) string { return filepath.Join(s.dir, fullName+".git") }
