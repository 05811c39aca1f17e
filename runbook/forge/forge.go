// Package forge opens, follows and merges pull requests on GitHub.
//
// It speaks to github.com or to any server that has GitHub's REST interface
// under another base URL. It takes and returns its own small values, so that
// nothing outside this folder depends on the client library.
//
// It must never go around a rule of the repository: it does not ask for an
// administrator's merge, does not approve, does not change protection, and
// reads the state of a pull request before it asks for a merge, because
// GitHub lets an administrator's token merge a blocked one without a word.
//
// Why polling with ETags and not webhooks: a webhook needs an address that
// the world can reach. An unchanged answer to a conditional request does not
// count against the rate limit
// (https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api).
package forge

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Repo names a repository.
type Repo struct {
	Owner string `json:"owner"`
	Name  string `json:"name"`
}

// String is the form people write: "acme/gitops".
func (r Repo) String() string { return r.Owner + "/" + r.Name }

// ParseRepo finds the repository in a clone URL: https, ssh, or scp-like
// (git@host:owner/name.git). The error names the URL without its user part,
// which may hold a token.
func ParseRepo(clone string) (Repo, error) {
	path := ""
	if u, err := url.Parse(clone); err == nil && u.Scheme != "" && u.Host != "" {
		path = u.Path
	} else if host, rest, ok := strings.Cut(clone, ":"); ok && !strings.Contains(host, "/") && !strings.HasPrefix(rest, "//") {
		path = rest
	}
	parts := strings.Split(strings.TrimSuffix(strings.Trim(path, "/"), ".git"), "/")
	if len(parts) != 2 || parts[0] == "" || parts[1] == "" {
		return Repo{}, fmt.Errorf("read repository from clone URL %q: want https://HOST/OWNER/NAME.git, ssh://git@HOST/OWNER/NAME.git or git@HOST:OWNER/NAME.git", withoutUser(clone))
	}
	return Repo{Owner: parts[0], Name: parts[1]}, nil
}

// withoutUser removes what stands before an @, where tokens are kept.
func withoutUser(clone string) string {
	scheme, rest, ok := strings.Cut(clone, "://")
	if !ok {
		scheme, rest = "", clone
	}
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		rest = rest[i+1:]
	}
	if scheme != "" {
		return scheme + "://" + rest
	}
	return rest
}

// States of a pull request.
const (
	Open   = "open"
	Closed = "closed" // closed without a merge
	Merged = "merged"
)

// PR is a pull request as it was when it was read.
type PR struct {
	Number   int       `json:"number"`
	URL      string    `json:"url"` // the page for people
	Title    string    `json:"title,omitempty"`
	Body     string    `json:"body,omitempty"`
	HeadRef  string    `json:"headRef,omitempty"`
	HeadSHA  string    `json:"headSHA,omitempty"`
	BaseRef  string    `json:"baseRef,omitempty"`
	BaseSHA  string    `json:"baseSHA,omitempty"`
	State    string    `json:"state,omitempty"` // Open, Closed or Merged
	Draft    bool      `json:"draft,omitempty"`
	MergeSHA string    `json:"mergeSHA,omitempty"` // only when Merged: the commit on the base branch
	MergedBy string    `json:"mergedBy,omitempty"` // login
	MergedAt time.Time `json:"mergedAt,omitzero"`
	ClosedAt time.Time `json:"closedAt,omitzero"`
	// Mergeable is GitHub's mergeable_state: clean, unstable, has_hooks,
	// blocked, behind, dirty, draft or unknown. GitHub computes it after it
	// is asked, so the first answer is often unknown. Only the answer for one
	// pull request has it; lists leave it empty.
	Mergeable string `json:"mergeable,omitempty"`
}

