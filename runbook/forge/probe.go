package forge

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// LackingRights finds which of the needed rights a fine-grained token lacks
// for a repository. GitHub tells no such token its rights, so each is tried
// with a request that can have no effect: it reads, or it asks for what GitHub
// refuses to everybody, after it has looked at the right.
//
// The rights that can't be told this way, administration and members, are not
// tried.
func (g *GitHub) LackingRights(ctx context.Context, repo Repo) (lacking []Needed, err error) {
	at := "repos/" + repo.String()
	for _, try := range []struct {
		right, method, path string
		body                any
	}{
		{"contents", http.MethodPost, at + "/git/refs", map[string]string{"ref": "no-ref", "sha": strings.Repeat("0", 40)}},
		{"pull_requests", http.MethodPost, at + "/pulls", map[string]string{"title": "", "head": "", "base": ""}},
		{"checks", http.MethodGet, at + "/commits/HEAD/check-runs?per_page=1", nil},
		{"statuses", http.MethodGet, at + "/commits/HEAD/status?per_page=1", nil},
	} {
		req, err := g.api.NewRequest(try.method, try.path, try.body)
		if err != nil {
			return nil, fmt.Errorf("try the right %s on %s: %w", try.right, repo, err)
		}
		_, err = g.api.Do(ctx, req, nil)
		if sorted := g.sort(err); sorted != err {
			return nil, fmt.Errorf("try the right %s on %s: %w", try.right, repo, sorted)
		}
		if status(err) == http.StatusForbidden {
			for _, n := range NeededRights() {
				if n.Name == try.right {
					lacking = append(lacking, n)
				}
			}
		}
	}
	return lacking, nil
}
