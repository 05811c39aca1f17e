package slacksim

import (
	"sync"
	"testing"
	"time"
)

func TestAClockThatRunsFaster(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	c := NewScaledClock(start, 3600) // an hour per second
	rang := make(chan time.Time, 1)
	c.AfterFunc(30*time.Minute, func() { rang <- c.Now() })
	if at := <-rang; at.Sub(start) < 30*time.Minute {
		t.Errorf("rang after %s", at.Sub(start))
	}
	stop := c.AfterFunc(time.Hour, func() { t.Error("a stopped alarm rang") })
	if !stop() || stop() {
		t.Error("an alarm can be stopped once")
	}
	c.Advance(2 * time.Hour)
	if since := c.Now().Sub(start); since < 2*time.Hour {
		t.Errorf("it is %s later", since)
	}
}

func TestAClockThatIsMovedAhead(t *testing.T) {
	c := NewScaledClock(time.Unix(1_800_000_000, 0), 0) // stands still by itself
	var mu sync.Mutex
	var order []string
	for _, a := range []struct {
		name string
		in   time.Duration
	}{{"second", 2 * time.Minute}, {"first", time.Minute}, {"never", time.Hour}} {
		c.AfterFunc(a.in, func() { mu.Lock(); order = append(order, a.name); mu.Unlock() })
	}
	c.Advance(2 * time.Minute)
	if len(order) != 2 || order[0] != "first" || order[1] != "second" {
		t.Errorf("rang %v", order)
	}
	c.SetSpeed(1_000_000)
	deadline := time.Now().Add(10 * time.Second)
	for {
		mu.Lock()
		n := len(order)
		mu.Unlock()
		if n == 3 || time.Now().After(deadline) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if c.Speed() != 1_000_000 || len(order) != 3 {
		t.Errorf("at speed %v rang %v", c.Speed(), order)
	}
}

func TestTheControlAPIMovesTheClock(t *testing.T) {
	c := NewScaledClock(time.Unix(1_800_000_000, 0), 1)
	w := start(t, Options{Clock: c})
	before := c.Now()
	if o := w.order(t, "clock/advance", obj{"seconds": 1800}); o["ok"] != true || c.Now().Sub(before) < 30*time.Minute {
		t.Errorf("answered %v; %s passed", o, c.Now().Sub(before))
	}
	if o := w.order(t, "clock/speed", obj{"speed": 60}); o["ok"] != true || c.Speed() != 60 {
		t.Errorf("answered %v; the speed is %v", o, c.Speed())
	}
	for name, speed := range map[string]float64{"backwards": -1, "too fast": 1e9} {
		if o := w.order(t, "clock/speed", obj{"speed": speed}); o["ok"] != false {
			t.Errorf("%s was taken", name)
		}
	}
	machine := start(t, Options{})
	if o := machine.order(t, "clock/speed", obj{"speed": 2}); o["ok"] != false {
		t.Error("the machine's clock was made faster")
	}
}
