package argocd

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// refreshTries bounds how often a refresh is asked for again when it left no
// trace.
const refreshTries = 3

// Refresh has Argo CD resolve the revision and compare again, waits for that,
// and gives the Application as it is then. hard also renders anew, which is
// expensive.
//
// A refresh that lands while another comparison is under way can be dropped
// without a word (https://github.com/argoproj/argo-cd/issues/28392), so the
// time of the comparison must have moved, else it is asked for again. Callers
// that wait for a certain commit compare Sync.Revision besides.
func (c *Client) Refresh(ctx context.Context, ref Ref, hard bool) (App, error) {
	what := "refresh Application " + ref.String()
	before, err := c.get(ctx, what, ref, "")
	if err != nil {
		return App{}, err
	}
	if before.Skipped {
		return before, &Refused{What: what, Message: fmt.Sprintf("the annotation %s stops Argo CD from looking at it; remove the annotation first", skipReconcile)}
	}
	kind := "normal"
	if hard {
		kind = "hard"
	}
	began := time.Now()
	for range refreshTries {
		after, err := c.get(ctx, what, ref, kind)
		if err != nil {
			return App{}, err
		}
		// Times have whole seconds: two comparisons within one look alike.
		if !after.ReconciledAt.Equal(before.ReconciledAt) || began.Sub(after.ReconciledAt) < 2*time.Second {
			return after, nil
		}
	}
	return App{}, &Unavailable{What: what, Err: errors.New("the request was taken and nothing was compared again")}
}
