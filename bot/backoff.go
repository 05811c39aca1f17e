package bot

import (
	"context"
	"math/rand/v2"
	"time"
)

// setupPause is how long to leave Slack alone while only the operator can
// mend things.
const setupPause = 30 * time.Second

// backoff is a pause that doubles from Least to Most, less up to a third at
// random, so that many who failed together do not come back together.
type backoff struct {
	Least, Most time.Duration
	tries       int
}

func (b *backoff) next() time.Duration {
	d := b.Least << min(b.tries, 20)
	if d <= 0 || d > b.Most {
		d = b.Most
	}
	b.tries++
	return d - time.Duration(rand.Int64N(int64(d)/3+1))
}

func (b *backoff) reset() { b.tries = 0 }

// sleep waits, or returns the context's error when it ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
