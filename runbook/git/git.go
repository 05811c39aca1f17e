// Package git reads one remote repository and adds commits to it, through a
// bare copy on disk.
//
// It must never force a branch, never move one that it did not create, never
// have a work tree, and never let the token into an error, a log or the disk.
// Only http and https addresses are taken: other transports would start
// programs.
//
// Why a full copy rather than a shallow one: who last touched a line, whether
// a commit has reached a branch and what a path's history is are questions
// about the past, and a shallow copy answers them wrongly without saying so.
// It is fetched once; afterwards only what is new travels.
package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// Config says which repository, and where its copy is kept.
type Config struct {
	// Dir is the folder for all copies; this repository gets one within.
	Dir string
	// URL is the repository's address, without user and password.
	URL string
	// Token gives the password to send with every request, as the user
	// x-access-token; nil means none. It is asked each time, so that short
	// lived tokens can be renewed.
	Token func(context.Context) (string, error)
	// CABundle holds further certificate authorities in PEM form.
	CABundle []byte
	// Timeout bounds each exchange with the remote; 0 means two minutes.
	Timeout time.Duration
}

// Repo is a remote repository and its copy. It is safe for concurrent use.
// Two processes must not share a Dir.
type Repo struct {
	config Config
	dir    string

	// fetching is held while the copy is brought up to date; readers do not
	// wait for it.
	fetching sync.Mutex

	// mu guards repo, whose caches are not safe for concurrent use, and what
	// was last heard of the remote.
	mu   sync.Mutex
	repo *gogit.Repository
	head string
}

// Open uses the copy in the cache, or makes one. A copy that can't be read is
// thrown away and made again: it holds nothing that the remote has not, save
// for commits that were never pushed and that are made again as they were.
func Open(ctx context.Context, c Config) (*Repo, error) {
	if err := checkURL(c.URL); err != nil {
		return nil, err
	}
	if c.Timeout == 0 {
		c.Timeout = 2 * time.Minute
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for copies of repositories: %w", err)
	}
	r := &Repo{config: c, dir: filepath.Join(c.Dir, dirName(c.URL))}
	err := r.load()
	if err == nil {
		err = r.usable()
	}
	if err == nil {
		return r, nil
	}
	if err := r.rebuild(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// checkURL refuses addresses that this package must not open.
func checkURL(raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return fmt.Errorf("the repository's URL can't be read as a URL")
	}
	if u.User != nil {
		return fmt.Errorf("repository URL %s holds a user or password: take it out and configure a token", u.Redacted())
	}
	if u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return fmt.Errorf("repository URL %s is not an http or https address: use the https address of the repository", u.Redacted())
	}
	return nil
}

// dirName is unique for a URL and still readable for people.
func dirName(raw string) string {
	sum := sha256.Sum256([]byte(strings.TrimSuffix(strings.TrimSuffix(raw, "/"), ".git")))
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, strings.TrimSuffix(path.Base(raw), ".git"))
	return name[:min(len(name), 40)] + "-" + hex.EncodeToString(sum[:8]) + ".git"
}

// load opens the copy and makes it the one that is read.
func (r *Repo) load() error {
	repo, err := gogit.PlainOpen(r.dir)
	if err != nil {
		return fmt.Errorf("open the copy of %s: %w", r.config.URL, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.repo = repo
	return nil
}

// maxPacks is how many packs a copy may gather. Each fetch that brings
// something leaves one, and every look-up asks all of them.
const maxPacks = 300

// usable tells whether each branch of the copy leads to a commit with a tree,
// and whether it is still worth keeping.
func (r *Repo) usable() error {
	packs, err := filepath.Glob(filepath.Join(r.dir, "objects", "pack", "*.pack"))
	if err != nil || len(packs) > maxPacks {
		return fmt.Errorf("the copy of %s has %d packs", r.config.URL, len(packs))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	refs, err := local(r.repo)
	if err == nil && len(refs) == 0 {
		err = errors.New("it holds nothing: the first fetch may have been cut short")
	}
	if err != nil {
		return fmt.Errorf("read the copy of %s: %w", r.config.URL, err)
	}
	for name, sha := range refs {
		if !plumbing.ReferenceName(name).IsBranch() {
			continue
		}
		commit, err := r.commit(sha)
		if err != nil {
			return err
		}
		if _, err := commit.Tree(); err != nil {
			return fmt.Errorf("read the tree of %s: %w", name, err)
		}
	}
	return nil
}

// rebuild makes the copy from nothing.
func (r *Repo) rebuild(ctx context.Context) error {
	r.fetching.Lock()
	defer r.fetching.Unlock()
	if err := os.RemoveAll(r.dir); err != nil {
		return fmt.Errorf("clear the broken copy of %s: %w", r.config.URL, err)
	}
	if _, err := gogit.PlainInit(r.dir, true); err != nil {
		return fmt.Errorf("make the copy of %s: %w", r.config.URL, err)
	}
	if err := r.load(); err != nil {
		return err
	}
	return r.fetchLocked(ctx)
}

// auth is what to log in with, and the token for cleaning errors.
func (r *Repo) auth(ctx context.Context) (transport.AuthMethod, string, error) {
	if r.config.Token == nil {
		return nil, "", nil
	}
	token, err := r.config.Token(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("get the token for %s: %w", r.config.URL, err)
	}
	return basic(token), token, nil
}
