package bot

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"reconcilebot/state"
)

// storeWithin is how long an act may take to reach the disk: Slack tells the
// person after three seconds that nobody answered.
const storeWithin = 2 * time.Second

// stored is what came of writing an act to disk.
type stored struct {
	d     state.Delivery
	fresh bool
	err   error
}

// store writes an act to disk, or gives up in time to say so. A fresh one is
// held for whoever queues it.
func (in *intake) store(a act, at time.Time) (state.Delivery, bool, error) {
	switch {
	case in.stopping.Load():
		return state.Delivery{}, false, errors.New("the bot is stopping")
	case in.pool.full():
		return state.Delivery{}, false, errors.New("too much is waiting to be handled")
	}
	payload, err := json.Marshal(a)
	if err != nil {
		return state.Delivery{}, false, fmt.Errorf("encode act: %w", err)
	}
	d := state.Delivery{ID: a.id(), Mint: in.mint(), Kind: string(a.Kind), Payload: payload}
	// What waited to be stored is older than that: a form has to open in time.
	d.Received = in.now().Add(-time.Since(at))
	done := make(chan stored, 1)
	var gaveUp atomic.Bool
	in.bg.Go(func() { done <- in.write(d, &gaveUp) })
	timer := time.NewTimer(time.Until(at.Add(in.within)))
	defer timer.Stop()
	select {
	case s := <-done:
		return s.d, s.fresh, s.err
	case <-timer.C:
	}
	if gaveUp.Swap(true) { // it was stored in this very moment
		s := <-done
		return s.d, s.fresh, s.err
	}
	return state.Delivery{}, false, fmt.Errorf("the disk took longer than %s", in.within)
}

// write writes an act to disk. When it was given up on by then it is marked
// as handled: the person was told to try again.
func (in *intake) write(d state.Delivery, gaveUp *atomic.Bool) stored {
	held := in.pool.hold(d.ID)
	got, fresh, err := in.db.Receive(d)
	late := gaveUp.Swap(true)
	if late && err == nil && fresh {
		if err := in.db.Handled(d.ID); err != nil {
			in.log.Error("an act that was stored too late could not be marked", "delivery", d.ID, "err", err)
		}
	}
	if held && (late || err != nil || !fresh) {
		in.pool.release(d.ID)
	}
	return stored{got, fresh, err}
}
