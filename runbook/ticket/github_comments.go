package ticket

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"
)

// githubBoard is the comments of one issue.
type githubBoard struct {
	*GitHub
	ref issueRef
}

// maxPages bounds the search for our comment: a hundred comments each, those
// since the record was opened alone.
const maxPages = 50

// find reads the comments since the record was opened. Only one of the bot's
// own counts: anybody can copy a marker.
func (b *githubBoard) find(ctx context.Context, r Record) (kept, bool, error) {
	me, err := b.login(ctx)
	if err != nil {
		return kept{}, false, err
	}
	since := r.Opened.Add(-time.Hour) // two clocks
	opts := &github.IssueListCommentsOptions{Since: &since, ListOptions: github.ListOptions{PerPage: 100}}
	for range maxPages {
		page, resp, err := b.api.Issues.ListComments(ctx, b.ref.owner, b.ref.repo, b.ref.number, opts)
		if err != nil {
			return kept{}, false, b.sort(err)
		}
		for _, c := range page {
			if ours(c, me) && strings.HasPrefix(c.GetBody(), githubMarker(r.ID)) {
				return keptGitHub(c), true, nil
			}
		}
		if resp.NextPage == 0 {
			break
		}
		opts.Page = resp.NextPage
	}
	return kept{}, false, nil
}

// ours tells whether the bot wrote a comment. An App does not learn its own
// login from its token, so that for it any App's comment with our marker has
// to do: people can't write as one.
func ours(c *github.IssueComment, me string) bool {
	if me == "" {
		return c.GetUser().GetType() == "Bot"
	}
	return strings.EqualFold(c.GetUser().GetLogin(), me)
}

func (b *githubBoard) write(ctx context.Context, body string, _ bool) (kept, error) {
	c, _, err := b.api.Issues.CreateComment(ctx, b.ref.owner, b.ref.repo, b.ref.number, &github.IssueComment{Body: &body})
	if err != nil {
		return kept{}, b.sort(err)
	}
	return keptGitHub(c), nil
}

func (b *githubBoard) edit(ctx context.Context, id, body string, _ bool) (kept, bool, error) {
	number, ok := commentNumber(id)
	if !ok {
		return kept{}, false, nil
	}
	c, _, err := b.api.Issues.EditComment(ctx, b.ref.owner, b.ref.repo, number, &github.IssueComment{Body: &body})
	err = b.sort(err)
	if status(err) == http.StatusNotFound {
		return kept{}, false, nil
	}
	if err != nil {
		return kept{}, false, err
	}
	return keptGitHub(c), true, nil
}

func keptGitHub(c *github.IssueComment) kept {
	return kept{id: strconv.FormatInt(c.GetID(), 10), url: c.GetHTMLURL(), body: c.GetBody()}
}

func commentNumber(id string) (int64, bool) {
	n, err := strconv.ParseInt(id, 10, 64)
	return n, err == nil
}
