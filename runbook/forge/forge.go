package forge

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Repo names a repository on the host.
type Repo struct {
	Owner string `json:"owner"`
	Name  string `json:"name"`
}

func (r Repo) String() string { return r.Owner + "/" + r.Name }

// ParseRepo finds the repository in a clone URL: https, ssh, or the short form
// git@host:owner/name.git.
func ParseRepo(clone string) (Repo, error) {
	path := ""
	if u, err := url.Parse(clone); err == nil && u.Scheme != "" && u.Host != "" {
		path = u.Path
	} else if _, after, ok := strings.Cut(clone, ":"); ok && !strings.Contains(clone, "://") {
		path = after
	}
	parts := strings.Split(strings.TrimSuffix(strings.Trim(path, "/"), ".git"), "/")
	if len(parts) < 2 || parts[len(parts)-1] == "" || parts[len(parts)-2] == "" {
		return Repo{}, fmt.Errorf("the URL %q names no owner and repository", clone)
	}
	return Repo{Owner: parts[len(parts)-2], Name: parts[len(parts)-1]}, nil
}

// PR is a pull request.
type PR struct {
	Number  int    `json:"number"`
	URL     string `json:"url"`
	Title   string `json:"title"`
	Body    string `json:"body,omitempty"`
	HeadRef string `json:"headRef"`
	HeadSHA string `json:"headSHA"`
	BaseRef string `json:"baseRef"`
	BaseSHA string `json:"baseSHA"`
	// State is "open", "closed" or "merged".
	State    string    `json:"state"`
	Draft    bool      `json:"draft,omitempty"`
	MergeSHA string    `json:"mergeSHA,omitempty"`
	MergedBy string    `json:"mergedBy,omitempty"`
	MergedAt time.Time `json:"mergedAt,omitzero"`
	ClosedAt time.Time `json:"closedAt,omitzero"`
	// Mergeable is GitHub's mergeable_state: clean, blocked, dirty, behind,
	// unstable, draft, has_hooks or unknown.
	Mergeable string `json:"mergeable,omitempty"`
}

// Proposal is a pull request to open.
type Proposal struct {
	Repo          Repo
	Branch, Base  string
	Title, Body   string
	Labels        []string
	Reviewers     []string // logins
	TeamReviewers []string // team slugs
}

// Rules are what a branch asks of a pull request.
type Rules struct {
	Protected        bool     `json:"protected"`
	Reviews          int      `json:"reviews"`
	CodeOwnerReviews bool     `json:"codeOwnerReviews"`
	Checks           []string `json:"checks,omitempty"`
	Linear           bool     `json:"linear,omitempty"`
	// Methods are the merge methods that are allowed, preferred first:
	// "merge", "squash", "rebase".
	Methods []string `json:"methods,omitempty"`
	// Readable is false when the rules can't be read with these rights; Why
	// then says so.
	Readable bool   `json:"readable"`
	Why      string `json:"why,omitempty"`
}

// Review is somebody's word on a pull request.
type Review struct {
	User string `json:"user"`
	// State is GitHub's: APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED.
	State string    `json:"state"`
	At    time.Time `json:"at"`
	SHA   string    `json:"sha"`
}

// Check is a check run or a commit status.
type Check struct {
	Name string `json:"name"`
	// State is "pending", "success" or "failure".
	State    string `json:"state"`
	URL      string `json:"url,omitempty"`
	Required bool   `json:"required,omitempty"`
}

// Progress is how far a pull request is.
type Progress struct {
	PR      PR
	Reviews []Review
	Checks  []Check
	// Changed is false when the host answered everything with "not modified".
	Changed bool
}

// MergeRequest is a merge to ask for.
type MergeRequest struct {
	// HeadSHA is the commit that was looked at: GitHub refuses if the branch
	// has moved since.
	HeadSHA string
	// Method is "merge", "squash" or "rebase".
	Method  string
	Title   string
	Message string
}
