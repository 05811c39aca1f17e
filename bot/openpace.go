package bot

import (
	"context"
	"sync"
	"time"
)

// openPace limits how often apps.connections.open is called: a few at once,
// then one in ten seconds. Without it a Slack that hangs up at once is called
// a thousand times a second. It is safe for concurrent use.
type openPace struct {
	now   func() time.Time
	burst float64
	every time.Duration

	mu    sync.Mutex // guards what follows
	level float64
	at    time.Time
}

const (
	openBurst = 4
	openEvery = 10 * time.Second
)

func newOpenPace(now func() time.Time, hurry int) *openPace {
	return &openPace{now: now, burst: openBurst, every: openEvery / time.Duration(hurry), level: openBurst, at: now()}
}

// wait returns when one more call is allowed, or with ctx's error.
func (p *openPace) wait(ctx context.Context) error {
	if d := p.take(); d > 0 {
		return sleep(ctx, d)
	}
	return ctx.Err()
}

// take takes the next turn and says how far off it is.
func (p *openPace) take() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	p.level = min(p.burst, p.level+float64(now.Sub(p.at))/float64(p.every))
	p.at = now
	p.level--
	if p.level >= 0 {
		return 0
	}
	return time.Duration(-p.level * float64(p.every))
}