// Proposal is a pull request to be opened. The branch must have been pushed.
type Proposal struct {
	Repo          Repo     `json:"repo"`
	Branch        string   `json:"branch"`
	Base          string   `json:"base"`
	Title         string   `json:"title"`
	Body          string   `json:"body,omitempty"`
	Labels        []string `json:"labels,omitempty"`
	Assignees     []string `json:"assignees,omitempty"`     // logins
	Reviewers     []string `json:"reviewers,omitempty"`     // logins
	TeamReviewers []string `json:"teamReviewers,omitempty"` // team slugs, without the organisation
}

// Rules is what a branch demands before a pull request may be merged into it.
type Rules struct {
	Protected        bool     `json:"protected,omitempty"`
	Reviews          int      `json:"reviews,omitempty"` // approving reviews
	CodeOwnerReviews bool     `json:"codeOwnerReviews,omitempty"`
	Checks           []string `json:"checks,omitempty"` // names that must succeed
	Linear           bool     `json:"linear,omitempty"` // no merge commits
	// Stale approvals are dismissed by a push; LastPush wants one from somebody
	// else than who pushed last; Threads wants all talk resolved.
	Stale    bool `json:"stale,omitempty"`
	LastPush bool `json:"lastPush,omitempty"`
	Threads  bool `json:"threads,omitempty"`
	// Strict wants the head to have all commits of the branch.
	Strict bool `json:"strict,omitempty"`
	// Queue merges by a merge queue, Signed takes verified commits only, Locked
	// takes nothing.
	Queue  bool `json:"queue,omitempty"`
	Signed bool `json:"signed,omitempty"`
	Locked bool `json:"locked,omitempty"`
	// Restricted lets only some merge: Pushers, as "@login", "@org/team" or
	// "app NAME", or only those whom a ruleset lets pass by, if there are none.
	Restricted bool     `json:"restricted,omitempty"`
	Pushers    []string `json:"pushers,omitempty"`
	// Deployments are environments that a commit must have been deployed to.
	Deployments []string `json:"deployments,omitempty"`
	// NoCreate is set when a branch of this name can't be made by everybody.
	NoCreate bool `json:"noCreate,omitempty"`
	// Patterns bind names, messages and addresses.
	Patterns []Pattern `json:"patterns,omitempty"`
	// Unknown are kinds of rules that nothing here knows.
	Unknown []string `json:"unknown,omitempty"`
	// Methods are the allowed merge methods (merge, squash, rebase), the
	// preferred one first.
	Methods []string `json:"methods,omitempty"`
	// Readable is false when part of the rules is hidden from this token;
	// Why says which part, and which right would show it.
	Readable bool   `json:"readable"`
	Why      string `json:"why,omitempty"`
}

// Review is one person's standing review: the latest that counts.
type Review struct {
	User  string    `json:"user"`
	State string    `json:"state"` // APPROVED, CHANGES_REQUESTED, COMMENTED or DISMISSED
	At    time.Time `json:"at"`
	SHA   string    `json:"sha,omitempty"` // the commit that was reviewed
}

// States of a check.
const (
	Pending = "pending"
	Success = "success"
	Failure = "failure"
)

// Check is a commit status or a check run on the head commit.
type Check struct {
	Name     string `json:"name"`
	State    string `json:"state"` // Pending, Success or Failure
	URL      string `json:"url,omitempty"`
	Required bool   `json:"required,omitempty"`
}

// Progress is everything about one pull request that decides what is next.
type Progress struct {
	PR      PR       `json:"pr"`
	Reviews []Review `json:"reviews,omitempty"`
	Checks  []Check  `json:"checks,omitempty"`
	// Changed is false when every answer was the same as at the last call
	// for this pull request by this client.
	Changed bool `json:"changed,omitempty"`
}

// MergeRequest says how to merge. HeadSHA is the commit that was approved: if
// the branch has moved since, nothing is merged.
type MergeRequest struct {
	HeadSHA string `json:"headSHA"`
	Method  string `json:"method"` // merge, squash or rebase
	Title   string `json:"title,omitempty"`
	Message string `json:"message,omitempty"`
}
