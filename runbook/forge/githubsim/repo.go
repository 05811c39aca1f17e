package githubsim

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// repo is a repository: its Git on disk, and what GitHub keeps besides.
type repo struct {
	sim         *Sim
	owner, name string
	dir         string
	id          int64
	created     time.Time
	options     Options
	protected   map[string]*Protection
	pusher      string            // who moved a branch last
	demands     map[string]Demand // by how the branches' names begin
	pulls       []*pull
	runs        map[string][]*run    // check runs, by commit
	statuses    map[string][]*status // by commit, newest last
	ours        map[string]bool      // commits that the API made and signed
	known       map[string]bool      // commits that got their check runs
}

func (r *repo) fullName() string { return r.owner + "/" + r.name }

// protectHook refuses pushes as GitHub does: to protected branches, of unsigned
// commits where a ruleset wants signed ones, and of new branches where none may
// be made. Whether a signature is good is looked at later.
const protectHook = `#!/bin/sh
set -f
fits() {
	for pattern in $2; do
		case "$1" in
		$pattern) return 0 ;;
		esac
	done
	return 1
}
refuse() {
	echo "error: GH013: Repository rule violations found for $1." >&2
	echo "- $2" >&2
	exit 1
}
while read -r old new ref; do
	case " $SIM_PROTECTED " in
	*" $ref "*)
		echo "error: GH006: Protected branch update failed for $ref." >&2
		echo "error: Changes must be made through a pull request." >&2
		exit 1 ;;
	esac
	case "$new" in *[!0]*) ;; *) continue ;; esac
	if fits "$ref" "$SIM_NO_CREATE"; then
		case "$old" in *[!0]*) ;; *) refuse "$ref" "Cannot create ref due to creations being restricted." ;; esac
	fi
	if fits "$ref" "$SIM_SIGNED"; then
		for commit in $(git rev-list "$new" --not --all); do
			git cat-file commit "$commit" | sed '/^$/q' | grep -q '^gpgsig' || refuse "$ref" "Commits must have verified signatures."
		done
	fi
done
`

// CreateRepo makes a private repository with a first commit on main.
func (s *Sim) CreateRepo(owner, name string, files map[string]string, o Options) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &repo{
		sim: s, owner: owner, name: name, dir: s.path(owner + "/" + name), id: s.id(), created: s.now(), options: o,
		protected: map[string]*Protection{}, demands: map[string]Demand{}, runs: map[string][]*run{}, statuses: map[string][]*status{}, known: map[string]bool{}, ours: map[string]bool{},
	}
	if len(r.options.Methods) == 0 {
		r.options.Methods = []string{"merge", "squash", "rebase"}
	}
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return fmt.Errorf("create %s: %w", r.fullName(), err)
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--bare", "--initial-branch=main", "."},
		{"config", "http.receivepack", "true"},
		// GitHub serves any commit that a branch ever reached.
		{"config", "uploadpack.allowAnySHA1InWant", "true"},
		{"config", "uploadpack.allowFilter", "true"},
		{"config", "gc.auto", "0"},
	} {
		if _, err := r.git(args...); err != nil {
			return fmt.Errorf("create %s: %w", r.fullName(), err)
		}
	}
	if err := os.WriteFile(filepath.Join(r.dir, "hooks", "pre-receive"), []byte(protectHook), 0o755); err != nil {
		return fmt.Errorf("create %s: %w", r.fullName(), err)
	}
	s.repos[r.fullName()] = r
	if len(files) == 0 {
		return nil
	}
	_, err := r.commit("main", Change{Author: owner, Message: "Initial commit", Files: files})
	return err
}

func (r *repo) move(branch, sha string) error {
	if _, err := r.git("update-ref", "refs/heads/"+branch, sha); err != nil {
		return err
	}
	r.arrived()
	return nil
}

// arrived follows up on branches that moved: every tip that is new gets its
// check runs, and pull requests go with their branches.
func (r *repo) arrived() {
	out, err := r.git("for-each-ref", "--format=%(objectname)", "refs/heads")
	if err != nil {
		return
	}
	for sha := range strings.FieldsSeq(out) {
		if r.known[sha] {
			continue
		}
		r.known[sha] = true
		for _, c := range r.options.Checks {
			r.runs[sha] = append(r.runs[sha], &run{id: r.sim.id(), name: c.Name, started: r.sim.now(), ends: r.sim.now().Add(c.After), conclusion: c.Conclusion})
		}
	}
	// A head that is put back later must not find its old approvals.
	for _, p := range r.openPulls() {
		r.dismissStale(p)
	}
}

// may is what an account may do here. An App may write where it is installed;
// how much of that is a question of its token's rights.
func (r *repo) may(login string) Permission {
	if p, ok := r.options.Access[login]; ok {
		return p
	}
	for _, in := range r.sim.installs {
		if in.app.bot() == login && in.covers(r.owner, r.name) {
			return Write
		}
	}
	return None
}

// rules are what a branch asks for, and nil if that is nothing.
func (r *repo) rules(branch string) *Protection { return r.protected[branch] }

func (r *repo) allows(method string) bool { return slices.Contains(r.options.Methods, method) }

// hookEnv tells the hook what may not be pushed.
func (r *repo) hookEnv() []string {
	var closed, signed, old []string
	for branch := range r.protected {
		closed = append(closed, "refs/heads/"+branch)
	}
	for start, d := range r.demands {
		if d.Signed {
			signed = append(signed, "refs/heads/"+start+"*")
		}
		if d.NoCreate {
			old = append(old, "refs/heads/"+start+"*")
		}
	}
	return []string{"SIM_PROTECTED=" + strings.Join(closed, " "), "SIM_SIGNED=" + strings.Join(signed, " "), "SIM_NO_CREATE=" + strings.Join(old, " ")}
}
