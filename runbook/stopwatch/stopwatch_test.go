package stopwatch

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestCallsThatOverlapCountOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w Watch
		ctx := With(t.Context(), &w)
		first := Outside(ctx)
		time.Sleep(2 * time.Second)
		second := Outside(ctx)
		time.Sleep(time.Second)
		first()
		time.Sleep(time.Second)
		second()
		time.Sleep(time.Hour) // work
		if got := w.Total(); got != 4*time.Second {
			t.Errorf("waited %s, want 4s", got)
		}
	})
}

func TestWithoutAWatchNothingHappens(t *testing.T) {
	Outside(context.Background())()
}
