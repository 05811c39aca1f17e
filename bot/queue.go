package bot

import (
	"context"
	"sync"
	"time"

	"github.com/slack-go/slack"
)

// queues let those who want a method that Slack limits go one by one: all at
// once they would take the next free call from each other, and those who lose
// too often would get no answer. It is safe for concurrent use.
type queues struct {
	mu sync.Mutex // guards what follows
	of map[string]*queue
}

type queue struct {
	turn chan struct{} // holds a token while somebody has the turn
	long int
}

// linePatience is how long somebody waits for his turn.
const linePatience = 15 * time.Second

// forming tells whether somebody is in a method's queue.
func (q *queues) forming(method string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.of[method] != nil
}

// join waits for the turn, which leave ends. A turn that does not come is the
// error that Slack's own refusal is.
func (q *queues) join(ctx context.Context, method string) (leave func(), err error) {
	q.mu.Lock()
	at := q.of[method]
	if at == nil {
		at = &queue{turn: make(chan struct{}, 1)}
		if q.of == nil {
			q.of = map[string]*queue{}
		}
		q.of[method] = at
	}
	at.long++
	q.mu.Unlock()
	gone := func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if at.long--; at.long == 0 {
			delete(q.of, method)
		}
	}
	tired := time.NewTimer(linePatience)
	defer tired.Stop()
	select {
	case at.turn <- struct{}{}:
		return func() { <-at.turn; gone() }, nil
	case <-tired.C:
		err = &slack.RateLimitedError{RetryAfter: linePatience}
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	gone()
	return nil, err
}
