package access

import (
	"context"
	"strings"
	"sync"
	"time"

	"reconcilebot/runbook/drift"
)

// Life is how old a list may be: whoever leaves a group must not keep a right
// for longer.
const Life = time.Minute

// Remembered asks for each list at most once in Life. Errors are not kept. It
// is safe for concurrent use.
type Remembered struct {
	lists Lists
	now   func() time.Time

	mu   sync.Mutex // guards kept
	kept map[string]kept
}

type kept struct {
	list []string
	at   time.Time
}

// Remember wraps lists; now is the clock.
func Remember(lists Lists, now func() time.Time) *Remembered {
	return &Remembered{lists: lists, now: now, kept: map[string]kept{}}
}

// SlackGroup lists the Slack ids in a user group.
func (r *Remembered) SlackGroup(ctx context.Context, id string) ([]string, error) {
	return r.get("slack\x00"+id, func() ([]string, error) { return r.lists.SlackGroup(ctx, id) })
}

// Team lists the logins in a team of the Git host.
func (r *Remembered) Team(ctx context.Context, org, team string) ([]string, error) {
	return r.get("team\x00"+org+"/"+team, func() ([]string, error) { return r.lists.Team(ctx, org, team) })
}

// Owners gives the owners that all of the files have.
func (r *Remembered) Owners(ctx context.Context, t drift.TargetInfo, files []string) ([]string, error) {
	key := strings.Join(append([]string{"owners", t.Target.String(), t.RepoURL, t.TargetRevision, t.Path}, files...), "\x00")
	return r.get(key, func() ([]string, error) { return r.lists.Owners(ctx, t, files) })
}

// most bounds the memory; a full one is cleared.
const most = 10_000

func (r *Remembered) get(key string, read func() ([]string, error)) ([]string, error) {
	r.mu.Lock()
	k, ok := r.kept[key]
	r.mu.Unlock()
	if ok && r.now().Sub(k.at) < Life {
		return k.list, nil
	}
	list, err := read()
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.kept) >= most {
		clear(r.kept)
	}
	r.kept[key] = kept{list, r.now()}
	return list, nil
}
