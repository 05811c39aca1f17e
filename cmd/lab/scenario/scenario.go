// Package scenario plays what happens in incidents, through the local Slack, as
// the people of the lab, against the real systems, and tells how it went.
//
// It must never look into the bot: what a person could not see in Slack, on the
// Git host or in the cluster proves nothing. And it must never sleep: it waits
// for what is to happen, and fails when that does not come.
//
// Why Go and not a script language: a scenario is a list of a dozen calls, and
// the compiler checks it.
package scenario

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"reconcilebot/cmd/lab/rig"
	"reconcilebot/cmd/lab/world"
)

// A Scenario is one story with an end that must be reached.
type Scenario struct {
	Name string
	Does string // in a sentence, for the list
	// Alone says that it kills or stops something, so that others may not run
	// at the same time.
	Alone bool
	// Chart says that it is about an Application that a Helm chart makes.
	Chart bool
	play  func(*story)
}

// A Result is how a scenario went.
type Result struct {
	Name   string  `json:"name"`
	Pass   bool    `json:"pass"`
	Error  string  `json:"error,omitempty"`
	Stages []Stage `json:"stages"`
	// Measures are times within the stages, by the bot's own clock.
	Measures []Stage `json:"measures,omitempty"`
}

// A Stage is a part of a scenario and the time it took.
type Stage struct {
	Name string `json:"name"`
	MS   int64  `json:"ms"`
}

// Choose returns the scenarios with a name, a pattern's, or all of them.
func Choose(pattern string) ([]Scenario, error) {
	if pattern == "all" {
		pattern = "*"
	}
	var chosen []Scenario
	for _, s := range all() {
		fits, err := path.Match(pattern, s.Name)
		if err != nil {
			return nil, fmt.Errorf("-scenario %s: %w; write a name, a pattern like killed-*, or all", pattern, err)
		}
		if fits {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		var list strings.Builder
		for _, s := range all() {
			fmt.Fprintf(&list, "\n  %-38s %s", s.Name, s.Does)
		}
		return nil, fmt.Errorf("-scenario %s: there is none of that name; there are%s", pattern, list.String())
	}
	return chosen, nil
}

// Worlds are what the scenarios need seeded, in their order.
func Worlds(chosen []Scenario) []world.World {
	var worlds []world.World
	for i, s := range chosen {
		w := world.New(i+1, s.Name)
		w.Chart = s.Chart
		worlds = append(worlds, w)
	}
	return worlds
}

// sideBySide is how many scenarios run at the same time. More would measure
// each other on a small machine.
const sideBySide = 4

// limit is how long one scenario may take; what is stuck must not hold up the rest.
const limit = 2 * time.Minute

// Play plays the scenarios on a rig whose worlds are theirs, in the same order.
// Those that can share the lab run first, side by side, then the others. Each
// result is told as it comes; all are returned in the scenarios' order.
func Play(ctx context.Context, r *rig.Rig, chosen []Scenario, tell func(Result)) []Result {
	results := make([]Result, len(chosen))
	var screen sync.Mutex
	one := func(i int) {
		results[i] = play(ctx, &story{rig: r, world: r.Worlds[i], screen: &screen}, chosen[i])
		tell(results[i])
	}
	var together errgroup.Group
	together.SetLimit(sideBySide)
	for i, s := range chosen {
		if !s.Alone {
			together.Go(func() error { one(i); return nil })
		}
	}
	_ = together.Wait() // failures are in the results
	for i, s := range chosen {
		if s.Alone {
			one(i)
		}
	}
	return results
}

func play(ctx context.Context, t *story, s Scenario) Result {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not reached within %s", limit))
	defer cancel()
	t.ctx = ctx
	s.play(t)
	t.do("end", t.clean)
	result := Result{Name: s.Name, Pass: t.err == nil, Stages: t.stages, Measures: t.measures}
	if t.err != nil {
		// A process that died is the reason for all that comes after.
		if why := t.rig.Why(); why != nil && !errors.Is(why, context.Canceled) {
			t.err = why
		}
		result.Error = t.err.Error()
	}
	return result
}
