package githubsim

import (
	"net/http"
	"strconv"
	"strings"
)

// putDismissal takes back a review's weight. On a protected branch only an
// administrator may.
// https://docs.github.com/en/rest/pulls/reviews#dismiss-a-review-for-a-pull-request
func (s *Sim) putDismissal(a *asked) (int, any, error) {
	r, p, err := a.pull(Write)
	if err != nil {
		return 0, nil, err
	}
	if r.rules(p.base) != nil && r.may(a.login) < Admin {
		return 0, nil, &failure{status: http.StatusForbidden, message: "Must have admin rights to dismiss a review of a protected branch."}
	}
	var want struct{ Message string }
	if err := a.body(&want); err != nil {
		return 0, nil, err
	}
	if strings.TrimSpace(want.Message) == "" {
		return 0, nil, invalid("PullRequestReview", "message cannot be blank")
	}
	for _, v := range p.reviews {
		if strconv.FormatInt(v.id, 10) != a.PathValue("id") {
			continue
		}
		if v.state != "APPROVED" && v.state != "CHANGES_REQUESTED" {
			return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Can not dismiss a " + strings.ToLower(v.state) + " pull request review"}
		}
		v.state, p.updated = "DISMISSED", s.now()
		return http.StatusOK, r.reviewJSON(p, v), nil
	}
	return 0, nil, notFound()
}

// dismissStale takes away the approvals of commits that were replaced, where
// the branch wants that.
func (r *repo) dismissStale(p *pull) {
	r.follow(p)
	rules := r.rules(p.base)
	if rules == nil || !rules.DismissStale {
		return
	}
	for _, v := range p.reviews {
		if v.state == "APPROVED" && v.sha != p.headSHA {
			v.state = "DISMISSED"
		}
	}
}
